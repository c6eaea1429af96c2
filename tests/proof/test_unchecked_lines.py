"""Which lines no test checks: changes with known answers, the traps that such a look falls into, and a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.proof import CALC, CHANGES, FIX, PYTHON, Change, answers, calc, looked_at, made, missing
from omo.errors import NotEvaluable
from omo.proof import swap
from omo.proof.trials import Options
from omo.proof.unchecked_lines import NOT_HELD, NOT_LOOKED_AT
from tests import texts
from tests.written import ROOT

BOTH = calc(FIX, ("LIMIT = 10", "LIMIT = 110"))
OMO = [sys.executable, "-c", "from omo.cli import console; console()"]
ADDS = "import calc; assert calc.add(2, 3) == 5; print('1 passed')"


def contents(root: Path) -> dict[str, bytes]:
    files = [path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts]
    return {str(path.relative_to(root)): path.read_bytes() for path in files if ".sisyphus" not in path.parts}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """One line that the gate notices, and one that it does not."""
    return made(Change("", {}, {"calc.py": BOTH}, PYTHON), tmp_path)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_each_hunk_gets_the_answer_that_is_known(change: Change, tmp_path: Path) -> None:
    if lacking := missing(change):
        pytest.skip(f"{', '.join(lacking)} is not here")
    root = made(change, tmp_path)
    before = contents(root)
    found = looked_at(root, change.gate)
    assert answers(found) == dict(change.known), [answer.why for answer in found.answers]
    after = contents(root)
    assert {path: after[path] for path in before} == before


def test_thirty_changes_are_known() -> None:
    assert len(CHANGES) >= 30


def gate(code: str) -> tuple[str, ...]:
    return (sys.executable, "-B", "-c", code)


def test_a_gate_that_runs_another_copy_says_nothing_of_these_files(project: Path, tmp_path: Path) -> None:
    """An editable install of another checkout: whatever stands here, it passes."""
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "calc.py").write_text(BOTH, encoding="utf-8")
    with pytest.raises(NotEvaluable, match=r"passes whatever stands in calc.py: it runs another copy"):
        looked_at(project, gate(f"import sys; sys.path[:0] = [{str(copy)!r}]; {ADDS}"))


def test_a_file_that_nobody_misses_is_not_held(tmp_path: Path) -> None:
    change = Change("", {"old.py:1 (removed)": NOT_HELD}, {"old.py": None}, {**PYTHON, "old.py": "x = 1\n"})
    assert answers(looked_at(made(change, tmp_path), change.gate)) == change.known


def test_a_gate_that_does_not_pass_has_nothing_to_say(project: Path) -> None:
    with pytest.raises(NotEvaluable, match="it does not pass as it is"):
        looked_at(project, gate("raise SystemExit(1)"))
    with pytest.raises(NotEvaluable, match="program not found"):
        looked_at(project, ("no-such-program",))


def test_a_gate_that_passes_and_fails_on_the_same_files_has_nothing_to_say(project: Path, tmp_path: Path) -> None:
    count = tmp_path / "count"
    flaky = f"f = open({str(count)!r}, 'a+'); f.seek(0); n = len(f.read()); f.write('x'); f.close(); print('1 passed')"
    with pytest.raises(NotEvaluable, match="it passed first, and does not now, on the same files"):
        looked_at(project, gate(f"{flaky}; raise SystemExit(n > 0)"))
    assert (project / "calc.py").read_text(encoding="utf-8") == BOTH


def test_within_its_time_the_largest_come_first_and_the_rest_is_said(project: Path) -> None:
    found = looked_at(project, gate(ADDS), Options(seconds=0.0))
    assert {answer.word for answer in found.answers} == {NOT_LOOKED_AT}
    assert all(texts.says(answer.why, "trial-time-is-up") for answer in found.answers)
    assert found.runs == 3  # as it is, without the work, and as it is again


def test_who_writes_meanwhile_is_told_and_loses_nothing(project: Path) -> None:
    """The gate itself does, on swapped files only."""
    code = f"text = open('calc.py').read()\nif text != {BOTH!r}: open('calc.py', 'a').write('# mine\\n')\n{ADDS}"
    with pytest.raises(NotEvaluable, match=r"calc.py changed while files were swapped; calc.py is kept as"):
        looked_at(project, gate(code))
    assert (project / "calc.py").read_text(encoding="utf-8") == BOTH


@pytest.mark.parametrize("hunk", ["without the work", "a hunk"])
def test_after_a_kill_the_files_are_as_they_were(project: Path, tmp_path: Path, hunk: str) -> None:
    """The gate says that it runs on swapped files, and waits there to be killed."""
    before = contents(project)
    reached, swapped = tmp_path / "reached", CALC if hunk == "without the work" else calc(("LIMIT = 10", "LIMIT = 110"))
    os.mkfifo(tmp_path / "never")
    code = (
        f"text = open('calc.py').read()\nif text == {swapped!r}: open({str(reached)!r}, 'w'); open('../never')\n{ADDS}"
    )
    process = subprocess.Popen(
        [*OMO, "proof", "--", *gate(code)],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    end = time.monotonic() + 60
    while not reached.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    assert reached.exists()
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert (project / "calc.py").read_text(encoding="utf-8") == swapped
    state = str(project / ".sisyphus" / "cc-omo")
    assert swap.recover(state, str(project))
    assert contents(project) == before


def test_the_command_prints_a_table() -> None:
    command = [sys.executable, str(ROOT / "bench" / "proof.py"), "--only", "two lines for one test"]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, cwd="/")
    heading, row, end = ran.stdout.splitlines()
    assert (ran.returncode, heading.split()[:3]) == (0, ["change", "hunks", "runs"]), ran.stderr
    assert row.split()[5:7] == ["2", "5"]
    assert (end.split()[0], end.split()[2]) == ("1", "0")
