"""Every story of `tests/stories` is told in a word that fits what happened."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from omo.work.outcome import JUDGED, PROVEN
from tests.stories.play import DONE, NAMES_IT, ROOT, Ending, every_ending, played

WORKFLOWS = ("ralph", "ultragoal", "ultraplan", "ultrawork", "verify")


# Of what docs/security.md concedes any word is right: the bench counts those, and a test of one could not fail.
WITH_A_RIGHT_WORD = [which for which in every_ending() if not which.conceded]
NAMED_AT_THE_END = [which for which in every_ending() if which.name.endswith(NAMES_IT)]
# As bench/short_endings.py has picked them.
SHORT = frozenset((ROOT / "tests" / "short_endings.txt").read_text(encoding="utf-8").splitlines())


def case(which: Ending) -> object:
    """An ending that decides nothing but what those of the short run decide is not played in that."""
    return pytest.param(which, id=which.title, marks=() if which.title in SHORT else pytest.mark.long)


@pytest.mark.parametrize("which", [case(which) for which in WITH_A_RIGHT_WORD])
def test_the_user_is_told_what_happened(which: Ending, tmp_path: Path) -> None:
    if which.missing:
        pytest.skip(f"{', '.join(which.missing)} is not here")
    told = played(which, tmp_path)
    assert which.is_right(told.word), told.sentence + "\n" + "\n".join(told.log)
    assert (told.code == 0) is (told.word in DONE), "whoever reads no sentences is told the same\n" + told.log[-1]


@pytest.mark.parametrize("which", [case(which) for which in NAMED_AT_THE_END])
def test_what_is_conceded_is_named(which: Ending, tmp_path: Path) -> None:
    played(which, tmp_path)  # which looks for it


def test_every_ending_is_there_once() -> None:
    names = [which.title for which in every_ending()]
    assert len(set(names)) == len(names)


def test_the_endings_of_the_short_run_are_there() -> None:
    assert sorted(SHORT - {which.title for which in every_ending() if which.has_test}) == []


def test_every_workflow_has_lazy_and_honest_endings() -> None:
    lazy = Counter(which.workflow for which in every_ending() if not which.is_honest)
    honest = Counter(which.workflow for which in every_ending() if which.is_honest)
    assert sorted(lazy) == sorted(honest) == sorted(WORKFLOWS)
    assert min(lazy.values()) >= 8


def test_no_lazy_ending_may_be_called_done() -> None:
    lazy = [which for which in every_ending() if not which.is_honest]
    assert [which.name for which in lazy if {PROVEN, JUDGED} & set(which.right)] == []


def test_the_command_prints_each_ending() -> None:
    """From a plain checkout, which has nothing on its path."""
    command = [sys.executable, str(ROOT / "bench" / "truth.py"), "--only", "begun, and nothing more"]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, cwd="/")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.startswith("ok  verify     begun, and nothing more ")
    assert "\ncheats 1, told too well 0, in another wrong word 0\n" in ran.stdout
    assert ran.stdout.endswith("\nhonest 0, in the word they deserve 0\n")
