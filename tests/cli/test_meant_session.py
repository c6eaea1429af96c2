"""Every command that only looks says in one way which session is meant, and none that changes something guesses."""

from __future__ import annotations

import pytest

from omo.context import OF_AN_AGENT
from tests.project import SESSION, Project

pytestmark = pytest.mark.usefixtures("laps")

LOOKS = {
    "status": ["status"],
    "ledger verify": ["ledger", "verify"],
    "explain stop": ["explain", "stop"],
    "report": ["report", "--md"],
    "next": ["next"],
    "gate list": ["gate", "list"],
    "goal get": ["goal", "get"],
    "ulw status": ["ulw", "status"],
    "ultragoal status": ["ultragoal", "status"],
    "plan status": ["plan", "status"],
    "laps status": ["laps", "status"],
}
CHANGES = {
    "ulw start": ["ulw", "start"],
    "gate add": ["gate", "add", "lint", "--cwd", "."],
    "stop-continuation": ["stop-continuation"],
}
OF_ANOTHER = {"CLAUDE_CODE_SESSION_ID": "other"}
each_look = pytest.mark.parametrize("argv", LOOKS.values(), ids=LOOKS)


@pytest.fixture
def begun(project: Project) -> Project:
    project.agent("ulw", "start")
    project.agent("gate", "add", "tests", "--", "true")
    return project


def with_session(argv: list[str], name: str) -> list[str]:
    return [*argv, "--session", name]


@each_look
def test_a_unique_beginning_of_an_id_is_enough_to_look(begun: Project, argv: list[str]) -> None:
    whole = begun.user(*with_session(argv, SESSION))
    begun.now -= 1
    cut = begun.user(*with_session(argv, SESSION[:4]))
    assert (cut.code, cut.out) == (whole.code, whole.out)
    assert whole.code == 0
    assert SESSION in cut.out + cut.err
    assert begun.omo(*with_session(argv, SESSION), by="user", env=OF_ANOTHER).code == 0, "an agent looks at any"


@each_look
def test_nonsense_is_refused_with_the_sessions_there_are(begun: Project, argv: list[str]) -> None:
    ran = begun.user(*with_session(argv, "nonsense"))
    assert (ran.code, ran.out) == (2, "")
    assert ran.says("command-session-is-no-session-of-this", named="nonsense")
    assert SESSION in ran.err


@pytest.mark.parametrize("argv", [argv for argv in LOOKS.values() if argv[0] != "ledger"])  # which looks at all
def test_in_the_users_own_terminal_the_newest_is_shown_and_named(begun: Project, argv: list[str]) -> None:
    begun.user("stop-continuation", "--session", SESSION)
    ran = begun.user(*argv)
    assert ran.code == 0
    assert SESSION in ran.out + ran.err


@pytest.mark.parametrize("argv", CHANGES.values(), ids=CHANGES)
def test_what_changes_something_takes_no_beginning_for_an_id(begun: Project, argv: list[str]) -> None:
    tail = ["--", "true"] if argv[0] == "gate" else []
    ran = begun.user(*with_session(argv, SESSION[:4]), *tail)
    assert (ran.code, ran.says("command-did-you-mean-whole-id-please", matches=SESSION)) == (2, True)
    assert begun.user("ulw", "start", "--session", "a-new-one").code == 0


@pytest.mark.parametrize(
    "argv",
    [
        ["ulw", "done", "--skip-verification", "nothing to verify"],
        ["ulw", "blocked", "--evidence", "the registry answers 403"],
        ["ulw", "start"],
        ["gate", "add", "lint"],
        ["goal", "create", "--objective", "another"],
        ["ultragoal", "create-goals", "--brief", "@goal: another"],
        ["plan", "finish", "--abandon", "it is in my way"],
        ["verify", "begin", "G1"],
        ["state", "clear", "--mode", "ultragoal", "--force"],
    ],
)
def test_an_agent_changes_no_session_but_its_own(begun: Project, argv: list[str]) -> None:
    before = begun.row()
    tail = ["--", "true"] if argv[0] == "gate" else []
    for environ, named in ((OF_ANOTHER, ["--session", SESSION]), ({**OF_ANOTHER, "OMO_SESSION_ID": SESSION}, [])):
        ran = begun.omo(*argv, *named, *tail, by="user", env=environ)
        assert (ran.code, SESSION in ran.err and ran.says("session-is-another-agents", own="other")) == (3, True)
        assert f"--session {SESSION}" in ran.err
    assert begun.row() == before


def test_of_several_the_user_may_let_all_go(begun: Project) -> None:
    begun.user("ulw", "start", "--session", "a-new-one")
    ran = begun.user("stop-continuation")
    fix = f"  fix: all of them: omo stop-continuation --all; one of them: --session ID ({SESSION}, a-new-one)\n"
    assert (ran.code, ran.says("session-which-is-meant"), ran.err.endswith(fix)) == (2, True, True)
    assert begun.user("stop-continuation", "--all").code == 0


@pytest.mark.parametrize("variable", OF_AN_AGENT)
def test_whichever_variable_an_agent_forgot_it_is_no_user(begun: Project, variable: str) -> None:
    for argv in (["stop-continuation", "--all"], ["stop-continuation", "--session", SESSION]):
        assert begun.omo(*argv, by="user", env={"CLAUDECODE": "", variable: ""}).code == 3
    assert begun.row()["ulw"]["enabled"] is True
