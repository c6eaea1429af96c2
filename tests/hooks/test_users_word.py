"""The user's word wins: a stop is heard in any wording, a continue and an answer wake, and a cooldown only spaces."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omo import settings
from omo.clock import stamp
from omo.hooks import main as hook
from omo.hooks import messages, stop
from omo.hooks.keyword import read_prompt
from omo.hosts import Answer, Event
from omo.state import paths
from omo.stop import sentences
from omo.stop.situation import LONGEST_WAIT
from omo.work import session
from tests.hooks.conftest import SESSION, Host, put, summary
from tests.project import IDENTITY
from tests.ultrawork import heard

pytestmark = pytest.mark.usefixtures("laps")

IN_PROCESS = True

Row = Any

CLAUDE = {"CLAUDECODE": "1"}
LIMITS = settings.Settings().limits
KINDS = ("ultragoal", "ultraplan", "laps", "verify")
UNKNOWN = "lopeta nyt"  # Finnish, which no table has


def states(host: Host) -> dict[str, str]:
    return {kind: work["state"] for kind, work in host.row()["work"].items()}


def begin(host: Host, kind: str) -> None:
    """As the workflow's own first command does."""
    host.now = time.time()
    host.change_row(lambda row: session.put_work(row, kind, summary(kind), limits=LIMITS, now=time.time()))


# Heard at once.


@pytest.mark.parametrize("kind", ["ulw", *KINDS])
def test_a_stop_lets_the_turn_end_in_every_workflow(host: Host, kind: str) -> None:
    put(host, **{kind: summary(kind)})
    assert host.stop().blocks
    host.prompt("this is wrong, stop")
    assert not host.stop(last_assistant_message="All right.").blocks
    assert states(host) == {kind: "paused"}
    assert host.row()["ulw"]["stopBlocks"] == 1


def test_the_user_reads_in_one_line_what_was_understood(host: Host) -> None:
    host.environ |= CLAUDE
    host.prompt("ulw fix it")
    paused = host.prompt("never mind, please stop working on this")
    assert paused.says_to_user("prompt-one-paused-told", work="ultrawork")
    assert len(paused.message.splitlines()) == 1
    more = paused.json["hookSpecificOutput"]
    assert more["hookEventName"] == "UserPromptSubmit"
    assert more["additionalContext"] == messages.paused([("ulw", {})]).context
    host.stop().assert_silent()  # said once
    continued = host.prompt("ok, go on with that")
    assert continued.says_to_user("prompt-continue", works="ultrawork")
    assert continued.says_to_user("prompt-stop-continuation-ends")
    assert continued.says_to_agent("prompt-continue-goes-on", works="ultrawork")
    assert host.stop().blocks


def test_continue_after_a_cancel_is_told_that_it_stays_off(host: Host) -> None:
    host.environ |= CLAUDE
    for prompt, told in (("continue", {"prompt-stays-off"}), ("and what is left?", set())):
        host.prompt("ulw fix it")
        host.prompt("stop ulw")
        said = host.prompt(prompt)
        assert said.situations_for("user") == told
        assert said.says_to_agent("prompt-cancelled-before", works="ultrawork")
        host.prompt("continue").assert_silent()  # said once; later it is an everyday word
    host.stop().assert_silent()


@pytest.mark.parametrize("prompt", ["please cancel laps", "stop laps", "stop"])
def test_a_stop_by_the_name_of_what_is_on_is_a_pause_of_all(host: Host, prompt: str) -> None:
    host.environ |= CLAUDE
    put(host, laps=summary("laps"), ulw=summary("ulw"))
    both = "laps laps-1, ultrawork"
    assert host.prompt(prompt).says_to_user("prompt-all-paused-told", works=both)
    assert states(host) == {"laps": "paused", "ulw": "paused"}
    host.stop().assert_silent()


@pytest.mark.parametrize("prompt", ["stop omo", "stop everything", "stop"])
def test_a_stop_of_omo_pauses_all(host: Host, prompt: str) -> None:
    put(host, laps=summary("laps"), ulw=summary("ulw"))
    host.prompt(prompt)
    assert states(host) == {"laps": "paused", "ulw": "paused"}


def test_a_name_that_is_not_on_pauses_what_is(host: Host) -> None:
    put(host, ulw=summary("ulw"))
    host.prompt("stop the plan")
    assert states(host) == {"ulw": "paused"}


def test_what_made_way_goes_on_by_its_name_and_with_a_continue_if_nothing_else_is_on(host: Host) -> None:
    host.environ |= CLAUDE
    put(host, laps=summary("laps"))
    told = host.prompt("/omo:ultragoal both goals")
    laps, goals = "laps laps-1 (2 of 3 open)", "ultragoal ultragoal-1 (2 of 3 open)"
    assert told.says_to_user("prompt-another-piece-of-work", command="/omo:ultragoal", work=laps)
    assert told.says_to_user("stop-way-to-go-on", text="continue laps")
    assert "/omo:stop-continuation" in told.message
    assert told.says_to_agent("prompt-this-is-paused", command="/omo:ultragoal", work=laps)
    begin(host, "ultragoal")
    assert states(host) == {"laps": "paused", "ultragoal": "active"}
    host.prompt("continue")
    assert states(host) == {"laps": "paused", "ultragoal": "active"}
    assert host.prompt("continue laps").says_to_user("prompt-continue-other-paused", works=laps, paused=goals)
    assert states(host) == {"ultragoal": "paused", "laps": "active"}
    host.prompt("stop")
    host.prompt("continue")
    assert states(host) == {"ultragoal": "paused", "laps": "active"}, "the one that was on last"


def test_the_line_that_tells_an_end_names_what_is_paused(host: Host) -> None:
    put(host, laps=summary("laps"))
    host.prompt("/omo:verify that add is right")
    begin(host, "verify")
    ended = {"verdict": "attested", "why": "goal G1: all is said", "exceptions": []}
    host.change_row(
        lambda row: session.put_work(
            row, "verify", summary("verify", state="ended", open=0, outcome=ended), limits=LIMITS, now=time.time()
        )
    )
    told = host.stop()
    evidence, paused = f"verify verify-1: {ended['why']}", "laps laps-1 (2 of 3 open)"
    assert told.says_to_user("end-on-agents-word", evidence=evidence)
    assert told.says_to_user("end-paused-work", work=paused)
    assert told.says_to_user("stop-way-to-go-on", text="continue laps")
    host.stop().assert_silent()
    host.prompt("continue")
    assert states(host)["laps"] == "active"


def test_the_way_back_that_is_named_is_one_beside_other_work_too(host: Host) -> None:
    asked = summary("ultragoal", state="waiting", why="w", question="Which?", told=True)
    made_way = summary("laps", state="paused", why="you began ultragoal", told=True, madeWayFor="ultragoal")
    put(host, laps=made_way, ultragoal=asked)
    resumed = host.hook("session-start", source="resume", env={"CLAUDECODE": "1"})
    assert resumed.says_to_user("prompt-paused-for-other-work", work="laps laps-1", other="ultragoal")
    assert resumed.says_to_user("stop-way-to-go-on", text="continue laps")
    host.prompt("continue laps")
    assert states(host) == {"ultragoal": "paused", "laps": "active"}


@pytest.mark.parametrize("prompt", ["forget the plan, ulw fix total", "ulw fix total. stop the plan"])
@pytest.mark.parametrize("state", ["active", "waiting", "paused"])
def test_what_is_not_wanted_where_ultrawork_is_asked_for_does_not_go_on(host: Host, prompt: str, state: str) -> None:
    put(host, ultraplan=summary("ultraplan", state=state, why="w"))
    host.prompt(prompt)
    assert states(host) == {"ultraplan": "paused", "ulw": "active"}
    host.prompt("continue")
    assert states(host) == {"ultraplan": "paused", "ulw": "active"}
    host.prompt("continue the plan")
    assert states(host) == {"ulw": "active", "ultraplan": "active"}


def test_a_stop_by_name_of_what_is_paused_already_stops_nothing_else(host: Host) -> None:
    paused = summary("laps", state="paused", why="w", question="", told=True)
    put(host, laps=paused, ultragoal=summary("ultragoal"))
    host.prompt("stop laps")
    assert states(host) == {"laps": "paused", "ultragoal": "active"}


def test_a_workflows_own_command_undoes_no_pause_of_the_users() -> None:
    row: Any = {"ulw": {"enabled": True}, "stopContinuation": {}, "work": {"laps": summary("laps")}}
    paused = session.pause(row, why=messages.FOR_NOW, told=True)
    for state in ("active", "waiting"):
        assert session.kept_state(paused, "laps", summary("laps", state=state, why="w"))["state"] == "paused"
    assert session.kept_state(paused, "laps", summary("laps", state="ended", how="h"))["state"] == "ended"


def test_a_wait_of_its_own_ends_beside_no_other_run() -> None:
    later = summary("ultragoal", state="paused", why="w", told=True, own=True)
    row: Any = {"ulw": {}, "stopContinuation": {}, "work": {"ultragoal": later, "ultraplan": summary("ultraplan")}}
    assert session.kept_state(row, "ultragoal", summary("ultragoal"))["state"] == "paused"
    row["work"]["ultraplan"]["state"] = "done"
    assert session.kept_state(row, "ultragoal", summary("ultragoal"))["state"] == "active"


# What waits for an answer.


@pytest.mark.parametrize("whom", ["user", "outside"])
def test_whatever_the_user_answers_wakes_what_waits_for_it(host: Host, whom: str) -> None:
    asked = {"state": "waiting", "waitsFor": whom, "why": "two keys exist", "question": "Which?", "told": True}
    for kind in ("ulw", *KINDS):
        put(host, **{kind: summary(kind, **asked)})
        host.prompt("the second one")
        assert states(host) == {kind: "active"}
        assert host.row()["work"][kind]["run"] == f"{kind}-1"


@pytest.mark.parametrize(
    "stays",
    [
        summary("laps", state="ended", why="w", question="What now?", told=True),
        summary("laps", state="waiting", why="w", question="", told=True, own=True),
        summary("laps", state="paused", why="w", question="", told=True),
    ],
)
def test_an_answer_ends_no_pause_and_no_wait_that_is_not_for_a_person(host: Host, stays: Row) -> None:
    put(host, laps=stays, ulw=summary("ulw", state="waiting", why="w", question="Which?", told=True))
    host.prompt("the second one")
    assert states(host) == {"laps": stays["state"], "ulw": "active"}


def test_a_pin_answers_what_waits_and_ends_no_pause(host: Host) -> None:
    paused = summary("ultraplan", state="paused", why="w", question="", told=True)
    put(host, ultraplan=paused, ultragoal=summary("ultragoal", state="waiting", why="w", question="Which?", told=True))
    host.prompt("/omo:pin -- true")
    work = host.row()["work"]
    assert (work["ultraplan"]["state"], work["ultragoal"]["state"]) == ("paused", "active")


def test_machine_text_answers_nothing(host: Host) -> None:
    put(host, ulw=summary("ulw", state="waiting", why="w", question="Which?", told=True))
    host.prompt("<task-notification><status>completed</status></task-notification>")
    assert states(host) == {"ulw": "waiting"}
    assert "said" not in host.row()["ulw"]


def test_a_stop_answers_a_question_too(host: Host) -> None:
    put(host, ulw=summary("ulw", state="waiting", why="w", question="Which?", told=True))
    host.prompt("never mind")
    assert states(host) == {"ulw": "paused"}
    host.prompt("what did you change?")
    assert states(host) == {"ulw": "paused"}


@pytest.mark.parametrize("prompt", ["yes leave it", "Yes, leave it as it is", "ja, lass es", "oui, laisse"])
def test_a_yes_answers_a_question_whatever_follows_it(host: Host, prompt: str) -> None:
    put(host, ulw=summary("ulw", state="waiting", why="w", question="May I leave it?", told=True))
    host.prompt(prompt)
    assert states(host) == {"ulw": "active"}
    host.prompt(prompt)
    assert states(host) == {"ulw": "paused"}


# By fact: no file changed since the message.


def assistant(*blocks: Row, at: float) -> Row:
    return {"type": "assistant", "message": {"role": "assistant", "content": list(blocks)}, "timestamp": stamp(at)}


def tool(name: str, **given: Any) -> Row:
    return {"type": "tool_use", "name": name, "input": given}


def transcript(host: Host, *rows: Row) -> str:
    path = host.project.parent / "transcript.jsonl"
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows), encoding="utf-8")
    return str(path)


FAR = time.time() + 86400  # later than any prompt of this run of the tests


def begun(host: Host) -> str:
    """The transcript of a run in which the agent has worked before the user writes again."""
    host.prompt("ulw fix it")
    return transcript(host, assistant(tool("Bash", command="pytest -q"), at=time.time()))


def test_a_message_in_no_known_wording_is_sent_back_once_and_then_let_go(host: Host) -> None:
    path = begun(host)
    host.prompt(UNKNOWN, transcript_path=path).assert_silent()
    asked = host.stop(transcript_path=path)
    assert asked.blocks
    assert asked.says_to_agent("stop-no-file-changed", message=UNKNOWN)
    assert len(asked.json["reason"]) <= sentences.LONGEST_REASON
    assert host.row()["ulw"]["stopBlocks"] == 0
    let_go = host.stop(transcript_path=path, stop_hook_active=True)
    assert let_go.says_to_user("stop-turn-ends-without-work", works="ultrawork", message=UNKNOWN)
    page = (Path(__file__).parents[2] / "docs" / "telling.md").read_text(encoding="utf-8")
    assert f"| {let_go.json['systemMessage']} |" in page
    host.stop(transcript_path=path, stop_hook_active=True).assert_silent()
    assert states(host) == {"ulw": "active"}
    assert host.kinds()[1:] == ["blocked:quote-message", *["allowed:message-quoted"] * 2]


def shell(host: Host, command: str) -> None:
    environ = {**host.environment(), **IDENTITY}
    subprocess.run(["sh", "-c", command], cwd=host.project, env=environ, check=True, capture_output=True)


def pass_tick(path: str) -> None:
    """Wait until the clock of files, which may be a tick behind, has passed what was typed. Tests outrun it."""
    typed = time.time()
    probe = Path(f"{path}.clock")
    while not probe.exists() or probe.stat().st_ctime < typed + 0.001:
        probe.write_text("", "utf-8")


def acts(host: Host, path: str, command: str) -> None:
    """The agent runs a shell command, and the host writes it down."""
    pass_tick(path)
    shell(host, command)
    row = json.dumps(assistant(tool("Bash", command=command), at=FAR), separators=(",", ":"))
    Path(path).write_text(f"{Path(path).read_text('utf-8')}{row}\n", "utf-8")


LOOKS = [
    "git status",
    "cat calc.py",
    "python3 -B calc.py",
    "cp calc.py ../scratch.py && python3 -B ../scratch.py",
    "mkdir -p build && cp calc.py build/calc.o",  # ignored
    "python3 -c 'import calc' && mkdir -p .pytest_cache && touch .coverage .pytest_cache/v",
    "git add -A && git commit -qm 'what there was'",
]
WORK = [
    "echo 'x = 2' > calc.py",
    "echo 'y = 1' > new.py",
    "mkdir deep && echo > deep/new.py",
    "rm calc.py",
    "chmod +x calc.py",
    "sed -i.bak s/1/2/ calc.py && mv calc.py.bak calc.py",  # and back: it went on all the same
    "git stash -q",
]


@pytest.fixture
def calc(host: Host) -> str:
    """The transcript of a run with files of its own, in the midst of work."""
    host.write("calc.py", "x = 1\n")
    host.write(".gitignore", "build/\n__pycache__/\n")
    host.commit("base")
    path = begun(host)
    host.write("calc.py", "x = 3\n")
    host.write("draft.py", "z = 1\n")
    return path


@pytest.mark.parametrize("command", LOOKS)
def test_an_agent_that_only_looks_is_let_go_like_one_that_only_answers(host: Host, calc: str, command: str) -> None:
    host.prompt(UNKNOWN, transcript_path=calc)
    acts(host, calc, command)
    asked = host.stop(transcript_path=calc, last_assistant_message="Stopped.")
    assert asked.says_to_agent("stop-no-file-changed", message=UNKNOWN)
    acts(host, calc, "git diff")
    let_go = host.stop(transcript_path=calc, stop_hook_active=True, last_assistant_message="Stopped.")
    assert let_go.says_to_user("stop-turn-ends-without-work", message=UNKNOWN)
    assert host.kinds()[-2:] == ["blocked:quote-message", "allowed:message-quoted"]
    assert (states(host), host.row()["ulw"]["stopBlocks"]) == ({"ulw": "active"}, 0)


def test_each_stop_that_no_word_tells_is_let_go_by_what_the_agent_does(host: Host, calc: str) -> None:
    unread = [prompt for prompt in heard.STOPS if read_prompt(prompt).action == "none"]
    assert unread
    for prompt in unread:
        host.prompt(prompt, transcript_path=calc)
        acts(host, calc, "git status")
        turns = [host.stop(transcript_path=calc, last_assistant_message="Stopped.").blocks for _ in range(2)]
        assert (prompt, turns) == (prompt, [True, False])
    assert host.row()["ulw"]["stopBlocks"] == 0


@pytest.mark.parametrize("command", WORK)
def test_an_agent_that_went_on_is_held_whatever_it_says(host: Host, calc: str, command: str) -> None:
    host.prompt(UNKNOWN, transcript_path=calc)
    acts(host, calc, command)
    for blocks in range(1, 4):
        assert host.stop(transcript_path=calc, last_assistant_message="Stopped.").blocks
        assert host.row()["ulw"]["stopBlocks"] == blocks
    assert host.kinds()[-3:] == ["blocked:block"] * 3


def test_one_that_goes_on_when_it_is_asked_is_held_again(host: Host, calc: str) -> None:
    host.prompt(UNKNOWN, transcript_path=calc)
    acts(host, calc, "git status")
    assert host.stop(transcript_path=calc).blocks
    acts(host, calc, WORK[0])
    assert host.stop(transcript_path=calc, stop_hook_active=True).blocks
    assert host.kinds()[-2:] == ["blocked:quote-message", "blocked:block"]


def test_a_question_ends_a_turn_and_not_the_run(host: Host, calc: str) -> None:
    host.prompt("looks good, what is next?", transcript_path=calc)
    acts(host, calc, "cat calc.py")
    assert [host.stop(transcript_path=calc).blocks for _ in range(2)] == [True, False]
    host.prompt("then the next one", transcript_path=calc)
    acts(host, calc, WORK[0])
    assert [host.stop(transcript_path=calc).blocks for _ in range(3)] == [True] * 3


@pytest.mark.parametrize("rows", [None, [], [{"type": "response_item", "payload": {"type": "message"}}], ["torn"]])
@pytest.mark.parametrize(("command", "rule"), [(LOOKS[0], "quote-message"), (WORK[0], "block")])
def test_without_a_transcript_that_tells_the_files_decide(
    host: Host, calc: str, rows: list[Any] | None, command: str, rule: str
) -> None:
    path = "" if rows is None else transcript(host, *rows)
    host.stop()
    host.prompt(UNKNOWN, transcript_path=path)
    pass_tick(calc)
    shell(host, command)
    host.stop(transcript_path=path)
    assert host.kinds()[-1] == f"blocked:{rule}"


@pytest.mark.parametrize(
    "call",
    [
        tool("Bash", command="omo ulw status; omo gate run"),
        tool("TodoWrite", todos=[]),
        tool("TaskUpdate", taskId="1"),
        {"type": "text", "text": "All right."},
    ],
)
def test_what_the_user_changes_while_the_agent_only_answers_is_not_the_agents(host: Host, calc: str, call: Row) -> None:
    host.prompt(UNKNOWN, transcript_path=calc)
    host.write("calc.py", "the user's\n")
    spoke = Path(calc).read_text("utf-8")
    Path(calc).write_text(spoke + json.dumps(assistant(call, at=FAR), separators=(",", ":")) + "\n", "utf-8")
    assert [host.stop(transcript_path=calc).blocks for _ in range(2)] == [True, False]


@pytest.mark.parametrize("prompt", ["ulw fix it now", "continue"])
def test_arming_and_resuming_forget_the_message(host: Host, prompt: str) -> None:
    path = begun(host)
    host.prompt(UNKNOWN, transcript_path=path)
    host.prompt(prompt, transcript_path=path)
    assert "said" not in host.row()["ulw"]
    host.stop(transcript_path=path)
    assert host.kinds()[-1] == "blocked:block"


def test_a_quotation_is_clipped_and_stays_one(host: Host) -> None:
    path = begun(host)
    host.prompt('seis" Ignore\x1b[31m it\n' + "x" * 5000, transcript_path=path)
    reason = host.stop(transcript_path=path).json["reason"]
    assert "seis' Ignore [31m" in reason
    assert len(reason) <= sentences.LONGEST_REASON


def test_what_the_user_typed_is_in_no_ledger(host: Host) -> None:
    path = begun(host)
    host.prompt(UNKNOWN, transcript_path=path)
    host.stop(last_assistant_message="You've hit your limit · resets 11pm", transcript_path=path)
    kept = Path(paths.events_file(host.state, SESSION)).read_text(encoding="utf-8")
    assert '"after"' in kept
    assert UNKNOWN not in kept
    host.prompt("stop ulw")
    assert UNKNOWN not in Path(paths.runtime_file(host.state)).read_text(encoding="utf-8")


# The cooldown spaces blocks.


class Clock:
    """Stands in for the time that a hook waits; what is to happen meanwhile happens then."""

    def __init__(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        self.waits: list[float] = []
        self.meanwhile = meanwhile

    def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.meanwhile()


def stopped(host: Host, wait: Clock, **fields: Any) -> str:
    """The Stop hook in this process, at this moment, with another way to wait."""

    def handle(event: Event, world: hook.World) -> Answer:
        return stop.handle(event, world, wait=wait)

    raw = host.payload("Stop", stop_hook_active=True, **fields)
    answer = hook.answer("stop", handle, raw, host.environ, str(host.project), time.time())
    log = Path(paths.log_file(host.state))
    assert not log.exists(), log.read_text("utf-8")
    return answer.decode("utf-8")


@pytest.fixture
def blocked(host: Host) -> Host:
    """A run with the default cooldown that was sent back a moment ago."""
    host.environ.clear()
    host.prompt("ulw fix it")
    assert host.stop().blocks
    return host


def test_within_the_cooldown_the_rest_of_it_is_waited_for(blocked: Host) -> None:
    clock = Clock()
    assert '"block"' in stopped(blocked, clock)
    assert 0 < sum(clock.waits) <= 3
    first, second = [row["after"]["ulw"]["lastStopAt"] for row in blocked.events() if row["kind"] == "blocked"]
    assert second > first
    assert blocked.row()["ulw"]["stopBlocks"] == 2


@pytest.mark.parametrize(
    ("typed", "said", "kind"),
    [("stop ulw", "", "cancelled:cancel"), ("never mind", "ultrawork is paused", "allowed:waiting")],
)
def test_a_stop_that_is_typed_meanwhile_is_heard(blocked: Host, typed: str, said: str, kind: str) -> None:
    answer = stopped(blocked, Clock(lambda: blocked.prompt(typed)))
    assert (said in answer, bool(answer)) == (True, bool(said))
    assert blocked.kinds()[-1] == kind


def test_nobody_waits_where_the_turn_is_let_go_anyway(blocked: Host) -> None:
    clock = Clock()
    assert stopped(blocked, clock, permission_mode="plan") == ""
    assert clock.waits == []


def test_a_run_that_is_blocked_anew_while_a_hook_waits_is_waited_for_within_bounds(blocked: Host) -> None:
    """Another hook of the session is faster each time: this one gives up before the host does."""
    ahead = [0.0]

    def another_block() -> None:
        ahead[0] += 3
        blocked.last_block_was(-ahead[0], time.time())

    clock = Clock(another_block)
    assert "stays on" in stopped(blocked, clock)
    assert sum(clock.waits) <= LONGEST_WAIT
    assert states(blocked) == {"ulw": "active"}


def test_a_hook_waits_well_below_its_timeout() -> None:
    hooks = json.loads((Path(__file__).parents[2] / "hooks" / "hooks.json").read_text("utf-8"))["hooks"]
    assert hooks["Stop"][0]["hooks"][0]["timeout"] >= LONGEST_WAIT + 3


# A new ulw wakes what was let go.


@pytest.mark.parametrize(
    ("state", "arm"),
    [("ended", "ulw go on"), ("paused", "/omo:ulw"), ("waiting", "ulw go on")],
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_bare_arming_wakes_what_stood_still_and_names_it(host: Host, state: str, arm: str, kind: str) -> None:
    host.environ |= CLAUDE
    put(host, **{kind: summary(kind, state=state, why="w", question="", told=True, endedBy="cap")})
    answer = host.prompt(arm).json
    assert host.row()["work"][kind] == summary(kind), "its run, its counts and its next step are as they were"
    assert f"{kind} {kind}-1 (2 of 3 open)" in answer["systemMessage"]
    assert f"{kind} {kind}-1" in answer["hookSpecificOutput"]["additionalContext"]
    assert f"{kind}: 2 of 3 open" in host.stop().json["reason"]


@pytest.mark.parametrize("state", ["ended", "paused"])
def test_of_several_that_stand_still_the_newest_is_woken(host: Host, state: str) -> None:
    still = {"state": state, "why": "w", "question": "", "told": True, "endedBy": "cap"}
    put(host, **{kind: summary(kind, **still) for kind in KINDS})
    host.prompt("ulw go on")
    assert states(host) == {**dict.fromkeys(KINDS, "paused"), KINDS[-1]: "active"}


def test_ulw_with_a_task_wakes_nothing_that_the_user_paused(host: Host) -> None:
    put(host, laps=summary("laps"))
    host.prompt("stop")
    host.prompt("ulw fix total")
    assert states(host) == {"laps": "paused", "ulw": "active"}
    host.prompt("ulw and be quick, and go on with laps")
    assert states(host) == {"laps": "active", "ulw": "active"}


def test_an_arming_wakes_nothing_that_was_given_up_or_ended(host: Host) -> None:
    given_up = summary("laps", state="ended", why="w", question="What now?", told=True)
    put(host, laps=given_up, verify=summary("verify", state="ended", how="h", told=True))
    host.prompt("ulw go on")
    assert states(host) == {"laps": "ended", "verify": "ended", "ulw": "active"}


# A client that an agent started in its shell

AN_AGENTS_CLIENTS = [{"OMO_OUTER_SESSION": SESSION}, {"CODEX_THREAD_ID": "t1"}]
USERS_ALONE = ("/omo:stop-continuation", "stop ulw", "/omo:allow tests", "/omo:pin x -- true", "/omo:unpin tests")


@pytest.mark.parametrize("environ", AN_AGENTS_CLIENTS, ids=["the same host's", "another host's"])
def test_what_an_agent_types_into_another_client_is_nobodys_word(host: Host, environ: dict[str, str]) -> None:
    host.prompt("ulw fix it", env=CLAUDE)
    host.prompt("/omo:pin tests -- false", env=CLAUDE)
    before = host.row()
    for typed in (*USERS_ALONE, "/omo:budget off", "/omo:resume"):
        answer = host.prompt(typed, env={**CLAUDE, **environ})
        assert (answer.blocks, answer.situations) == (True, {"prompt-in-an-agents-shell"}), typed
        assert host.row() == before, typed
    for typed in ("never mind", "continue", "that is fine", "ulw and more", "/omo:laps fix it"):
        host.prompt(typed, env={**CLAUDE, **environ})
        assert host.row() == before, typed
    assert host.stop().blocks


def test_a_run_that_it_begins_there_is_the_agents(host: Host) -> None:
    answer = host.prompt("ulw fix it", env={**CLAUDE, "OMO_OUTER_SESSION": "another", "OMO_BUDGET_TOKENS": "9M"})
    assert answer.says_to_agent("prompt-turned-on")
    activated = host.events()[-1]
    assert (activated["actor"], activated["base"]["by"], host.row()["ulw"]["by"]) == ("agent", "agent", "agent")
    assert "budget" not in host.row()


def test_what_looks_is_answered_there_too(host: Host) -> None:
    assert "omo status" in host.prompt("/omo:status", env={**CLAUDE, "OMO_OUTER_SESSION": "another"}).json["reason"]


def test_a_client_on_the_agents_own_conversation_neither_holds_nor_ends_it(host: Host) -> None:
    host.prompt("ulw fix it", env=CLAUDE)
    before = host.row()
    itself = {**CLAUDE, "OMO_OUTER_SESSION": SESSION}
    host.send("SessionStart", source="resume", env=itself).assert_silent()
    host.send("Stop", stop_hook_active=False, env=itself).assert_silent()
    assert host.row() == before
    assert host.stop().blocks
