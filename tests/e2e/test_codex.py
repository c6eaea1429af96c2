"""omo in the real Codex client, headless and in its terminal interface."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from omo.cli.doctor import MODULES
from tests.e2e.client import POLL_SECONDS, Terminal, put_back
from tests.e2e.codex_client import DEFAULT, OLDER, Codex, copy_plugin, find_binary
from tests.e2e.conftest import EIGHT_BLOCKS, begin, commit_all, wait_until
from tests.e2e.responses_model import ResponsesModel, results_of, shown_to
from tests.e2e.scripted_model import Matcher, Request, Step, Turn, call, say
from tests.e2e.test_budget import tokens
from tests.e2e.test_heartbeat import DID_NOT_RUN, move_an_hour_back
from tests.kept import PYCACHE, copied
from tests.ultragoal.gates import valid_gate
from tests.ultragoal.project import CLEAN

pytestmark = pytest.mark.client


@pytest.fixture(scope="session")
def codex_binary() -> Path:
    binary = find_binary()
    if binary is None:
        pytest.skip("the Codex client is not installed: ./tests/run --clients fetches it")
    return binary


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory, plugin_root: Path) -> Path:
    directory = tmp_path_factory.mktemp("plugin of codex")
    copy_plugin(plugin_root, directory)
    return directory


@pytest.fixture(scope="session")
def rooms(codex_binary: Path, plugin: Path) -> Iterator[tuple[Path, Path]]:
    """A project and a home with omo installed, and a copy of them: what is installed knows its place.

    On a disk: what lies in the memory of /dev/shm is hidden from the client's sandbox.
    """
    with tempfile.TemporaryDirectory(prefix="omo codex ", dir="/var/tmp", ignore_cleanup_errors=True) as directory:
        room, aside = Path(directory, "room"), Path(directory, "aside")
        (room / "home").mkdir(parents=True)
        copied(room / "mein Projékt", begin)
        with ResponsesModel() as model:
            codex = Codex(codex_binary, model, room / "mein Projékt", room / "home")
            codex.install(plugin)
        compile_all(codex.plugin / "src")
        shutil.copytree(room, aside, symlinks=True)
        yield room, aside


def compile_all(sources: Path) -> None:
    """A command in the sandbox may not keep what it has compiled, and would begin anew each time."""
    python = [sys.executable, "-I", "-X", f"pycache_prefix={os.environ[PYCACHE]}"]
    subprocess.run([*python, "-m", "compileall", "-q", str(sources)], check=True)
    subprocess.run([*python, "-c", f"import {', '.join(MODULES)}"], check=True)


# A model decides on the tools: those of an older one, and those of the client's own choice of today.
both_tool_sets = pytest.mark.parametrize("codex", [OLDER, DEFAULT], ids=["older", "default"], indirect=True)


@pytest.fixture
def codex(codex_binary: Path, rooms: tuple[Path, Path], request: pytest.FixtureRequest) -> Iterator[Codex]:
    room, aside = rooms
    put_back(room, aside, room / "home")
    with ResponsesModel() as model:
        named = getattr(request, "param", OLDER)
        codex = Codex(codex_binary, model, room / "mein Projékt", room / "home", named)
        yield codex
        codex.close_terminals()
    assert not model.errors, model.errors[0]


def type_line(terminal: Terminal, text: str) -> None:
    """The list of skills takes the first Enter for itself."""
    terminal.type(text)
    terminal.wait_for(lambda screen: text in typed_in(screen))
    while text in typed_in(terminal.screen()):
        terminal.key("Enter")
        time.sleep(POLL_SECONDS)


def typed_in(screen: str) -> str:
    """What stands in the input, the last line that begins with its sign."""
    return [line for line in screen.splitlines() if line.startswith("›")][-1]


def sh(command: str, **more: object) -> Turn:
    return call("exec_command", cmd=command, **more)


PIN = "$omo:pin readme -- grep -q works main.sh"
WORK = "printf 'echo it works\\n' >> main.sh"


@both_tool_sets
def test_a_premature_stop_is_sent_back_until_the_users_gate_passes(codex: Codex) -> None:
    session = codex.prompt(PIN).session
    assert codex.model.turns == []  # the hook answers it
    codex.model.script(
        say("It is done."), sh("omo gate run"), sh(WORK), sh("omo gate run && omo ulw done"), say("Yes.")
    )
    run = codex.prompt("ulw make main.sh say that it works", resume=session)
    assert (run.result, codex.model.overruns) == ("Yes.", 0)
    assert codex.was_told("turned ultrawork ")
    assert codex.was_told("Ultrawork active: ")
    assert "pass    readme" in codex.results()[-1]
    assert codex.kinds(session)[-1] == "allowed:done"
    assert codex.row(session)["work"]["ulw"]["outcome"]["verdict"] == "proven"


def test_the_cap_lets_go_and_stop_words_end_it_without_the_model(codex: Codex) -> None:
    codex.model.script(say("Done."), say("Really."))
    session = codex.prompt("ulw fix it").session
    assert codex.kinds(session) == ["activated:leading", "blocked:block", "allowed:cap"]
    codex.model.script(say("Done."), say("Really."))
    codex.prompt("ulw fix it", resume=session)
    asked = len(codex.model.turns)
    codex.prompt("stop ulw", resume=session)
    assert len(codex.model.turns) == asked
    assert codex.kinds(session)[-1] == "cancelled:cancel"


FORGERIES = (
    sh("env -u CODEX_SESSION_ID -u CODEX_THREAD_ID -u CODEX_CI -u CODEX_TOOL_CALL_ID omo gate add a -- true", tty=True),
    sh("unset $(env | grep -o '^CODEX[^=]*'); omo gate add b -- true", tty=True),
    sh("omo gate add c -- true; CLAUDE_CODE_SESSION_ID=x omo gate add d -- true", tty=True),
    sh("bash", tty=True, yield_time_ms=500),
)


def test_no_agent_passes_for_the_user(codex: Codex) -> None:
    session = codex.prompt(PIN).session

    def type_into_it(request: Request) -> Turn:
        """A terminal that was opened is typed into past every hook."""
        (number,) = re.findall(r"session ID (\d+)", results_of(request)[-1])
        clean = "env -u CODEX_SESSION_ID -u CODEX_THREAD_ID -u CODEX_CI -u CODEX_TOOL_CALL_ID"
        omo = next((codex.settings / "plugins" / "cache").glob("omo/omo/*/bin/omo"))
        return call(
            "write_stdin", session_id=int(number), chars=f"{clean} '{omo}' gate add e -- true\n", yield_time_ms=5000
        )

    codex.model.script(
        sh("omo stop-continuation"),
        sh("omo gate add readme -- true"),
        sh("omo gate remove readme"),
        sh("omo ulw allow readme"),
        *FORGERIES,
        type_into_it,
        sh("omo gate list"),
        say("Done."),
        say("Done."),
    )
    codex.prompt("ulw fix it", resume=session)
    assert "escape hatch belongs to the user" in codex.results()[0]
    assert "was pinned by the user as: grep -q works main.sh" in codex.results()[1]
    assert "was pinned by the user" in codex.results()[2]
    pinned = codex.results()[-1]
    assert re.findall(r"(\w+)  \[(\w+)\]", pinned) == [("readme", "user"), *((name, "agent") for name in "abcde")]


def test_state_is_guarded_wherever_a_tool_runs(codex: Codex) -> None:
    codex.model.script(
        sh("echo evil > .sisyphus/cc-omo/evil"),
        sh(f"echo evil > '{codex.state}/evil'", workdir="/tmp"),
        sh("echo evil > evil", workdir=str(codex.state)),
        sh("apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: .sisyphus/cc-omo/evil\n+evil\n*** End Patch\nEOF"),
        say("Done."),
        say("Done."),
    )
    session = codex.prompt("ulw fix it").session
    assert codex.kinds(session).count("denied") == 4
    codex.named = DEFAULT
    codex.model.script(sh("echo evil > .sisyphus/cc-omo/evil"), say("Done."), say("Done."))
    session = codex.prompt("ulw fix it").session
    assert codex.kinds(session).count("denied") == 1
    assert not (codex.state / "evil").exists()


def test_a_session_that_is_not_on_writes_into_nobodys_run(codex: Codex) -> None:
    codex.model.script(say("Done."), say("Done."))
    on = codex.prompt("ulw fix it").session
    before = codex.kinds(on)
    codex.model.script(sh("omo ulw blocked --evidence 'there is no key for the service'"), say("Done."))
    codex.prompt("hello")
    assert "nothing is active in session" in codex.results()[0]
    assert codex.kinds(on) == before


def test_a_resumed_session_keeps_its_run(codex: Codex) -> None:
    codex.model.script(sh("omo ulw blocked --evidence 'there is no key for the service'"), say("I wait."))
    session = codex.prompt("ulw fix it").session
    codex.model.script(sh("omo next"), say("Done."), say("Done."))
    codex.prompt("here is the key: 7", resume=session)
    assert "ultrawork active" in codex.results()[-1]
    assert codex.kinds(session)[2:] == ["allowed:waiting", "resumed", "blocked:quote-message", "allowed:message-quoted"]


def test_in_the_terminal_what_is_typed_and_escape_keep_the_run_and_a_command_ends_it(codex: Codex) -> None:
    typed, never = threading.Event(), threading.Event()
    codex.model.script(
        sh("true"), say("Looking.").held_by(typed), say("Going on."), *[say("Still at it.").held_by(never)] * 5
    )
    terminal = codex.open(env=EIGHT_BLOCKS)
    type_line(terminal, "ulw fix it")
    terminal.wait_for("omo: ultrawork is on")
    codex.model.wait_for_turns(2)
    type_line(terminal, "also add tests please")  # held until the turn's next step, or handed over at once
    typed.set()
    codex.model.wait_for_turns(4)
    terminal.key("Escape")
    terminal.wait_for("interrupted")
    (session,) = codex.sessions
    assert codex.row(session)["work"]["ulw"]["state"] == "active"
    type_line(terminal, "/compact")
    terminal.wait_for("Context compacted")
    asked = len(codex.model.turns)
    type_line(terminal, "go on")
    codex.model.wait_for_turns(asked + 1)
    assert codex.was_told("[omo] Ultrawork is still on in this session.")
    terminal.key("Escape")
    terminal.wait_for(lambda screen: screen.count("interrupted") == 2)
    asked = len(codex.model.turns)
    type_line(terminal, "$omo:stop-continuation")
    terminal.wait_for("ultrawork is off")
    assert codex.row(session)["stopContinuation"]["disabled"]
    assert len(codex.model.turns) == asked


PENDING = "Messages to be submitted"


@both_tool_sets
def test_in_the_terminal_what_omo_answers_at_work_stops_nothing_and_never_comes_back(codex: Codex) -> None:
    looked, stopped, never = threading.Event(), threading.Event(), threading.Event()
    codex.model.script(
        *[sh("true"), say("Looking.").held_by(looked), say("Still looking.").held_by(stopped), say("I stop.")],
        *[sh("true"), say("At it.").held_by(never), say("At it again.").held_by(never)],
    )
    terminal = codex.open(env=EIGHT_BLOCKS)
    type_line(terminal, "ulw fix it")
    codex.model.wait_for_turns(2)
    type_line(terminal, "$omo:status")
    terminal.wait_for(PENDING)
    looked.set()
    terminal.wait_for(lambda screen: "Next stop  would be sent back" in screen and PENDING not in screen)
    codex.model.wait_for_turns(3)
    assert codex.was_told("[omo] The user typed this to omo, which has answered them")
    type_line(terminal, "stop ulw")
    terminal.wait_for(PENDING)
    stopped.set()
    terminal.wait_for(lambda screen: "ultrawork is off" in screen and PENDING not in screen)
    codex.model.wait_for_turns(4)
    assert codex.was_told("[omo] The user cancelled ultrawork with this message")
    terminal.wait_for("Worked for")
    (session,) = codex.sessions
    assert codex.kinds(session) == ["activated:leading", "cancelled:cancel"]
    type_line(terminal, "ulw another thing")
    codex.model.wait_for_turns(6)
    terminal.key("Escape")
    terminal.wait_for("interrupted")
    type_line(terminal, "go on")
    codex.model.wait_for_turns(7)
    assert codex.kinds(session)[2:] == ["activated:leading"]
    assert codex.row(session)["work"]["ulw"]["state"] == "active"


NONCE = re.compile(r'"nonce": "([0-9a-f]{16,})"')
CRITERIA = """\
criteria:
  - id: C1
    description: the README has a section named Use
    checks:
      - {id: use, type: content, path: README.md, regex: "^## Use$"}
      - {id: order, type: judge, question: "Does the section Use say which command to run first?"}
"""
TASK = "document which command to run first"


def agent(codex: Codex, name: str, message: str) -> list[Step]:
    """Sent, waited for and sent away: Codex has few at a time. With the newer tools it leaves by itself."""
    if codex.named == DEFAULT:
        started = call("spawn_agent", agent_type=f"omo:{name}", message=message, task_name=name, fork_turns="none")
        return [started, call("wait_agent", timeout_ms=600_000)]
    names: list[str] = []

    def wait(request: Request) -> Turn:
        names.append(json.loads(results_of(request)[-1])["agent_id"])
        return call("wait_agent", targets=names)

    return [
        call("spawn_agent", agent_type=f"omo:{name}", message=message),
        wait,
        lambda request: call("close_agent", target=names[0]),
    ]


def is_told(text: str) -> Matcher:
    return lambda request: any(text in shown for shown in shown_to(request))


@both_tool_sets
def test_a_budget_counts_its_agents_refuses_them_lets_go_and_goes_on_when_it_is_raised(codex: Codex) -> None:
    """As in Claude Code: see test_budget."""
    codex.omo("setup", "codex", "--yes")
    codex.model.usage = {"input_tokens": 20, "output_tokens": 5}
    codex.model.agent(is_told("look around"), say("I looked."))
    again = agent(codex, "planner", "look around")[0]
    work = [sh("true"), sh("echo 1"), sh("echo 2")]
    codex.model.script(*agent(codex, "planner", "look around"), say("Done."), *work, again, say("I stop."))
    env = {**EIGHT_BLOCKS, "OMO_BUDGET_TOKENS": "200"}
    run = codex.prompt("ulw look at it", env=env)
    assert (tokens(codex, run.session), codex.row(run.session)["spent"]["agents"]) == (codex.model.sent, 1)
    assert codex.kinds(run.session)[-2:] == ["denied", "allowed:budget"]
    (refused,) = [result for result in codex.results() if "no more agents are started" in result]
    assert {OLDER: "Tool: spawn_agent", DEFAULT: "Tool: collaborationspawn_agent"}[codex.named] in refused
    asked = len(codex.model.turns)
    codex.model.script(say("I go on."), say("Still."))
    codex.prompt("$omo:budget 300 tokens", resume=run.session, env=env)
    assert len(codex.model.turns) > asked
    assert codex.was_told("goes on where it was")
    assert codex.row(run.session)["work"]["ulw"]["endedBy"] == "budget"
    assert tokens(codex, run.session) == codex.model.sent


def judged(request: Request) -> Turn:
    nonce = NONCE.findall("\n".join(shown_to(request)))[-1]
    answers = []
    for criterion, check in (("C1", "order"), ("C0", "request")):
        evidence = "README.md, the section Use, names omo"
        answers.append({"criterion": criterion, "check": check, "result": "pass", "evidence": evidence})
    return say("```json\n" + json.dumps({"nonce": nonce, "answers": answers}) + "\n```")


@both_tool_sets
def test_ralph_runs_to_its_end_with_the_agents_that_setup_installs(codex: Codex) -> None:
    """In one iteration; of those that a judge sends back, see test_ralph."""
    assert "  omo:judge " in codex.omo("setup", "codex", "--yes")
    (codex.project / "criteria.yaml").write_text(CRITERIA, "utf-8")
    for name in ("plan the work", "omo ralph brief qa"):
        codex.model.agent(is_told(name), say("I did."))
    codex.model.agent(is_told("You judge whether criteria hold"), sh("omo ralph brief"), judged)
    codex.model.script(
        sh("omo ralph start --criteria criteria.yaml"),
        sh("omo gate add readme -- test -s README.md"),
        *agent(codex, "planner", "plan the work"),
        sh("printf '\\n## Use\\n\\nFirst run omo.\\n' >> README.md"),
        *agent(codex, "qa", "omo ralph brief qa"),
        sh("omo ralph judge --no-refine 'one section'"),
        *agent(codex, "judge", "omo ralph brief"),
        sh("omo ralph judge --json"),
        say("It is done."),
    )
    run = codex.prompt(f"$omo:ralph {TASK}", env=EIGHT_BLOCKS)
    assert (run.result, codex.model.overruns) == ("It is done.", 0)
    assert codex.row(run.session)["work"]["ralph"]["outcome"]["verdict"] == "judged"


def doctor(codex: Codex) -> str:
    """What it says once the client has answered it, for which it waits seconds: a busy machine takes more."""
    for _ in range(10):
        said = codex.omo("doctor")
        if "did not say whether it trusts the hooks" not in said:
            break
    return said


def test_the_doctor_says_whether_codex_trusts_the_hooks_and_has_the_agents(codex: Codex) -> None:
    blocker = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "node stop.js"}]}]}}
    (codex.settings / "hooks.json").write_text(json.dumps(blocker), "utf-8")
    assert "Codex skips 7 of 7 hooks of omo, silently" in doctor(codex)
    codex.trust_hooks()
    assert "lacks the agents that judge, review and criticise" in doctor(codex)
    codex.omo("setup", "codex", "--yes")
    others = "Codex trusts the hooks of omo and has its agents; 1 other hook at Stop can hold a session too"
    report = doctor(codex)
    assert others in report
    assert "hooks.json: node stop.js" in report
    (codex.plugin / "README.md").write_text("An update.\n", "utf-8")
    assert "Codex skips 7 of 7 hooks of omo, silently" in doctor(codex)
    removed = codex.omo("setup", "remove", "--yes")
    assert not (codex.settings / "agents").exists()
    command = "codex plugin remove omo@omo && codex plugin marketplace remove omo"
    assert f"Now the plugin in Codex: {command}" in removed
    assert "claude" not in removed  # nobody has installed it there
    for words in command.split(" && "):
        assert codex.call(*words.split()[1:]).exit_code == 0
    assert '[plugins."omo@' not in (codex.settings / "config.toml").read_text("utf-8")


BRIEF = "@goal: Say how to use it\nThe README has a section on use."


def test_ultragoal_runs_to_its_final_receipt_and_the_clients_own_goal_is_not_complete_before(codex: Codex) -> None:
    codex.omo("setup", "codex", "--yes")
    for name, verdict in CLEAN.items():
        codex.model.agent(is_told(f"omo ultragoal brief {name.removeprefix('omo:')}"), say(json.dumps(verdict)))

    def checkpoint(request: Request) -> Turn:
        path = codex.project / "gate.json"
        path.write_text(json.dumps(valid_gate(codex.project, "G001")), "utf-8")
        how = "--goal-id G001 --status complete --evidence 'the section is there' --quality-gate-json gate.json"
        return sh(f"omo ultragoal checkpoint {how}")

    codex.model.script(
        call("create_goal", objective="document the use"),
        sh(f"omo ultragoal create-goals --brief '{BRIEF}'"),
        sh("omo ultragoal complete-goals"),
        call("update_goal", status="complete"),
        sh("printf '\\n## Use\\n' >> README.md"),
        *agent(codex, "architect", "omo ultragoal brief architect"),
        *agent(codex, "qa", "omo ultragoal brief qa"),
        checkpoint,
        sh("omo goal complete"),
        call("update_goal", status="complete"),
        say("All is proven."),
    )
    run = codex.prompt(f"$omo:ultragoal {BRIEF}", env=EIGHT_BLOCKS)
    assert (run.result, codex.model.overruns) == ("All is proven.", 0)
    (refused,) = [result for result in codex.results() if "The goal is not proven complete" in result]
    assert "Tool: update_goal" in refused
    assert '"status":"complete"' in codex.results()[-1]
    assert codex.row(run.session)["work"]["ultragoal"]["outcome"]["verdict"] == "judged"


@pytest.mark.parametrize("codex", [DEFAULT], indirect=True)  # older models ask in plan mode alone
def test_a_question_is_refused_while_a_goal_is_open_and_its_words_are_kept(codex: Codex) -> None:
    codex.model.script(
        sh(f"omo ultragoal create-goals --brief '{BRIEF}'"),
        sh("omo ultragoal complete-goals"),
        *[call("request_user_input_async", questions=[{"title": "Which licence?"}])] * 3,
        say("I wait."),
    )
    run = codex.prompt(f"$omo:ultragoal {BRIEF}", env=EIGHT_BLOCKS)
    assert ["G001 is open" in result for result in codex.results()[2:]] == [True] * 3
    assert codex.row(run.session)["work"]["ultragoal"]["question"] == "Which licence?"
    assert codex.kinds(run.session)[-1] == "allowed:waiting"


@pytest.fixture
def night(codex: Codex, tmp_path: Path) -> Codex:
    """The client on the PATH, with its hooks trusted, and a project whose tests the commit names."""
    for name, text in {"main.sh": "echo\n", "Makefile": "test:\n\tgrep -q works main.sh\n"}.items():
        (codex.project / name).write_text(text, "utf-8")
    commit_all(codex.project, codex.home, "with a test")
    (tmp_path / "codex").symlink_to(codex.binary)
    codex.trust_hooks()
    return codex


def started(night: Codex, tmp_path: Path) -> subprocess.Popen[str]:
    command = [str(night.plugin / "bin" / "omo"), "run", "--host", "codex", "--rounds", "2", "--json"]
    return subprocess.Popen(
        [*command, "let main.sh work", "--", *night.options, "-s", "workspace-write"],
        cwd=night.project,
        env={**night.environment, "PATH": f"{tmp_path}{os.pathsep}{night.environment['PATH']}"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )


def test_two_rounds_of_omo_run(night: Codex, tmp_path: Path) -> None:
    lies = [say("It works."), say("It does.")]
    night.model.script(sh("printf 'echo well\\n' >> main.sh"), *lies, sh(WORK), say("It works now."), say("It does."))
    with started(night, tmp_path) as process:
        stdout, stderr = process.communicate()
    assert process.returncode == 0, stdout + stderr
    told = json.loads(stdout)
    assert [each["failure"] is None for each in told["rounds"]] == [False, True]
    assert len({each["session"] for each in told["rounds"]}) == 2, "each in a conversation of its own"
    opening = "".join(shown_to(night.model.turns[3]))
    assert "let main.sh work" in opening
    assert "proven yet" in opening
    assert "It does." not in opening


def test_omo_run_killed_in_its_first_round_finds_the_conversation_again(night: Codex, tmp_path: Path) -> None:
    never = threading.Event()
    night.model.script(sh("printf 'echo well\\n' >> main.sh"), say("never said").held_by(never))
    with started(night, tmp_path) as process:
        wait_until(lambda: len(night.model.turns) == 2)
        process.kill()
    never.set()
    night.model.script(sh(WORK), say("It works."), say("It does."))
    with started(night, tmp_path) as process:
        stdout, stderr = process.communicate()
    assert process.returncode == 0, stdout + stderr
    assert ", in round 1" in stderr
    assert json.loads(stdout)["rounds"][0]["changed"] == ["main.sh"]


def test_a_refused_patch_is_told_once_and_then_waits_for_the_user(codex: Codex) -> None:
    patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.txt\n+x\n*** End Patch\nEOF\n"
    codex.model.script(sh(patch), say("I may not."), sh(patch), say("Still not."))
    codex.call("exec", *codex.options, "-s", "read-only", "ulw add new.txt", env=EIGHT_BLOCKS)
    (session,) = codex.sessions
    assert codex.kinds(session)[1:] == ["blocked:block", "allowed:refused"]
    assert codex.was_told("But the host refused exec_command apply_patch")
    assert "--sandbox workspace-write" in codex.row(session)["work"]["ulw"]["question"]


def test_codex_tells_of_a_turn_in_which_omo_was_switched_off(codex: Codex) -> None:
    codex.model.script(sh("omo ulw blocked --evidence 'there is no key for the service'"), say("I wait."))
    session = codex.prompt("ulw fix it").session
    move_an_hour_back(codex.home, session)
    codex.model.script(say("I wrote them."))
    codex.prompt("and the docs", resume=session, env={"OMO_DISABLE": "1"})
    codex.model.script(say("I wrote the docs."))
    terminal = codex.open("resume", session)
    type_line(terminal, "wait, tell me what you did")
    terminal.wait_for("I wrote the docs.")
    assert " ".join(terminal.scrollback().split()).count(DID_NOT_RUN) == 1
    assert not codex.was_told(DID_NOT_RUN)


def test_the_first_ulw_of_an_empty_home_has_the_environment_built_outside_the_sandbox(codex: Codex) -> None:
    """The agent's own command could not build it: its home is read-only. It waits for the one that a hook began."""
    shutil.rmtree(codex.home / ".cache")
    indexes = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    codex.model.script(sh("omo gate add mine -- true && omo gate run", yield_time_ms=120_000), say("Yes."), say("Yes."))
    codex.prompt("ulw say that it works", env=indexes)
    assert "pass    mine" in codex.results()[0], codex.results()[0]
    assert list((codex.home / ".cache" / "omo").glob("env-*/bin/python"))
