"""A session with the to-do list of tests/engine/workflows, in a whole process, so that every table has its row."""

from __future__ import annotations

import sys
from pathlib import Path

import omo.workflows
from omo import table

HERE = Path(__file__).resolve().parent
TASKS = '{"tasks": {"T1": "notes.txt", "T2": "more.txt"}}'


def put_in() -> None:
    """Before anything else is loaded."""
    omo.workflows.__path__.append(str(HERE / "workflows"))
    from omo.workflows.todo.row import TodoWorkflow  # type: ignore[import-not-found]

    table.ROWS = (*table.ROWS, TodoWorkflow())  # type: ignore[assignment]
    table.BY_KIND = {row.kind: row for row in table.ROWS}
    table.BY_TYPED = {name: row for row in table.ROWS for name in row.typed}


def play(root: Path) -> None:
    from tests.project import NOW, Project

    project = Project(root, now=NOW + 60)
    assert "\n  todo " in project.check("--help").out
    project.write("tasks.json", TASKS)
    started = project.check("todo", "start", "--tasks", "tasks.json").out
    assert "2 tasks, at most 5 iterations" in started
    assert "T1 write notes.txt (now: fail)" in started
    assert project.stop(last_assistant_message="All done.").blocks
    assert "omo todo judge" in project.check("next").out
    project.write("notes.txt")
    judged = project.check("todo", "judge", code=3).out
    assert "To do (1)\n  T2 OPEN: write more.txt" in judged
    assert "Done: no work on it" in judged
    assert "T2 open, iteration 2 of 5" in project.check("todo", "status").out
    assert project.stop(last_assistant_message="Now it is.").blocks
    project.write("more.txt")
    assert project.check("todo", "judge", "--json").json["receipt"]["tasks"] == ["T1", "T2"]
    assert "todo" in project.check("status").out
    report = project.check("report", "--md").out
    assert "2 of 2 tasks pass" in report
    page = Path(project.check("report").out.splitlines()[-1]).read_text(encoding="utf-8")
    assert "Tasks, round by round" in page
    told = project.stop(last_assistant_message="Both are there.")
    assert not told.blocks
    assert "todo run" in told.message
    assert "2 of 2 tasks pass, iteration 2" in told.message


if __name__ == "__main__":
    put_in()
    play(Path(sys.argv[1]))
