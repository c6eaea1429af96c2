"""What is remembered of a heavy check: by content, for a while, and never for the verdict that ends a run."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omo.evidence.checks import Check, parse_checks
from omo.ralph import cache
from omo.ralph.judging import Judged
from tests.ralph.court import Court, court
from tests.ralph.desk import Desk, criterion, desk

PATHS = ("src/**",)
FACT = {"id": "tests", "digest": "d", "key": "k", "seconds": 31.0, "ran_at": 2, "evidence": "exit 0"}


def command(*argv: str, **more: Any) -> Check:
    (found,) = parse_checks([{"id": "tests", "type": "command", "argv": list(argv), **more}])
    assert not isinstance(found, str)
    return found


@pytest.fixture
def place(tmp_path: Path) -> Desk:
    made = desk(tmp_path)
    made.write("src/a.py", "a = 1\n")
    made.write("src/deep/b.py", "b = 1\n")
    made.write("docs/c.md", "c\n")
    made.commit("sources")
    return made


def link(place: Desk, path: str, target: str) -> None:
    (place.root / path).unlink(missing_ok=True)
    (place.root / path).symlink_to(target)


CHANGES: dict[str, Callable[[Desk], object]] = {
    "uncommitted edit": lambda place: place.write("src/a.py", "a = 2\n"),
    "committed edit": lambda place: (place.write("src/a.py", "a = 2\n"), place.commit()),
    "untracked file": lambda place: place.write("src/new.py"),
    "ignored file": lambda place: (place.write(".gitignore", "*.o\n"), place.write("src/a.o")),
    "deleted file": lambda place: (place.root / "src/deep/b.py").unlink(),
    "renamed file": lambda place: (place.root / "src/a.py").rename(place.root / "src/z.py"),
    "executable bit": lambda place: (place.root / "src/a.py").chmod(0o755),
    "content moved to the next file": lambda place: (
        place.write("src/a.py", ""),
        place.write("src/deep/b.py", "a = 1\nb = 1\n"),
    ),
    "link to a file": lambda place: link(place, "src/a.py", "../docs/c.md"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_the_key_changes_with_any_file_below_the_paths(place: Desk, change: Callable[[Desk], object]) -> None:
    before = cache.key(place.root, command("true"), PATHS)
    assert before
    change(place)
    after = cache.key(place.root, command("true"), PATHS)
    assert after
    assert after != before


@pytest.mark.parametrize("other", [command("false"), command("true", cwd="src"), command("true", timeout=5.0)])
def test_the_key_changes_with_the_check(place: Desk, other: Check) -> None:
    assert cache.key(place.root, other, PATHS) != cache.key(place.root, command("true"), PATHS)


def test_the_key_stays_with_time_other_files_and_commits(place: Desk) -> None:
    before = cache.key(place.root, command("true"), PATHS)
    os.utime(place.root / "src/a.py", (1, 1))
    place.write("docs/c.md", "another\n")
    place.commit()
    assert cache.key(place.root, command("true"), PATHS) == before
    assert cache.key(place.root, command("true"), ("src",)) == before


@pytest.mark.parametrize("paths", [(), ("lib/**",), ("docs/*.py",)])
def test_without_a_declared_file_nothing_is_remembered(place: Desk, paths: tuple[str, ...]) -> None:
    assert cache.key(place.root, command("true"), paths) == ""


@pytest.mark.parametrize(
    "change",
    [
        lambda place: link(place, "src/out", "/etc/hostname"),
        lambda place: link(place, "src/broken", "nowhere"),
        lambda place: link(place, "src/docs", "../docs"),
        lambda place: link(place, "src/up", "../../.."),
    ],
    ids=["out", "broken", "directory", "above"],
)
def test_what_cannot_be_seen_whole_is_not_remembered(place: Desk, change: Callable[[Desk], object]) -> None:
    change(place)
    assert cache.key(place.root, command("true"), PATHS) == ""


def test_only_commands_are_worth_remembering(place: Desk) -> None:
    for check in parse_checks([{"type": "path", "path": "src/a.py"}, {"type": "judge", "question": "Is it clear?"}]):
        assert not isinstance(check, str)
        assert cache.key(place.root, check, PATHS) == ""


@pytest.mark.parametrize(
    ("changes", "key", "iteration", "holds"),
    [
        ({}, "k", 3, True),
        ({}, "k", 5, True),
        ({}, "k", 6, False),
        ({}, "k", 2, False),
        ({}, "other", 3, False),
        ({}, "", 3, False),
        ({"key": ""}, "", 3, False),
        ({"seconds": 30.0}, "k", 3, False),
        ({"seconds": 30.1}, "k", 3, True),
    ],
)
def test_when_a_result_is_taken_over(changes: dict[str, Any], key: str, iteration: int, holds: bool) -> None:
    assert cache.holds({**FACT, **changes}, key, iteration=iteration) is holds


@pytest.mark.parametrize(
    ("result", "check", "digest", "found"),
    [
        ("pass", "tests", "d", True),
        ("fail", "tests", "d", False),
        ("unknown", "tests", "d", False),
        ("pass", "other", "d", False),
        ("pass", "tests", "e", False),
    ],
)
def test_only_what_passed_last_time_is_looked_at(result: str, check: str, digest: str, found: bool) -> None:
    judged = {"results": {"C1": {"result": result, "heavy": [FACT]}}}
    assert (cache.earlier(judged, "C1", check, digest) is not None) is found
    assert cache.earlier(judged, "C2", check, digest) is None
    assert cache.earlier(None, "C1", check, digest) is None


# In a run: `suite.sh` counts how often it really ran, beside the project.


class Suite:
    def __init__(self, tmp_path: Path, *others: Any, **more: Any) -> None:
        self.court: Court = court(tmp_path)
        self.count = tmp_path / "count"
        self.count.write_text("")
        self.breaks = tmp_path / "breaks"
        self.court.desk.write("src/a.py", "a = 1\n")
        self.court.desk.write("suite.sh", f"echo ran >> {self.count}\ntest -e ready -a ! -e {self.breaks}\n")
        self.court.desk.commit("suite")
        heavy = {"id": "suite", "type": "command", "argv": ["sh", "suite.sh"]}
        self.court.begin(
            criterion(1, heavy, **{"affected_paths": ["src/**"], **more}), criterion(2), *others, max_iterations=9
        )

    @property
    def runs(self) -> int:
        return self.count.read_text().count("ran")

    def iterate(self, *files: str, **how: Any) -> Judged:
        self.court.iterate("ready", f"work-{self.court.desk.now}.txt", *files)
        self.count.write_text("")
        return self.court.judge(**{"heavy": 0.0, **how})


def source(judged: Judged, name: str = "C1") -> str:
    return str(next(one["source"] for one in judged.criteria if one["id"] == name))


def test_a_heavy_check_is_taken_over_and_the_report_says_so(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    assert (source(suite.iterate()), suite.runs) == ("code", 1)
    again = suite.iterate()
    assert (source(again), suite.runs) == ("cached@1", 0)
    assert (again.verdict, again.decision) == ("fail", "replan")
    assert suite.court.rows("judged")[-1]["results"]["C1"]["source"] == "cached@1"


@pytest.mark.parametrize("seconds", [29.0, 30.0])
def test_what_is_fast_is_run_every_time(tmp_path: Path, seconds: float) -> None:
    suite = Suite(tmp_path)
    for _ in range(2):
        judged = suite.iterate(heavy=cache.HEAVY_SECONDS, clock=itertools.count(0.0, seconds).__next__)
        assert (source(judged), suite.runs) == ("code", 1)


def test_what_is_measured_as_heavy_is_taken_over(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    for expected in ("code", "cached@1"):
        judged = suite.iterate(heavy=cache.HEAVY_SECONDS, clock=itertools.count(0.0, 31.0).__next__)
        assert source(judged) == expected


def test_it_is_run_again_after_three_iterations(tmp_path: Path) -> None:
    suite = Suite(tmp_path, criterion(3))
    found = []
    for number in range(1, 6):  # something else fails each time, and nothing three times in a row
        if number == 3:
            (suite.court.desk.root / "done-3.txt").unlink()
        judged = suite.iterate("done-3.txt" if number < 3 else "done-2.txt")
        found.append((source(judged), suite.runs))
    assert found == [("code", 1), ("cached@1", 0), ("cached@1", 0), ("cached@1", 0), ("code", 1)]


def test_it_is_run_again_when_a_declared_file_changed(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.iterate()
    assert (source(suite.iterate("src/new.py")), suite.runs) == ("code", 1)
    (suite.court.desk.root / "src/new.py").unlink()
    assert (source(suite.iterate()), suite.runs) == ("code", 1)


@pytest.mark.parametrize("paths", [[], ["lib/**"]])
def test_without_declared_files_it_is_run_every_time(tmp_path: Path, paths: list[str]) -> None:
    suite = Suite(tmp_path, affected_paths=paths)
    assert [(source(suite.iterate()), suite.runs) for _ in range(2)] == [("code", 1)] * 2


def test_what_failed_is_run_every_time(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.breaks.write_text("")
    assert [(source(suite.iterate()), suite.runs) for _ in range(2)] == [("code", 1)] * 2


def test_before_a_pass_it_is_really_run(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.iterate()
    judged = suite.iterate("done-2.txt")
    assert (judged.verdict, source(judged), suite.runs) == ("pass", "code", 1)


def test_a_pass_that_was_only_remembered_does_not_end_the_run(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.iterate()
    suite.breaks.write_text("")  # outside the declared paths: the remembered result cannot know
    judged = suite.iterate("done-2.txt")
    assert (judged.verdict, judged.decision) == ("fail", "replan")
    assert {one["id"]: one["status"] for one in judged.criteria} == {"C1": "REGRESSED", "C2": "PASS"}


def test_before_a_partial_end_it_is_really_run_too(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    for _ in range(2):
        suite.iterate()
    judged = suite.iterate()
    assert (judged.verdict, source(judged), suite.runs) == ("partial", "code", 1)


def test_a_result_file_beside_the_ledger_is_not_read(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.breaks.write_text("")
    suite.iterate()
    directory = suite.court.desk.ledger().parent
    (directory / "cache.json").write_text('{"C1": {"result": "pass"}}')
    assert source(suite.iterate()) == "code"
    assert suite.runs == 1
