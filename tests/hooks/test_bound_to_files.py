"""An end is bound to the files: the Stop that would tell it looks at them again.

Every workflow is played in tests/stories/bound.py; here is what the rule itself promises.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from omo.state import paths, runtime
from omo.work import outcome, session
from tests import texts
from tests.hooks.conftest import Host

IN_PROCESS = True
BROKEN, MENDED = "VALUE = 1\n", "VALUE = 2\n"
WHY = "the value is what was asked for"


@pytest.fixture
def ended(host: Host) -> Host:
    """Work that was called done and not told yet, in a repository with one commit."""
    host.write("calc.py", BROKEN)
    host.write("README.md", "A calculator.\n")
    host.commit("base")
    host.prompt("ulw mend the value")
    host.write("calc.py", MENDED)
    call_done(host)
    return host


def call_done(host: Host) -> None:
    host.check("ulw", "done", "--because", WHY)


def is_told(host: Host) -> bool:
    return host.stop().says_to_user("end-on-agents-word")


@pytest.mark.usefixtures("through_the_shell")
def test_work_thrown_away_after_done_is_sent_back_with_the_files_names(ended: Host) -> None:
    ended.git("checkout", "-q", "calc.py")
    answer = ended.stop()
    assert answer.blocks
    assert answer.says_to_agent("stop-files-changed", files="calc.py")
    assert "omo ulw done" in answer.json["reason"]
    assert answer.says_to_agent("stop-block-of", given=1, most=8)
    assert ended.kinds()[-2:] == ["reopened", "blocked:block"]
    assert ended.summary("ulw")["state"] == "active"


@pytest.mark.usefixtures("through_the_shell")
def test_an_unchanged_end_is_told_by_a_real_hook(ended: Host) -> None:
    assert is_told(ended)
    assert "files" not in ended.summary("ulw")
    assert ended.row()["ulw"]["enabled"] is False


def test_done_again_is_told_and_stays_so(ended: Host) -> None:
    ended.write("README.md", "A better calculator.\n")
    assert ended.stop().blocks
    call_done(ended)
    assert is_told(ended)
    ended.write("calc.py", BROKEN)
    ended.stop().assert_silent()


@pytest.mark.parametrize(
    "then",
    [
        lambda host: host.commit("the work"),
        lambda host: host.write("server.log", "started\n"),
        lambda host: host.write("__pycache__/calc.pyc", "x"),
        lambda host: (host.write("calc.py", BROKEN), host.write("calc.py", MENDED)),
        lambda host: host.check("status"),
        lambda host: host.write(".sisyphus/evidence/run.txt", "seen\n"),
    ],
    ids=["a commit", "a log", "bytecode", "there and back", "a look", "evidence"],
)
def test_what_changes_no_file_of_the_work_holds_nobody(ended: Host, then: object) -> None:
    assert callable(then)
    then(ended)
    assert is_told(ended)


@pytest.mark.parametrize(
    "then",
    [
        lambda host: host.write("new.py", "x = 1\n"),
        lambda host: (host.root / "README.md").unlink(),
        lambda host: (host.root / "calc.py").chmod(0o755),
        lambda host: (host.write("calc.py", BROKEN), host.commit("worse")),
        lambda host: (host.write("calc.py", BROKEN), host.git("update-index", "--assume-unchanged", "calc.py")),
    ],
    ids=["added", "removed", "mode", "committed", "hidden from git"],
)
def test_every_change_of_a_file_is_seen(ended: Host, then: object) -> None:
    assert callable(then)
    then(ended)
    assert ended.stop().blocks


def test_once_gates_ran_again_a_block_says_what_they_say(ended: Host) -> None:
    ended.write("calc.py", BROKEN)
    assert ended.stop().blocks
    ended.check("gate", "add", "t", "--", "grep", "-q", "2", "calc.py")
    ended.omo("gate", "run")
    assert ended.stop(stop_hook_active=True).says_to_agent("stop-gates-open", left=1, total=1, names="t")


def test_what_a_gates_run_has_left_does_not_count(host: Host) -> None:
    host.write("calc.py", BROKEN)
    host.commit("base")
    host.prompt("ulw mend the value")
    host.write("calc.py", MENDED)
    host.check("gate", "add", "t", "--", "sh", "-c", "date +%N >report.txt; grep -q 2 calc.py")
    host.check("gate", "run")
    assert host.events()[-1]["left_out"] == ["report.txt"]
    call_done(host)
    host.write("report.txt", "once more\n")
    assert is_told(host)


def test_files_of_a_project_without_git(host: Host) -> None:
    shutil.rmtree(host.root / ".git", ignore_errors=True)
    host.write("notes.txt", "one\n")
    host.prompt("ulw write it down")
    call_done(host)
    host.write("notes.txt", "two\n")
    assert "notes.txt" in host.stop().json["reason"]


def test_more_files_than_are_named_one_by_one(ended: Host) -> None:
    for number in range(600):
        ended.write(f"data/{number}.txt", f"{number}\n")
    assert ended.stop().blocks
    call_done(ended)
    assert "changed" not in ended.summary("ulw")["files"]
    ended.write("data/7.txt", "other\n")
    assert ended.stop().says_to_agent("stop-many-files-changed", count=601)


def test_files_that_nobody_can_look_at_are_told_and_prove_nothing(ended: Host) -> None:
    def proven(row: Any) -> Any:
        ended_as = outcome.outcome("proven", "gate t passes")
        return session.finish(row, ended_as, at="", files=ended.summary("ulw")["files"])

    ended.change_row(proven)
    shutil.rmtree(ended.root / ".git")
    answer = ended.stop()
    assert answer.says_to_user("end-on-agents-word")
    assert answer.says_to_user("end-files-not-looked-at")
    assert ended.summary("ulw")["outcome"]["verdict"] == "attested"


def test_the_breakers_hold(ended: Host) -> None:
    ended.change_row(lambda row: session.note(row, {"stopBlocks": 8}))
    ended.write("calc.py", BROKEN)
    assert ended.stop().says_to_user("end-no-progress", blocks=8)
    assert ended.summary("ulw")["state"] == "ended"


def test_a_cancel_lets_go_whatever_the_files_are(ended: Host) -> None:
    ended.write("calc.py", BROKEN)
    ended.prompt("/omo:stop-continuation")
    assert not ended.stop().blocks


def test_a_stop_that_was_typed_lets_go_and_the_files_are_named(ended: Host) -> None:
    ended.write("calc.py", BROKEN)
    ended.prompt("never mind, stop")
    answer = ended.stop()
    assert answer.says_to_user("end-on-agents-word")
    assert answer.says_to_user("end-files-changed", files="calc.py")


def test_a_mark_that_was_edited_is_not_believed(ended: Host) -> None:
    ended.write("calc.py", BROKEN)
    read = runtime.read(ended.state)
    read["sessions"][ended.session]["work"]["ulw"].pop("files")
    Path(paths.runtime_file(ended.state)).write_text(runtime.render(read), encoding="utf-8")
    assert ended.stop().says_to_user("end-ledger-says-otherwise")


def test_every_view_shows_that_the_end_does_not_stand(ended: Host) -> None:
    assert ended.check("status").says("status-let-go-on-agents-word")
    ended.write("calc.py", BROKEN)
    for command in (("status",), ("ulw", "status")):
        assert ended.check(*command).says("status-sent-back-files-changed", files="calc.py")
    assert "block" in ended.check("explain", "stop").out.splitlines()[0]
    report = json.loads(ended.check("report", "--json").out)
    assert report["verdict"]["level"] == "gone"
    assert texts.says(report["verdict"]["text"], "report-not-proven-files-changed", files="calc.py")
    assert ended.summary("ulw")["state"] == "ended"  # nobody but Stop opens it again
