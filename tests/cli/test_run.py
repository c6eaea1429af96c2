"""`omo run`: what it refuses, what it finds missing, how it counts. Rounds of a real client: tests/e2e/test_run.py."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from omo import hosts
from omo.hosts.claude_headless import Headless as ClaudeHeadless
from omo.hosts.codex_headless import Headless as CodexHeadless
from omo.hosts.copilot_headless import Headless as CopilotHeadless
from tests import texts
from tests.project import Project, Ran

EDIT = "--permission-mode acceptEdits"
OMO, MAKE = ["omo"], ["make", "test"]


def run(project: Project, *argv: str, **options: Any) -> Ran:
    return project.omo("run", *argv, by="user", is_under_agent=False, **options)


def test_it_is_no_agents(project: Project) -> None:
    for ran in (project.agent("run", "x", is_under_agent=False), project.user("run", "x")):
        assert (ran.code, ran.says("headless-omo-run-is-not-agent")) == (3, True)


@pytest.mark.parametrize(
    ("argv", "named"),
    [
        (["  "], "TASK is empty"),
        (["x", "--budget", "some money"], "--budget some money"),
        (["x", "--out", "reports"], "--out reports is in the project"),
        (["x", "--rounds", "0"], "--rounds"),
        (["x", "--minutes", "nan"], "--minutes"),
        (["x", "--host", "other"], "--host"),
        (["x", "--accept", "anything"], "--accept"),
        ([], "TASK"),
    ],
)
def test_bad_input_is_named(project: Project, monkeypatch: pytest.MonkeyPatch, argv: list[str], named: str) -> None:
    monkeypatch.chdir(project.root)
    ran = run(project, *argv)
    assert (ran.code, named in ran.err) == (2, True), ran.err
    assert not Path(project.state).exists()


def test_what_is_missing_is_told_in_the_order_in_which_it_is_mended(project: Project, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    environ = {"OMO_PROJECT_DIR": str(bare), "PATH": "/usr/bin:/bin"}
    assert run(project, "x", cwd=bare, env=environ).code == 77
    assert run(project, "x", cwd=bare, env=environ).says("headless-omo-run-begins-on-commit")
    programs = tmp_path / "programs"
    programs.mkdir()
    project.write("value")
    project.commit()
    ran = run(project, "x", env={"PATH": str(programs)})
    assert (ran.code, ran.says("headless-is-not-on-path", program="claude")) == (77, True), ran.err
    (programs / "claude").write_text("#!/bin/sh\n", "utf-8")
    (programs / "claude").chmod(0o755)
    ran = run(project, "x", env={"PATH": f"{programs}:/usr/bin:/bin"})
    assert (ran.code, ran.says("headless-nothing-here-could-prove-work-no")) == (77, True), ran.err


def claude(tmp_path: Path, *arguments: str, **settings: Any) -> ClaudeHeadless:
    (tmp_path / ".claude").mkdir(exist_ok=True)
    (tmp_path / ".claude" / "settings.json").write_text(json.dumps({"permissions": settings}), "utf-8")
    environ = {"HOME": str(tmp_path / "home")}
    return ClaudeHeadless(hosts.named("claude"), str(tmp_path), environ, arguments, lambda *asked: "")


@pytest.mark.parametrize(
    ("arguments", "lacks"),
    [
        ([], f"{EDIT} --allowedTools 'Bash(omo *)' 'Bash(make *)'"),
        (["--permission-mode", "acceptEdits"], "-- --allowedTools 'Bash(omo *)' 'Bash(make *)'"),
        (["--permission-mode=acceptEdits", "--allowedTools", "Bash(omo *)", "Bash(make *)"], ""),
        (["--allowedTools", "Edit,Bash"], ""),
        (["--allowed-tools", "Edit Bash(omo:*) Bash(make test)"], ""),
        (["--allowedTools", "Edit", "Bash(omo *)", "Bash(make lint)"], "-- --allowedTools 'Bash(make *)'"),
        (["--allowedTools", "Edit", "Bash(omo *)", "Bash(makepkg *)"], "-- --allowedTools 'Bash(make *)'"),
        (["--dangerously-skip-permissions"], ""),
        (["--permission-mode", "auto"], ""),
        (["--permission-mode", "plan"], EDIT),
    ],
)
def test_what_the_agent_needs_is_allowed_by_the_arguments(tmp_path: Path, arguments: list[str], lacks: str) -> None:
    told = claude(tmp_path, *arguments).lacks_permission([OMO, MAKE])
    assert told.endswith(lacks) if lacks.startswith("--") and lacks != EDIT else lacks in told
    assert bool(told) is bool(lacks)


def test_or_by_the_settings_of_the_project(tmp_path: Path) -> None:
    allowed = claude(tmp_path, allow=["Bash(omo *)", "Bash(make *)"], defaultMode="acceptEdits")
    assert allowed.lacks_permission([OMO, MAKE]) == ""
    assert claude(tmp_path, allow=[3, "Edit"]).lacks_permission([OMO]) != ""


def test_a_hook_that_a_busy_machine_gave_up_on_is_asked_once_more(tmp_path: Path) -> None:
    answered = '{"result": "UserPromptSubmit operation blocked by hook: omo status"}'
    refused = '{"result": "API Error: Connection refused"}'
    for printed, lacks in [([refused, answered], False), ([refused, refused], True)]:
        said = iter(printed)
        asked = ClaudeHeadless(hosts.named("claude"), str(tmp_path), {}, [], lambda *_, said=said: next(said))
        assert bool(asked.lacks_hooks()) is lacks


CLIENT = """#!/bin/sh
case "$*" in
*"auth status"*) echo '{"loggedIn": true}' ;;
*--no-session-persistence*) echo '{"result": "UserPromptSubmit operation blocked by hook: omo status"}' ;;
*) if mkdir "$HOME/limited" 2>/dev/null
   then echo '{"is_error": true, "api_error_status": 429, "result": "Request rejected (429)"}'
   else echo '{"result": "done"}'
   fi ;;
esac
"""


def played(project: Project, tmp_path: Path) -> Ran:
    """One round of a client without hooks, which meets a limit first."""
    project.write("Makefile", "test:\n\tgrep -q new value\n")
    project.commit()
    client = tmp_path / "programs" / "claude"
    client.parent.mkdir()
    client.write_text(CLIENT, "utf-8")
    client.chmod(0o755)
    environ = {"PATH": f"{client.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    argv = ("--rounds", "1", "--wait", "0.001", "fix it", "--", "--dangerously-skip-permissions")
    before = signal.getsignal(signal.SIGTERM)
    ended = run(project, *argv, env=environ)
    signal.signal(signal.SIGTERM, before)
    return ended


def test_a_round_that_met_a_limit_and_was_played_again_is_one(project: Project, tmp_path: Path) -> None:
    ended = played(project, tmp_path)
    assert (ended.code, ended.says("report-not-proven-no-such-run-is-known", number=1)) == (3, True), (
        ended.out + ended.err
    )
    assert ended.err.count("omo: round 1: ") == 2


def test_what_an_earlier_run_left_is_not_taken_for_the_report_of_one_that_has_none(
    project: Project, tmp_path: Path
) -> None:
    project.make_state()
    left = Path(project.state, "runs")
    left.mkdir()
    for name in ("report.html", "report.md", "receipt.json"):
        (left / name).write_text("done, proven", "utf-8")
    assert played(project, tmp_path).says("headless-no-report-could-be-left-session")
    assert list(left.iterdir()) == []


@pytest.mark.parametrize(
    ("printed", "limit", "error"),
    [
        ('{"is_error": false, "result": "done"}', False, False),
        ('{"is_error": true, "api_error_status": 429, "result": "API Error: Request rejected (429)"}', True, True),
        ('{"is_error": true, "api_error_status": 529, "result": "Overloaded"}', True, True),
        ('{"is_error": true, "api_error_status": 401, "result": "Invalid API key"}', False, True),
        ("""{"is_error": true, "result": "You've hit your limit · resets 11pm"}""", True, True),
        ('{"is_error": false, "result": 3, "modelUsage": {"m": {"inputTokens": "many"}, "n": 7}}', False, False),
        ('{"result": "done", "modelUsage": []}', False, False),
        ("warning\n[1, 2]\n", False, False),
        ("", False, False),
    ],
)
def test_what_is_read_at_the_end_of_a_round(tmp_path: Path, printed: str, limit: bool, error: bool) -> None:
    end = claude(tmp_path).round_end(printed, "s1")
    assert (end.session, bool(end.limit), bool(end.error)) == ("s1", limit, error)


@pytest.mark.parametrize(
    ("arguments", "lacks"),
    [
        ([], "-- --allow-tool write --allow-tool 'shell(omo:*)' --allow-tool 'shell(make:*)'"),
        (["--allow-tool", "write", "shell(omo:*)", "--allow-tool=shell(make:*)"], ""),
        (["--allow-tool", "write", "--allow-tool", "shell"], ""),
        (["--allow-tool=write, shell(omo:*)"], "-- --allow-tool 'shell(make:*)'"),
        (["--allow-tool", "shell", "--deny-tool", "write"], "-- --allow-tool write"),
        (["--allow-tool", "shell", "--allow-all-paths"], "-- --allow-tool write"),
        (["--allow-all-tools"], ""),
    ],
)
def test_what_the_agent_needs_is_allowed_in_copilot(tmp_path: Path, arguments: list[str], lacks: str) -> None:
    copilot = CopilotHeadless(hosts.named("copilot"), str(tmp_path), {}, arguments, lambda *_: "")
    told = copilot.lacks_permission([OMO, MAKE])
    assert (told.endswith(lacks), bool(told)) == (True, bool(lacks))


def test_codex_writes_only_where_it_is_let(tmp_path: Path) -> None:
    def codex(*arguments: str) -> CodexHeadless:
        environ = {"CODEX_HOME": str(tmp_path)}
        return CodexHeadless(hosts.named("codex"), str(tmp_path), environ, arguments, lambda *asked: "")

    assert codex().lacks_permission([MAKE]).endswith("-- --sandbox workspace-write")
    assert codex("--sandbox", "workspace-write").lacks_permission([MAKE]) == ""
    assert texts.says(codex().lacks_login(), "host-log-in-codex-login")
    assert codex().lacks_hooks().startswith("omo is not in Codex: ")
    (tmp_path / "auth.json").write_text("{}", "utf-8")
    (tmp_path / "config.toml").write_text('sandbox_mode = "workspace-write"\n[plugins."omo@omo"]\n', "utf-8")
    assert (codex().lacks_permission([MAKE]), codex().lacks_login()) == ("", "")
    assert texts.says(codex().lacks_hooks(), "host-codex-does-not-trust-hooks")
    lines = [
        {"type": "thread.started", "thread_id": "t1"},
        {"type": "turn.failed", "error": {"message": "You've hit your usage limit. Try again later."}},
    ]
    end = codex().round_end("\n".join(json.dumps(line) for line in lines), "given")
    assert (end.session, bool(end.limit)) == ("t1", True)
