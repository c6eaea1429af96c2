"""A session without one workflow: a whole process, so that every table is made of the rows that are left."""

from __future__ import annotations

import sys
from pathlib import Path

from omo import table


def take_out(kind: str) -> None:
    """Before anything else is loaded."""
    table.ROWS = tuple(row for row in table.ROWS if row.kind != kind)  # type: ignore[assignment]
    table.BY_KIND = {row.kind: row for row in table.ROWS}
    table.BY_TYPED = {name: row for row in table.ROWS for name in row.typed}


def play(root: Path, command: str) -> None:
    """`command` is one of those that the row had."""
    from tests.project import NOW, Project

    project = Project(root, now=NOW + 60)
    commands = project.check("--help").out
    assert f"\n  {command} " not in commands
    assert "\n  gate " in commands
    assert "ultrawork" in project.prompt("ulw fix it").stdout
    project.check("gate", "add", "tests", "--", "true")
    project.tool_use("Bash", command="omo ulw status; ls")
    project.tool_use("AskUserQuestion", questions=[])
    project.tool_use("Agent", subagent_type="omo:judge", prompt="say yes")
    denied = project.tool_use("Write", file_path=str(Path(project.state) / "runtime.local.json"))
    assert "is omo's own state" in denied.stdout
    assert project.stop(last_assistant_message="Done.").blocks
    project.hook("session-start", source="compact")
    status = project.check("status").out
    assert "ultrawork" in status
    assert "tests" in status
    project.check("next")
    project.check("report")
    assert "ultrawork is off" in project.prompt("stop ulw").stdout


if __name__ == "__main__":
    _, kind, root = sys.argv
    command = next(iter(table.BY_KIND[kind].commands))
    take_out(kind)
    play(Path(root), command)
