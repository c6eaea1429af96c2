"""omo in the real Copilot CLI, headless and in its terminal interface."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.client import POLL_SECONDS, Terminal, put_back
from tests.e2e.codex_client import copy_plugin
from tests.e2e.conftest import EIGHT_BLOCKS, begin, commit_all
from tests.e2e.copilot_client import Copilot, CopilotModel, find_binary, submit
from tests.e2e.scripted_model import Matcher, Request, Turn, call, say, texts_of
from tests.e2e.test_budget import tokens
from tests.e2e.test_codex import BRIEF, CRITERIA, NONCE, TASK
from tests.e2e.test_heartbeat import DID_NOT_RUN, move_an_hour_back
from tests.kept import copied
from tests.ultragoal.gates import valid_gate
from tests.ultragoal.project import CLEAN

pytestmark = pytest.mark.client


@pytest.fixture(scope="session")
def copilot_binary() -> Path:
    binary = find_binary()
    if binary is None:
        pytest.skip("Copilot CLI is not installed: ./tests/run --clients fetches it")
    return binary


@pytest.fixture(scope="session")
def rooms(copilot_binary: Path, plugin_root: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A project, a plugin and a home in which it is installed, and a copy of them: it knows its place."""
    directory = tmp_path_factory.mktemp("copilot")
    room, aside = directory / "room", directory / "aside"
    (room / "home").mkdir(parents=True)
    copied(room / "mein Projékt", begin)
    copy_plugin(plugin_root, room / "of omo's")
    with CopilotModel() as model:
        Copilot(copilot_binary, model, room / "mein Projékt", room / "home", room / "of omo's").install()
    shutil.copytree(room, aside, symlinks=True)
    return room, aside


@pytest.fixture
def copilot(copilot_binary: Path, rooms: tuple[Path, Path]) -> Iterator[Copilot]:
    room, aside = rooms
    put_back(room, aside, room / "home")
    with CopilotModel() as model:
        copilot = Copilot(copilot_binary, model, room / "mein Projékt", room / "home", room / "of omo's")
        yield copilot
        copilot.close_terminals()
    assert not model.errors, model.errors[0]


def sh(command: str, **more: object) -> Turn:
    return call("bash", command=command, description="a command", **more)


PIN = "/omo:pin readme -- grep -q works main.sh"
WORK = "printf 'echo it works\\n' >> main.sh"


def test_a_premature_stop_is_sent_back_until_the_users_gate_passes(copilot: Copilot) -> None:
    session = copilot.prompt(PIN, ends=1).session
    assert copilot.model.turns == []  # the hook answers it
    copilot.model.script(
        say("It is done."), sh("omo gate run"), sh(WORK), sh("omo gate run && omo ulw done"), say("Yes.")
    )
    run = copilot.prompt("ulw make main.sh say that it works", resume=session)
    assert copilot.model.overruns == 0
    assert "omo: ultrawork is on" in run.stdout
    assert copilot.was_told("The user turned ultrawork on for this session")
    assert copilot.was_told("Ultrawork active: ")
    assert "fail    readme" in copilot.results()[0]
    assert "pass    readme" in copilot.results()[-1]
    assert copilot.kinds(session)[-1] == "allowed:done"
    assert copilot.row(session)["work"]["ulw"]["outcome"]["verdict"] == "proven"
    assert "done, proven" in run.stdout


def test_the_cap_lets_go_and_stop_words_end_it_without_the_model(copilot: Copilot) -> None:
    copilot.model.script(say("Done."), say("Really."))
    run = copilot.prompt("ulw fix it")
    assert copilot.kinds(run.session) == ["activated:leading", "blocked:block", "allowed:cap"]
    assert "omo: ended, not proven: 1 block without verified progress" in run.stdout
    for typed in ("stop ulw", "/omo:stop-continuation"):
        copilot.model.script(say("My plan is this."))
        session = copilot.prompt("ulw fix it", "--plan", "--allow-all-tools").session  # which leaves it on
        asked = len(copilot.model.turns)
        assert "omo: ultrawork is off." in copilot.prompt(typed, resume=session, ends=1).stderr
        assert len(copilot.model.turns) == asked
        assert copilot.kinds(session)[-1].startswith("cancelled:cancel")


FORGERIES = (
    sh("env -u COPILOT_AGENT_SESSION_ID -u COPILOT_CLI omo gate add a -- true"),
    sh("unset $(env | grep -o '^COPILOT[^=]*'); omo gate add b -- true"),
    sh("omo gate add c -- true; CLAUDE_CODE_SESSION_ID=x omo gate add d -- true"),
    sh("env -u COPILOT_AGENT_SESSION_ID -u COPILOT_CLI omo gate add e -- true", mode="async", shellId="own"),
)


def test_no_agent_passes_for_the_user(copilot: Copilot) -> None:
    session = copilot.prompt(PIN, ends=1).session
    copilot.model.script(
        sh("omo stop-continuation"),
        sh("omo gate add readme -- true"),
        sh("omo gate remove readme"),
        sh("omo ulw allow readme"),
        *FORGERIES,
        call("read_bash", shellId="own", delay=10),
        sh("omo gate list"),
        say("Done."),
        say("Done."),
    )
    copilot.prompt("ulw fix it", resume=session)
    assert "escape hatch belongs to the user" in copilot.results()[0]
    assert "was pinned by the user as: grep -q works main.sh" in copilot.results()[1]
    assert "was pinned by the user" in copilot.results()[2]
    pinned = copilot.results()[-1]
    assert re.findall(r"(\w+)  \[(\w+)\]", pinned) == [("readme", "user"), *((name, "agent") for name in "abcde")]


def test_state_is_guarded_whichever_tool_is_used(copilot: Copilot) -> None:
    evil = str(copilot.state / "evil")
    copilot.model.agent(lambda request: True, sh(f"echo evil > '{evil}'"), say("I did."))
    copilot.model.script(
        sh("echo evil > .sisyphus/cc-omo/evil"),
        sh(f"cd /tmp && echo evil > '{evil}'"),
        call("create", path=evil, file_text="evil"),
        call("edit", path=str(copilot.state / "runtime.local.json"), old_str="1", new_str="2"),
        agent("explorer", "write it"),
        say("Done."),
        say("Done."),
    )
    session = copilot.prompt("ulw fix it", "--allow-all").session
    assert copilot.kinds(session).count("denied") == 5
    assert not (copilot.state / "evil").exists()


def test_a_session_that_is_not_on_writes_into_nobodys_run(copilot: Copilot) -> None:
    copilot.model.script(say("Done."), say("Done."))
    on = copilot.prompt("ulw fix it").session
    before = copilot.kinds(on)
    copilot.model.script(sh("omo ulw blocked --evidence 'there is no key for the service'"), say("Done."))
    copilot.prompt("hello")
    assert "nothing is active in session" in copilot.results()[0]
    assert copilot.kinds(on) == before


def test_a_resumed_session_keeps_its_run(copilot: Copilot) -> None:
    copilot.model.script(sh("omo ulw blocked --evidence 'there is no key for the service'"), say("I wait."))
    session = copilot.prompt("ulw fix it").session
    copilot.model.script(sh("omo next"), say("Done."), say("Done."))
    copilot.prompt("here is the key: 7", resume=session)
    assert "ultrawork active" in copilot.results()[-1]
    kinds = copilot.kinds(session)
    assert kinds[2:4] == ["allowed:waiting", "resumed"]
    assert kinds[4].startswith("blocked:")


def test_a_refused_tool_is_told_once_and_then_waits_for_the_user(copilot: Copilot) -> None:
    write = sh("touch new.txt")
    copilot.model.script(write, say("I may not."), write, say("Still not."))
    session = copilot.prompt("ulw add new.txt", "--allow-tool", "shell(omo:*)", env=EIGHT_BLOCKS).session
    assert copilot.kinds(session)[1:] == ["blocked:block", "allowed:refused"]
    assert copilot.was_told("But the host refused shell touch new.txt")
    assert "--allow-tool 'shell(touch:*)'" in copilot.row(session)["work"]["ulw"]["question"]


def test_a_call_that_only_looks_needs_no_permission_and_the_users_rule_holds_for_others(copilot: Copilot) -> None:
    copilot.model.script(sh("omo next"), sh("omo gate add tests -- true"), say("Done."), say("Done."))
    copilot.prompt("ulw fix it", "--allow-tool", "write")
    assert "ultrawork active" in copilot.results()[0]
    assert "Permission denied" in copilot.results()[1]
    copilot.model.script(sh("omo gate add tests -- true"), say("Done."), say("Done."))
    copilot.prompt("ulw fix it", "--allow-tool", "shell(omo:*)")
    assert copilot.results()[-1].startswith("Gate tests pinned by the agent")


def agent(name: str, message: str) -> Turn:
    return call("task", agent_type=f"omo:{name}", prompt=message, description="an agent", name="a1", mode="sync")


def test_a_budget_counts_its_agents_refuses_them_lets_go_and_goes_on_when_it_is_raised(copilot: Copilot) -> None:
    """As in Claude Code: see test_budget."""
    copilot.model.usage = {"input_tokens": 20, "output_tokens": 5}
    copilot.model.agent(lambda request: True, say("I looked."))
    work = [sh(f"echo {number}") for number in range(7)]  # on a busy machine the record has them a moment later
    look = agent("planner", "look around")
    copilot.model.script(look, say("Done."), *work, look, say("I stop."))
    env = {**EIGHT_BLOCKS, "OMO_BUDGET_TOKENS": "200"}
    run = copilot.prompt("ulw look at it", env=env)
    assert (tokens(copilot, run.session), copilot.row(run.session)["spent"]["agents"]) == (copilot.model.sent, 1)
    decided = [kind for kind in copilot.kinds(run.session) if kind != "agent-finished"]  # told late on a busy machine
    assert decided == ["activated:leading", "blocked:block", "denied", "allowed:budget"]
    assert "no more agents are started" in copilot.results()[-1]
    asked = len(copilot.model.turns)
    copilot.model.script(say("I go on."), say("Still."))
    copilot.prompt("/omo:budget 340 tokens", resume=run.session, env=env)
    assert len(copilot.model.turns) > asked
    assert copilot.was_told("goes on where it was")
    assert copilot.row(run.session)["work"]["ulw"]["endedBy"] == "budget"
    assert tokens(copilot, run.session) == copilot.model.sent


def test_an_agent_in_the_background_is_waited_for(copilot: Copilot) -> None:
    turn_ended = threading.Event()
    copilot.model.agent(lambda request: True, say("I looked.").held_by(turn_ended))
    look = call("task", agent_type="omo:explorer", prompt="look", description="d", name="a1", mode="background")

    def wait(request: Request) -> Turn:
        threading.Timer(1, turn_ended.set).start()  # while the Stop of this turn is decided, or after it
        return say("I wait for it.")

    copilot.model.script(look, wait, say("Done."), say("Done."))
    session = copilot.prompt("ulw look at it").session
    kinds = [kind for kind in copilot.kinds(session) if kind != "agent-finished"]
    assert kinds == ["activated:leading", "allowed:background-agent", "blocked:block", "allowed:cap"]


def test_ralph_runs_to_its_end_with_the_agents_of_the_plugin(copilot: Copilot) -> None:
    """In one iteration; of those that a judge sends back, see test_ralph."""
    (copilot.project / "criteria.yaml").write_text(CRITERIA, "utf-8")
    for name in ("plan the work", "omo ralph brief qa"):
        copilot.model.agent(is_told(name), say("I did."))
    copilot.model.agent(is_told("You judge whether criteria hold"), sh("omo ralph brief"), judged)
    copilot.model.script(
        sh("omo ralph start --criteria criteria.yaml"),
        sh("omo gate add readme -- test -s README.md"),
        agent("planner", "plan the work"),
        sh("printf '\\n## Use\\n\\nFirst run omo.\\n' >> README.md"),
        agent("qa", "omo ralph brief qa"),
        sh("omo ralph judge --no-refine 'one section'"),
        agent("judge", "omo ralph brief"),
        sh("omo ralph judge --json"),
        say("It is done."),
    )
    run = copilot.prompt(f"/omo:ralph {TASK}", env=EIGHT_BLOCKS)
    assert copilot.model.overruns == 0
    assert copilot.row(run.session)["work"]["ralph"]["outcome"]["verdict"] == "judged"


def is_told(text: str) -> Matcher:
    return lambda request: any(text in shown for shown in texts_of(request))


def judged(request: Request) -> Turn:
    nonce = NONCE.findall("\n".join(texts_of(request)))[-1]
    answers = []
    for criterion, check in (("C1", "order"), ("C0", "request")):
        evidence = "README.md, the section Use, names omo"
        answers.append({"criterion": criterion, "check": check, "result": "pass", "evidence": evidence})
    return say("```json\n" + json.dumps({"nonce": nonce, "answers": answers}) + "\n```")


def test_ultragoal_runs_to_its_final_receipt(copilot: Copilot) -> None:
    for name, verdict in CLEAN.items():
        copilot.model.agent(is_told(f"omo ultragoal brief {name.removeprefix('omo:')}"), say(json.dumps(verdict)))

    def checkpoint(request: Request) -> Turn:
        path = copilot.project / "gate.json"
        path.write_text(json.dumps(valid_gate(copilot.project, "G001")), "utf-8")
        how = "--goal-id G001 --status complete --evidence 'the section is there' --quality-gate-json gate.json"
        return sh(f"omo ultragoal checkpoint {how}")

    copilot.model.script(
        sh(f"omo ultragoal create-goals --brief '{BRIEF}'"),
        sh("omo ultragoal complete-goals"),
        sh("printf '\\n## Use\\n' >> README.md"),
        agent("architect", "omo ultragoal brief architect"),
        agent("qa", "omo ultragoal brief qa"),
        checkpoint,
        sh("omo goal complete"),
        say("All is proven."),
    )
    run = copilot.prompt(f"/omo:ultragoal {BRIEF}", env=EIGHT_BLOCKS)
    assert copilot.model.overruns == 0
    assert copilot.row(run.session)["work"]["ultragoal"]["outcome"]["verdict"] == "judged"


def test_plan_mode_and_its_own_autopilot_are_left_alone(copilot: Copilot) -> None:
    copilot.model.script(say("My plan is this."))
    session = copilot.prompt("ulw fix it", "--plan", "--allow-all-tools", env=EIGHT_BLOCKS).session
    assert copilot.kinds(session) == ["activated:leading", "allowed:plan-mode"]
    copilot.model.script(say("I looked."), say("I look again."), call("task_complete", summary="all done"))
    session = copilot.prompt("ulw fix it", "--autopilot", "--allow-all-tools", env=EIGHT_BLOCKS).session
    assert set(copilot.kinds(session)[1:]) == {"allowed:other-loop"}
    assert not copilot.was_told("Ultrawork active: ")


def test_in_the_terminal_what_is_typed_and_escape_keep_the_run_and_a_command_ends_it(copilot: Copilot) -> None:
    typed, never = threading.Event(), threading.Event()
    copilot.model.script(
        *(sh("true"), sh("echo 1").held_by(typed), say("Going on.")),
        *(sh("echo 2"), say("Still at it.").held_by(never), sh("echo 3"), say("Still at it.").held_by(never)),
    )
    terminal = copilot.open(env=EIGHT_BLOCKS)
    submit(terminal, "ulw fix it")
    terminal.wait_for("omo: ultrawork is on")
    copilot.model.wait_for_turns(2)
    submit(terminal, "also add tests please")  # handed to the model at its next step
    terminal.wait_for("pending")
    typed.set()
    copilot.model.wait_for_turns(5)
    (session,) = copilot.sessions
    assert copilot.was_told("also add tests please")
    assert copilot.kinds(session)[1:] == ["blocked:quote-message"]
    interrupt(terminal)
    assert copilot.row(session)["work"]["ulw"]["state"] == "active"
    asked = len(copilot.model.turns)
    submit(terminal, "go on")
    copilot.model.wait_for_turns(asked + 2)
    interrupt(terminal)
    asked = len(copilot.model.turns)
    submit(terminal, "/omo:stop-continuation")
    terminal.wait_for("ultrawork is off")
    assert copilot.row(session)["stopContinuation"]["disabled"]
    assert len(copilot.model.turns) == asked


def interrupt(terminal: Terminal) -> None:
    """It takes Esc twice, soon after one another, and shows in the line below the input whether anything runs."""
    while "Working" in terminal.screen():
        for _ in range(2):
            terminal.key("Escape")
            time.sleep(2 * POLL_SECONDS)
        time.sleep(10 * POLL_SECONDS)
    terminal.key("BSpace")  # what follows an Escape may be taken for a key pressed with it


def test_in_the_terminal_a_stop_that_is_typed_at_work_ends_it_with_the_turn(copilot: Copilot) -> None:
    typed = threading.Event()
    copilot.model.script(sh("true"), sh("echo 1").held_by(typed), say("Done."))
    terminal = copilot.open(env=EIGHT_BLOCKS)
    submit(terminal, "ulw fix it")
    copilot.model.wait_for_turns(2)
    submit(terminal, "stop ulw")
    terminal.wait_for("pending")
    typed.set()
    terminal.wait_for("omo: ultrawork is off.")
    (session,) = copilot.sessions
    assert copilot.kinds(session) == ["activated:leading", "cancelled:cancel"]
    assert len(copilot.model.turns) == 3


def test_in_the_terminal_a_stop_that_waits_in_the_queue_keeps_it_from_being_sent_back(copilot: Copilot) -> None:
    typed = threading.Event()
    copilot.model.script(sh("true"), say("Done.").held_by(typed))
    terminal = copilot.open(env=EIGHT_BLOCKS)
    submit(terminal, "ulw fix it")
    copilot.model.wait_for_turns(2)
    submit(terminal, "stop ulw")
    terminal.wait_for("pending")
    typed.set()
    terminal.wait_for("omo: nothing goes on now, so the agent is not sent back.")
    (session,) = copilot.sessions
    assert copilot.kinds(session) == ["activated:leading", "blocked:block", "cancelled:cancel"]
    assert len(copilot.model.turns) == 2


def test_a_compaction_keeps_the_run_and_its_tokens(copilot: Copilot) -> None:
    copilot.model.script(sh("omo ulw blocked --evidence 'there is no key for the service'"), say("I wait."))
    terminal = copilot.open(env={**EIGHT_BLOCKS, "OMO_BUDGET_TOKENS": "1000"})
    submit(terminal, "ulw fix it")
    terminal.wait_for("there is no key for the service")
    copilot.model.script(say("what was said so far"))
    submit(terminal, "/compact")
    terminal.wait_for("Compaction completed")
    copilot.model.script(say("Done."), sh("omo ulw done --because 'there was nothing to do'"), say("Yes."))
    submit(terminal, "here is the key: 7")
    terminal.wait_for("finished on the agent's word")
    (session,) = copilot.sessions
    assert copilot.was_told("Ultrawork active: ")
    assert tokens(copilot, session) == copilot.model.sent


def test_the_doctor_says_whether_it_has_omo_and_how_it_is_taken_out(copilot: Copilot) -> None:
    blocker = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "node stop.js"}]}]}}
    assert "ok       copilot: Copilot CLI 1.0.102 has omo, from " in copilot.omo("doctor")
    (copilot.settings / "hooks").mkdir()
    (copilot.settings / "hooks" / "theirs.json").write_text(json.dumps(blocker), "utf-8")
    report = copilot.omo("doctor")
    assert "warn     copilot: " in report
    assert "theirs.json" in report
    copilot.call("plugin", "disable", "omo@omo")
    assert "fail     copilot: omo is switched off in Copilot CLI" in copilot.omo("doctor")
    copilot.call("plugin", "enable", "omo@omo")
    removed = copilot.omo("setup", "remove", "--yes")
    assert str(copilot.data) in removed
    assert not (copilot.data / "environment").exists()
    command = "copilot plugin uninstall omo@omo && copilot plugin marketplace remove omo"
    assert f"Now the plugin in Copilot CLI: {command}" in removed
    assert "claude" not in removed  # nobody has installed it there
    for words in command.split(" && "):
        assert copilot.call(*words.split()[1:]).exit_code == 0
    copilot.model.script(say("Hello."))
    copilot.prompt("ulw say hello")
    assert not copilot.state.exists()


@pytest.fixture
def night(copilot: Copilot, tmp_path: Path) -> Copilot:
    """The client on the PATH, and a project whose tests the commit names."""
    for name, text in {"main.sh": "echo\n", "Makefile": "test:\n\tgrep -q works main.sh\n"}.items():
        (copilot.project / name).write_text(text, "utf-8")
    commit_all(copilot.project, copilot.home, "with a test")
    (tmp_path / "copilot").symlink_to(copilot.binary)
    return copilot


def started(night: Copilot, tmp_path: Path, *options: str) -> subprocess.Popen[str]:
    command = [str(night.plugin / "bin" / "omo"), "run", "--host", "copilot", "--rounds", "2", "--json"]
    return subprocess.Popen(
        [*command, "let main.sh work", "--", *options],
        cwd=night.project,
        env={**night.environment, "PATH": f"{tmp_path}{os.pathsep}{night.environment['PATH']}"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )


def test_two_rounds_of_omo_run(night: Copilot, tmp_path: Path) -> None:
    with started(night, tmp_path) as process:
        stdout, _ = process.communicate()
    assert process.returncode == 77
    missing = shlex.split(json.loads(stdout)["error"]["fix"].removeprefix("-- "))
    lies = [say("It works."), say("It does.")]
    night.model.script(sh("printf 'echo well\\n' >> main.sh"), *lies, sh(WORK), say("It works now."), say("It does."))
    with started(night, tmp_path, *missing, "--allow-tool", "shell(printf:*)") as process:
        stdout, stderr = process.communicate()
    assert process.returncode == 0, stdout + stderr
    told = json.loads(stdout)
    assert [each["failure"] is None for each in told["rounds"]] == [False, True]
    assert len({each["session"] for each in told["rounds"]}) == 2, "each in a conversation of its own"
    assert sum(each["tokens"] for each in told["rounds"]) == night.model.sent
    opening = "".join(texts_of(night.model.turns[3]))
    assert "let main.sh work" in opening
    assert "proven yet" in opening
    assert "It does." not in opening


def test_a_turn_in_which_omo_was_switched_off_is_told_once(copilot: Copilot) -> None:
    copilot.model.script(sh("omo ulw blocked --evidence 'there is no key for the service'"), say("I wait."))
    session = copilot.prompt("ulw fix it").session
    move_an_hour_back(copilot.home, session)
    copilot.model.script(say("I wrote them."))
    copilot.prompt("and the docs", resume=session, env={"OMO_DISABLE": "1"})
    copilot.model.script(say("I wrote the docs."))
    shown = copilot.prompt("wait, tell me what you did", resume=session).stdout
    assert " ".join(shown.split()).count(DID_NOT_RUN) == 1
    assert not copilot.was_told(DID_NOT_RUN)
