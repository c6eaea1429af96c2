"""What is remembered of a heavy check: by content, for a while, and never for the verdict that ends a run."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omo.engine import checking
from omo.engine.case import Case
from tests.engine.laps import FLOW
from tests.engine.project import Judged, Project, criterion, make_project

PATHS = ("src/**",)


def command(*argv: str, **more: Any) -> Any:
    return {"id": "tests", "type": "command", "argv": list(argv), **more}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = make_project(tmp_path)
    made.write("src/a.py", "a = 1\n")
    made.write("src/deep/b.py", "b = 1\n")
    made.write("docs/c.md", "c\n")
    made.commit("sources")
    return made


def link(project: Project, path: str, target: str) -> None:
    (project.root / path).unlink(missing_ok=True)
    (project.root / path).symlink_to(target)


CHANGES: dict[str, Callable[[Project], object]] = {
    "uncommitted edit": lambda project: project.write("src/a.py", "a = 2\n"),
    "committed edit": lambda project: (project.write("src/a.py", "a = 2\n"), project.commit()),
    "untracked file": lambda project: project.write("src/new.py"),
    "ignored file": lambda project: (project.write(".gitignore", "*.o\n"), project.write("src/a.o")),
    "deleted file": lambda project: (project.root / "src/deep/b.py").unlink(),
    "renamed file": lambda project: (project.root / "src/a.py").rename(project.root / "src/z.py"),
    "executable bit": lambda project: (project.root / "src/a.py").chmod(0o755),
    "content moved to the next file": lambda project: (
        project.write("src/a.py", ""),
        project.write("src/deep/b.py", "a = 1\nb = 1\n"),
    ),
    "link to a file": lambda project: link(project, "src/a.py", "../docs/c.md"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_the_key_changes_with_any_file_below_the_paths(project: Project, change: Callable[[Project], object]) -> None:
    before = checking.cache_key(project.root, command("true"), PATHS)
    assert before
    change(project)
    after = checking.cache_key(project.root, command("true"), PATHS)
    assert after
    assert after != before


@pytest.mark.parametrize("other", [command("false"), command("true", cwd="src"), command("true", timeout=5.0)])
def test_the_key_changes_with_the_check(project: Project, other: Any) -> None:
    assert checking.cache_key(project.root, other, PATHS) != checking.cache_key(project.root, command("true"), PATHS)


def test_the_key_stays_with_time_other_files_and_commits(project: Project) -> None:
    before = checking.cache_key(project.root, command("true"), PATHS)
    os.utime(project.root / "src/a.py", (1, 1))
    project.write("docs/c.md", "another\n")
    project.commit()
    assert checking.cache_key(project.root, command("true"), PATHS) == before
    assert checking.cache_key(project.root, command("true"), ("src",)) == before


@pytest.mark.parametrize("paths", [(), ("lib/**",), ("docs/*.py",)])
def test_without_a_declared_file_nothing_is_remembered(project: Project, paths: tuple[str, ...]) -> None:
    assert checking.cache_key(project.root, command("true"), paths) == ""


@pytest.mark.parametrize(
    "change",
    [
        lambda project: link(project, "src/out", "/etc/hostname"),
        lambda project: link(project, "src/broken", "nowhere"),
        lambda project: link(project, "src/docs", "../docs"),
        lambda project: link(project, "src/up", "../../.."),
    ],
    ids=["out", "broken", "directory", "above"],
)
def test_what_cannot_be_seen_whole_is_not_remembered(project: Project, change: Callable[[Project], object]) -> None:
    change(project)
    assert checking.cache_key(project.root, command("true"), PATHS) == ""


def test_only_commands_are_worth_remembering(project: Project) -> None:
    checks: Any = ({"type": "path", "path": "src/a.py"}, {"type": "judge", "question": "Is it clear?"})
    for check in checks:
        assert checking.cache_key(project.root, check, PATHS) == ""


@pytest.mark.parametrize(
    ("key", "iteration", "is_remembered"),
    [("k", 3, True), ("k", 5, True), ("k", 6, False), ("k", 2, False), ("other", 3, False), ("", 3, False)],
)
def test_when_a_result_is_taken_over(key: str, iteration: int, is_remembered: bool) -> None:
    state = Case(
        FLOW, opened={"iteration": iteration}, judged=[{"results": {"C1": {"result": "pass", "kept": {"k": 2}}}}]
    )
    assert checking.remembered(state, "C1", key) == (2 if is_remembered else 0)
    assert checking.remembered(state, "C2", key) == 0


# In a run: `suite.sh` counts how often it really ran, beside the project.


class Suite:
    def __init__(self, tmp_path: Path, *others: Any, **more: Any) -> None:
        self.project: Project = make_project(tmp_path)
        self.count = tmp_path / "count"
        self.count.write_text("")
        self.breaks = tmp_path / "breaks"
        self.project.write("src/a.py", "a = 1\n")
        self.project.write("suite.sh", f"echo ran >> {self.count}\ntest -e ready -a ! -e {self.breaks}\n")
        self.project.commit("suite")
        heavy = {"id": "suite", "type": "command", "argv": ["sh", "suite.sh"]}
        self.project.start(
            criterion(1, heavy, **{"affected_paths": ["src/**"], **more}), criterion(2), *others, max_iterations=9
        )

    @property
    def runs(self) -> int:
        return self.count.read_text().count("ran")

    def iterate(self, *files: str, **how: Any) -> Judged:
        self.project.work("ready", f"work-{self.project.now}.txt", *files)
        self.count.write_text("")
        return self.project.judge(**{"heavy": 0.0, **how})


def source(judged: Judged, name: str = "C1") -> str:
    return str(next(one["source"] for one in judged.criteria if one["id"] == name))


def test_a_heavy_check_is_taken_over_and_the_report_says_so(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    assert (source(suite.iterate()), suite.runs) == ("code", 1)
    again = suite.iterate()
    assert (source(again), suite.runs) == ("cached@1", 0)
    assert (again.verdict, again.decision) == ("fail", "replan")
    assert suite.project.rows("judged")[-1]["results"]["C1"]["source"] == "cached@1"


@pytest.mark.parametrize("seconds", [29.0, 30.0])
def test_what_is_fast_is_run_every_time(tmp_path: Path, seconds: float) -> None:
    suite = Suite(tmp_path)
    for _ in range(2):
        judged = suite.iterate(heavy=checking.HEAVY_SECONDS, clock=itertools.count(0.0, seconds).__next__)
        assert (source(judged), suite.runs) == ("code", 1)


def test_it_is_run_again_after_three_iterations(tmp_path: Path) -> None:
    suite = Suite(tmp_path, criterion(3))
    found = []
    for number in range(1, 6):  # something else fails each time, and nothing three times in a row
        if number == 3:
            (suite.project.root / "done-3.txt").unlink()
        judged = suite.iterate("done-3.txt" if number < 3 else "done-2.txt")
        found.append((source(judged), suite.runs))
    assert found == [("code", 1), ("cached@1", 0), ("cached@1", 0), ("cached@1", 0), ("code", 1)]


def test_what_failed_is_run_every_time(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.breaks.write_text("")
    assert [(source(suite.iterate()), suite.runs) for _ in range(2)] == [("code", 1)] * 2


def test_a_pass_that_was_only_remembered_does_not_end_the_run(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.iterate()
    suite.breaks.write_text("")  # outside the declared paths: the remembered result cannot know
    judged = suite.iterate("done-2.txt")
    assert (judged.verdict, judged.decision) == ("fail", "replan")
    assert {one["id"]: one["status"] for one in judged.criteria} == {"C1": "REGRESSED", "C2": "PASS"}
