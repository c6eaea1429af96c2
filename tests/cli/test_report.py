"""`omo report`: what it prints and writes, and where it does not write whatever is asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from omo.state import paths
from omo.work import outcome
from tests import texts
from tests.project import SESSION, Project
from tests.report import sample

PASSING = ("gate", "add", "tests", "--", "git", "--version")
HELD = "end-on-agents-word"


@pytest.fixture
def done(project: Project) -> Project:
    """A run that ended: a gate that passed on files that were changed after it was pinned."""
    project.write(".git/info/exclude", "*-report.html\n")
    project.user("ulw", "start", "--session", SESSION)
    project.user(*PASSING[:2], "--session", SESSION, *PASSING[2:])
    project.write("value", "new\n")
    assert project.agent("gate", "run").code == 0
    assert project.agent("ulw", "done", "--because", "the value is the new one").code == 0
    return project


def test_a_page_is_written_below_the_state_directory_and_named(done: Project) -> None:
    ran = done.agent("report")
    path = Path(ran.out.splitlines()[-1])
    assert ran.code == 0, ran.err
    assert texts.says(ran.out.splitlines()[0], HELD)
    assert path == Path(done.state, "reports", f"{SESSION}.html")
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert done.agent("report").code == 0  # over the one that is there
    assert sorted(os.listdir(path.parent)) == [f"{SESSION}.html", "lock"]


def test_a_change_after_the_proof_takes_it_back(done: Project) -> None:
    done.write("value", "newer\n")
    said = done.user("report", "--session", SESSION).out
    assert texts.says(said, "report-not-proven-any-more", number=0, number2=1, gate="tests", files="value")


def test_a_skipped_verification_is_no_proof(project: Project) -> None:
    project.user("ulw", "start", "--session", SESSION)
    project.agent("gate", "add", "tests", "--", "pytest")
    project.agent("ulw", "done", "--skip-verification", "there is nothing to test here")
    ran = project.agent("report", "--json").json
    assert ran["verdict"]["proven"] is False
    assert ran["verdict"]["level"] == "waived"
    skipped, pinned = ran["notices"]
    assert "there is nothing to test here" in skipped["text"]
    assert texts.says(pinned["what"], "work-pinned-by-agent")


def test_a_recorded_failure_is_an_exception(project: Project) -> None:
    project.user("ulw", "start", "--session", SESSION)
    project.agent("gate", "add", "tests", "--", "git", "no-such-command")
    project.agent("gate", "run")
    project.agent("gate", "record", "tests", "--pre-existing", "--evidence", "it failed before the work as well")
    assert "a failure recorded as pre-existing: it failed before" in project.agent("status").out
    project.agent("ulw", "done", "--because", "nothing else was asked for")
    ran = project.agent("report", "--json").json
    assert ran["verdict"]["level"] == "waived"
    assert ran["outcome"]["exceptions"]
    assert "passing on the files" not in ran["verdict"]["text"]
    assert any(texts.says(one["text"], "report-by-the-agent-failed-before") for one in ran["notices"])
    assert '"status": "recorded"' in project.agent("status", "--json").out


def test_markdown_is_printed_and_data_too(done: Project) -> None:
    shown = done.agent("report", "--md").out
    assert shown.startswith("<!-- made")
    assert texts.says(shown, "end-on-agents-word")
    data = done.agent("report", "--json").json
    assert (data["ok"], data["session"]) == (True, SESSION)
    assert data["works"][0]["items"][0]["receipt"] == "fresh"
    assert not Path(done.state, "reports").exists()


@pytest.mark.parametrize(("name", "option"), [("report.html", ()), ("report.md", ("--md",))])
def test_out_writes_exactly_there_and_again_over_a_report(done: Project, name: str, option: tuple[str, ...]) -> None:
    for _ in range(2):
        ran = done.user("report", "--session", SESSION, *option, "--out", f"../{name}")
        assert ran.code == 0, ran.err
        assert ran.out.splitlines()[-1] == str(done.root.parent / name)
    assert [path for path in os.listdir(done.root.parent) if path.endswith(".tmp")] == []
    ran = done.user("report", "--session", SESSION, *option, "--json", "--out", f"../{name}")
    assert ran.json["path"] == str(done.root.parent / name), "and not only printed"


@pytest.mark.parametrize(
    ("out", "option", "said"),
    [
        ("report.md", (), "does not end in .html"),
        ("report.html", ("--md",), "does not end in .md"),
        ("", (), "does not end in .html"),
        ("../there.html", (), "is there already, and is no report of omo"),
        ("../link.html", (), "is there already, and is no report of omo"),
        ("../directory.html", (), "is there already, and is no report of omo"),
        ("../no/such/report.html", (), "cannot be written"),
        ("report.html", (), "takes back what was proven"),
        (".sisyphus/report.html", (), "is in the project"),
        ("../way-to-git/report.html", (), "is in the project"),
    ],
)
def test_what_is_no_report_is_neither_planted_nor_overwritten(
    done: Project, out: str, option: tuple[str, ...], said: str
) -> None:
    beside = done.root.parent
    (beside / "there.html").write_text("<p>mine</p>")
    (beside / "link.html").symlink_to(done.root / "value")
    (beside / "directory.html").mkdir()
    (beside / "way-to-git").symlink_to(done.root / ".git")
    before = sorted(str(path) for path in beside.rglob("*"))
    ran = done.user("report", *option, "--session", SESSION, "--out", out)
    assert ran.code in (2, 3, 4)
    assert said in ran.err
    assert "fix:" in ran.err
    assert sorted(str(path) for path in beside.rglob("*")) == before
    assert (beside / "there.html").read_text() == "<p>mine</p>"
    assert (done.root / "value").read_text() == "new\n"


def test_an_agent_does_not_say_where_it_is_written(done: Project) -> None:
    refused = done.agent("report", "--out=../report.html")
    assert (refused.code, "--out is the user's" in refused.err) == (3, True)
    one_variable_left = {"CLAUDE_CODE_SESSION_ID": SESSION}
    assert done.omo("report", "--out=../report.html", by="user", env=one_variable_left).code == 3
    assert not (done.root.parent / "report.html").exists()
    assert not Path(done.state, "reports").exists()


def printed_into(done: Project, name: str, mode: str) -> str:
    """What is said to a report that a shell prints there."""
    start = "import sys; from omo.cli import console; sys.exit(console())"
    command = [sys.executable, "-c", start, "report", "--md", "--session", SESSION]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with open(done.root / name, mode) as file:
        printed = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, cwd=done.root, env=environ, check=False)
    assert printed.returncode == 3
    return printed.stderr.decode()


def test_a_report_in_the_project_is_refused_because_it_would_take_back_what_it_says(done: Project) -> None:
    told = printed_into(done, "report.md", "wb")
    assert "rm report.md;" in told
    assert texts.says(told, "report-print-it-elsewhere")
    (done.root / "report.md").unlink()
    assert done.user("report", "--session", SESSION).says(HELD)


def test_nobody_is_told_to_remove_a_file_of_theirs_that_a_report_was_to_go_into(done: Project) -> None:
    done.write("notes", "mine\n")
    assert texts.says(printed_into(done, "notes", "ab"), "report-print-it-elsewhere-omo-report")
    done.commit()
    assert texts.says(printed_into(done, "notes", "ab"), "report-print-it-elsewhere-omo-report")
    assert (done.root / "notes").read_text() == "mine\n"
    told = printed_into(done, "notes", "wb")
    assert "git restore notes;" in told
    assert texts.says(told, "report-print-it-elsewhere")


def test_it_begins_with_what_stop_says_the_task_as_typed_and_the_files_changed(project: Project) -> None:
    project.write("gone", "")
    project.commit("all of it")
    typed = "ulw set <value> to new\nand say so"
    project.prompt(typed)
    project.prompt("/omo:pin tests -- grep -q new value")
    assert project.agent("gate", "run").code == 3
    project.write("value", "new\n")
    project.write("src/<b>.py", "")
    (project.root / "gone").unlink()
    assert project.agent("gate", "run").code == 0
    assert project.agent("ulw", "done").code == 0
    told = project.stop(last_assistant_message="done").message
    data = project.agent("report", "--json").json
    assert f"omo: {data['verdict']['text']} " in told
    assert data["task"] == typed
    assert data["changed"] == ["gone", "src/<b>.py", "value"]
    shown = project.agent("report", "--md").out
    assert "> ulw set &lt;value&gt; to new and say so\n" in shown
    assert "Files changed, 3: gone (gone), src/&lt;b&gt;.py (new), value\n" in shown
    page_text = Path(project.agent("report").out.splitlines()[-1]).read_text(encoding="utf-8")
    assert "<title>done, proven: ulw set &lt;value&gt; to new</title>" in page_text
    assert "tree1:" not in page_text
    assert "diff1:" not in page_text


def test_a_gate_of_the_agents_own_is_an_exception_in_plain_sight(project: Project) -> None:
    project.user("ulw", "start", "--session", SESSION)
    assert project.agent("gate", "add", "tests", "--", "test", "a b", "=", "a b").code == 0
    project.write("value", "new\n")
    assert project.agent("gate", "run").code == 0
    project.check("ulw", "done", "--because", "the value is the new one")
    told = project.agent("report", "--json").json
    command = "test 'a b' = 'a b'"
    assert texts.says(told["verdict"]["text"], HELD)
    assert [one["text"] for one in told["notices"]] == [f"every gate was pinned by the agent (tests: {command})"]
    assert project.agent("report", "--md").says(
        "report-gate-row-in-markdown", gate="tests", command=command, by="agent"
    )
    page_text = Path(project.agent("report").out.splitlines()[-1]).read_text(encoding="utf-8")
    assert "<li>test &#39;a b&#39; = &#39;a b&#39;</li>" in page_text
    project.user("gate", "add", "theirs", "--session", SESSION, "--", "git", "--version")
    assert "every gate was" not in project.agent("report", "--md").out


def test_of_a_run_that_was_called_off_the_task_and_the_files_are_told(project: Project) -> None:
    project.commit("base")
    project.prompt("ulw make it new")
    project.write("value", "new\n")
    project.prompt("/omo:stop-continuation")
    told = project.check("report", "--md", by="user").out
    assert "> ulw make it new" in told
    assert texts.says(told, "report-files-changed", number=1, files="value")
    assert texts.says(told, "report-user-called-it-off")
    assert "has not ended" not in told


def test_nobody_is_told_that_an_agents_word_was_judged(project: Project) -> None:
    project.commit("base")
    project.prompt("ulw make it new")
    project.write("value", "new\n")
    project.check("ulw", "done", "--because", "the value is the new one")
    told = project.check("report", "--md", by="user").out
    assert texts.says(told, "end-on-agents-word")
    assert "nobody judged their own work" not in told


def test_a_gate_that_fails_beside_the_work_is_named(project: Project) -> None:
    goal = {"id": "G1", "title": "New", "verification": {"checks": [{"id": "new", "type": "path", "path": "made"}]}}
    project.write("goal.json", json.dumps(goal))
    project.user("verify", "add", "--file", "goal.json")
    project.agent("gate", "add", "tests", "--", "git", "no-such-command")
    project.agent("verify", "begin", "G1")
    project.write("made", "new\n")
    project.check("verify", "finish", "G1", "--summary", "the file is there, as the goal asks")
    assert project.agent("gate", "run").code == 3
    told = project.agent("report", "--json").json
    assert told["verdict"]["text"] == (
        "ended with exceptions: not passing beside it: gate tests "
        "(let through by the agent: the work was ended without it); "
        "verify: goal G1: 1 of 1 check passes; nothing that runs showed it: its checks look at the form of files."
    )
    assert [(one["what"], one["where"]) for one in told["notices"]] == [("gate not passing", "tests")]
    project.agent("gate", "add", "never", "--", "git", "--version")
    assert "**gate not run**" in project.agent("report", "--md").out


def test_state_that_cannot_be_read_is_said(project: Project) -> None:
    project.user("ulw", "start", "--session", SESSION)
    Path(paths.runtime_file(project.state)).write_text("{", encoding="utf-8")
    told = project.agent("report", "--json").json
    assert texts.says(told["verdict"]["text"], "report-not-proven-its-state-cannot-be")
    assert [(one["what"], one["where"]) for one in told["notices"]] == [("unreadable", "state")]


def test_what_a_ledger_proved_that_is_gone_is_not_proven(project: Project) -> None:
    proven = outcome.outcome(outcome.PROVEN, "it passes")
    ended: Any = {"run": "r1", "state": "ended", "outcome": proven}
    project.change_row(lambda row: {**row, "work": {"ultraplan": ended}})
    assert project.agent("report").says("report-not-proven-there-is-nothing-that")


def test_a_session_with_nothing_and_a_run_nobody_knows(done: Project) -> None:
    ran = done.user("report", "--session", "nobody")
    assert (ran.code, ran.says("command-session-is-no-session-of-this"), SESSION in ran.err) == (2, True, True)
    ran = done.omo("report", by="user", env={"OMO_SESSION_ID": "nobody"})
    assert (
        ran.code,
        ran.says("report-nothing", session="nobody"),
        "omo status --all" in ran.err,
    ) == (
        3,
        True,
        True,
    )
    ran = done.user("report", "--run", "r0")
    assert (ran.code, ran.says("report-run-there-is-no-such-run")) == (2, True)


def test_a_run_of_plain_ultrawork_by_its_name(done: Project) -> None:
    run = done.row()["work"]["ulw"]["run"]
    ran = done.agent("report", "--run", run)
    assert ran.says(HELD)
    assert Path(ran.out.splitlines()[-1]).name == f"{run}.html"
    assert done.user("report", "--run", run).says(HELD), "no session is live"
    for session in ("another", "a third"):
        done.prompt("ulw something else", session=session)
    shown = done.user("report", "--run", run, "--json")
    assert (shown.json["session"], shown.err) == (SESSION, "")
    done.prompt("/omo:verify that it is newer")
    assert done.user("report", "--run", run).says(HELD)
    assert done.user("report", "--session", SESSION).out.startswith("NOT proven: ")


@pytest.mark.usefixtures("laps")
def test_every_workflow_is_on_the_page_with_its_evidence(tmp_path: Path) -> None:
    worked = sample.everything(tmp_path)
    ran = worked.check("report", by="user", session=worked.session)
    assert ran.out.startswith("NOT proven: ")
    shown = Path(ran.out.splitlines()[-1]).read_text(encoding="utf-8")
    for said in (
        "Show the import page",
        "the export loses the last row",
        "The upload talks to the customer",
        "the critic was not asked in this sample",
        "the importer refuses a malformed row",
        "Parser handles quotes",
        "src/app.py contains",
        "12 passed in 0.41s",
        "data:image/",
    ):
        assert said in shown, said
    told = worked.check("report", "--md", by="user", session=worked.session).out
    assert "## " in told
    assert "Refuse malformed rows" in told
