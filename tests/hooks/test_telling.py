"""What the user is told when a run ends or waits: the exact sentence, once, and with which notification."""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from omo import settings
from omo.cli.main import main
from omo.clock import stamp
from omo.hooks import main as hook
from omo.hooks import messages
from omo.state import ledger, paths, runtime
from omo.state.rows import read_row
from omo.stop import sentences
from omo.work import outcome, session
from tests import texts
from tests.hooks.conftest import HANDLERS, ROOT, SESSION, Host
from tests.project import Stream

IN_PROCESS = True

NOW = 1_771_780_801.0
LIMITS = settings.Settings().limits
ARMED = session.arm(None, by="user", limits=LIMITS, now=NOW - 60)
RALPH_RUN = {"run": "r1771780801000-58268bca", "state": "active", "open": 1, "total": 3}
CLAUDE = {"CLAUDECODE": "1", "TERM_PROGRAM": "iTerm.app"}

Row = Any
Told = dict[str, Row]


@dataclass
class Desk:
    """One session's hooks, called in this process at a time the test names."""

    project: Path
    environ: dict[str, str] = field(default_factory=dict)
    now: float = NOW

    @property
    def state(self) -> str:
        return str(self.project / ".sisyphus" / "cc-omo")

    def send(self, name: str, **fields: Any) -> str:
        body = {"session_id": SESSION, "cwd": str(self.project), "hook_event_name": name, **fields}
        raw = json.dumps(body).encode()
        script, handle = HANDLERS[name]
        answer = hook.answer(script, handle, raw, self.environ, str(self.project), self.now)
        log = Path(paths.log_file(self.state))
        assert not log.exists(), log.read_text("utf-8")
        return answer.decode("utf-8")

    def stop(self, **fields: Any) -> Row:
        answer = self.send("Stop", **fields)
        return dict(json.loads(answer)) if answer else {}

    def says(self, **fields: Any) -> str:
        return str(self.stop(**fields).get("systemMessage", ""))

    def put(self, row: Row) -> None:
        change = runtime.Change(None, read_row(row), [{"kind": "put"}])
        runtime.change_session(self.state, SESSION, lambda _: change, actor="agent", now=self.now, wait=5)

    def row(self) -> Row:
        row = runtime.session(self.state, SESSION)
        assert row is not None
        return row

    def omo(self, *argv: str) -> None:
        assert main([*argv], {"HOME": "/nonexistent"}, str(self.project), self.now, has_terminal=True) == 0


def status(desk: Desk, *options: str) -> str:
    with contextlib.redirect_stdout(Stream()) as shown:
        desk.omo("status", *options)
    return shown.text


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / ".git").mkdir()
    return Desk(tmp_path)


def work(**kinds: Row) -> Row:
    return {**ARMED, "work": kinds}


def ulw(**changes: Any) -> Row:
    return {**ARMED, "ulw": {**ARMED["ulw"], **changes}}


def plan(**changes: Any) -> Row:
    return {"run": "g1771780801000", "state": "active", "open": 2, "total": 3, "next": "G002", **changes}


def waits(state: str, why: str, question: str = "", **more: Any) -> Row:
    stands = {"state": "waiting", "waitsFor": "outside"} if state == "blocked" else {"state": state}
    return {**stands, "why": why, "question": question, "told": False, **more}


AT = "2026-02-22T17:20:05.000Z"
LIMIT = "You've hit your limit · resets 11pm"
GIVEN_UP = "ralph run rows used its 5 iterations: 2 of 3 pass, C3 do not"
PASSED = "3 of 3 goals complete; omo:architect and omo:qa were seen to find each clean"
JUDGED = outcome.outcome(outcome.JUDGED, PASSED)
GATES = (
    "gate tests (pytest -q), pinned by the user, fails without the work "
    "(1 failed, 8 passed: tests/test_a.py::test_sum) and passes with it (9 passed)"
)
PROVEN = outcome.outcome(outcome.PROVEN, GATES)
SKIPPED = outcome.exception("gate docs was not run in this run", "agent", "only a comment changed")
BEFORE = "“no behaviour changed”; gate tests passes; it passes without the work too (9 passed here)"


def ended(verdict: str, why: str, *exceptions: Row) -> Row:
    return {"state": "ended", "outcome": outcome.outcome(verdict, why, exceptions)}


NO_CRITIQUE = outcome.exception("no clean critique of the plan", "agent", "it is a small plan")
RALPH_PASSED = "ralph run rows: 3 of 3 criteria pass, iteration 2; decided by omo:judge, which a hook saw"


def given_up() -> Row:
    over = waits("ended", GIVEN_UP, "What should change?")
    return {"run": "rows", **over, "outcome": outcome.outcome(outcome.ENDED, GIVEN_UP)}


NO_GATE_FAILS = "gate tests passes; it passes without the work too (9 passed here)"
AS_THEY_WERE = "on the files as they were at 17:20:05"
EVIDENCE: Told = {"end-report-shows-evidence": {}}
SEEN: Told = {"end-report-shows-what-was-seen": {}}
BY_ULW: Told = {"end-type-ulw": {}}
GOES_ON: Told = {"stop-goes-on-with-next-message": {}}

# What the user reads of each row, by the situations of tests/texts and what stands in their placeholders.
TOLD: dict[str, tuple[Row, Told]] = {
    "done": (
        session.finish(ARMED, PROVEN, at=AT, files={}),
        {"end-proven": {"evidence": f"{GATES}, {AS_THEY_WERE}"}, **EVIDENCE},
    ),
    "gates that passed before as well": (
        session.finish(ARMED, outcome.outcome(outcome.ATTESTED, BEFORE), at=AT, files={}),
        {"end-on-agents-word": {"evidence": f"{BEFORE}, {AS_THEY_WERE}"}, **SEEN},
    ),
    "files that cannot be looked at": (
        session.finish(ARMED, PROVEN, at=AT, files={"unknown": "git ls-files gave no answer in time"}),
        {
            "end-on-agents-word": {"evidence": GATES},
            "end-files-not-looked-at": {"why": "git ls-files gave no answer in time"},
            **SEEN,
        },
    ),
    "verification skipped": (
        session.finish(ARMED, outcome.outcome(outcome.WAIVED, NO_GATE_FAILS, [SKIPPED]), at="", files={}),
        {"end-exception-let-through": SKIPPED, "end-with-exceptions": {}, **SEEN},
    ),
    "ultragoal done": (
        work(ultragoal=plan(open=0, **ended(outcome.JUDGED, PASSED))),
        {"end-judged": {"evidence": f"ultragoal: {PASSED}"}, **EVIDENCE},
    ),
    "ultraplan that no critic saw": (
        work(
            ultraplan={
                "run": "search-1",
                **ended(
                    outcome.ATTESTED,
                    "plan session search-1: 5 steps pass the audit; its Verify commands were not run by omo",
                    NO_CRITIQUE,
                ),
            }
        ),
        {"end-exception-let-through": NO_CRITIQUE, **SEEN},
    ),
    "ralph done": (
        work(ralph={"run": "rows", **ended(outcome.JUDGED, RALPH_PASSED), "at": AT}),
        {"end-judged": {"evidence": f"{RALPH_PASSED}; {AS_THEY_WERE}"}, **EVIDENCE},
    ),
    "verify on the agent's own answers": (
        work(verify={"run": "docs", **ended(outcome.ATTESTED, "goal docs: closed on the agent's own answers")}),
        {"end-on-agents-word": {"evidence": "verify: goal docs: closed on the agent's own answers"}, **SEEN},
    ),
    "verify, your part left": (
        work(
            verify={
                "run": "docs",
                **ended(outcome.ENDED, "goal docs: the agent's leg is done; the user's is pending: read it"),
            }
        ),
        {"end-not-proven": {"why": "verify: goal docs: the agent's leg is done; the user's is pending: read it"}},
    ),
    "an agent's words, in which no verdict is searched": (
        work(verify={"run": "G1", **ended(outcome.PROVEN, "1 check passes; it expired: verification skipped")}),
        {"end-proven": {"evidence": "verify G1: 1 check passes; it expired: verification skipped"}, **EVIDENCE},
    ),
    "ended by you": (
        work(ralph={"run": "rows", **ended(outcome.ENDED, "ralph run rows was ended by the user: no longer wanted")}),
        {"end-not-proven": {"why": "ralph run rows was ended by the user: no longer wanted"}},
    ),
    "several at once": (
        {
            **ARMED,
            "work": {
                "ulw": {"state": "ended", "outcome": PROVEN, "at": AT},
                "ultragoal": plan(**ended(outcome.JUDGED, "3 of 3 goals complete")),
                "ralph": given_up(),
            },
        },
        {
            "end-not-proven": {
                "why": f"ultrawork: {GATES}, {AS_THEY_WERE}; ultragoal: 3 of 3 goals complete; "
                f"{GIVEN_UP}. What should change?"
            }
        },
    ),
    "taken over": (
        session.taken_up(read_row({**ulw(), "work": {"ultragoal": plan()}}), "5c1a"),
        {"end-taken-over": {"by": "5c1a", "run": "ultragoal g1771780801000"}},
    ),
    "capped": (ulw(stopBlocks=8), {"end-no-progress": {"blocks": 8}, **BY_ULW}),
    "ultragoal capped": (
        {**ulw(stopBlocks=8), "work": {"ultragoal": plan()}},
        {"end-no-progress": {"blocks": 8}, "end-open-work": {"work": "ultragoal (2 of 3 open)"}, **BY_ULW},
    ),
    "capped with nothing left but its end": (
        {**ulw(stopBlocks=8), "work": {"ultragoal": {**plan(), "open": 0}}},
        {"end-no-progress": {"blocks": 8}, "end-open-work": {"work": "ultragoal"}, **BY_ULW},
    ),
    "at its ceiling": (ulw(totalBlocks=64), {"end-block-ceiling": {"blocks": 64}, **BY_ULW}),
    "at its ceiling of hours": (
        ulw(armedAt=stamp(NOW - 9 * 3600)),
        {"end-hour-ceiling": {"hours": 8}, **BY_ULW},
    ),
    "unusable": (ulw(stopBlocks="many"), {"end-unusable-state": {}, **BY_ULW}),
    "the host's limit": (ARMED, {"stop-waits-host-limit": {"said": LIMIT}, **GOES_ON}),
    "a question": (
        session.suspend(ARMED, why="two keys exist", question="Which key may I use?"),
        {"stop-waits-for-you": {"work": "ultrawork", "why": "two keys exist. Which key may I use?"}},
    ),
    "blocked": (
        session.suspend(ARMED, whom="outside", why="the registry cannot be reached"),
        {"stop-is-blocked": {"work": "ultrawork", "why": "the registry cannot be reached"}, **GOES_ON},
    ),
    "a goal only you can move": (
        work(ultragoal=plan(**waits("blocked", "G002 waits for a person: a password", own=True))),
        {
            "stop-is-blocked": {"work": "ultragoal", "why": "G002 waits for a person: a password"},
            "stop-way-to-go-on": {"text": "continue"},
        },
    ),
    "a plan session that failed": (
        work(
            ultraplan={
                "run": "search-1",
                **waits("blocked", "plan session search-1 stopped at step 3: no index", "Report: report.md."),
            }
        ),
        {
            "stop-is-blocked": {
                "work": "ultraplan",
                "why": "plan session search-1 stopped at step 3: no index. Report: report.md",
            }
        },
    ),
    "a budget that is spent": (
        {**work(ultragoal=plan()), "budget": {"tokens": 2_000_000}, "spent": {"tokens": 2_040_000}},
        {
            "end-budget-over": {"spent": "2.04M of 2M tokens"},
            "end-open-work": {"work": "ultragoal (2 of 3 open)"},
            "budget-raise": {"command": "/omo:budget 4M tokens"},
        },
    ),
    "ralph without a pass": (
        work(ralph=given_up()),
        {"end-not-proven": {"why": f"{GIVEN_UP}. What should change?"}},
    ),
    "cancelled elsewhere": (
        session.cancel(
            {**ARMED, "work": {**ARMED["work"], "ultragoal": plan()}},
            reason=sentences.FROM_A_TERMINAL,
            now=NOW,
            shown=False,
        ),
        {"end-cancelled-elsewhere": {"work": "ultrawork, ultragoal (2 of 3 open)"}},
    ),
    "cancelled with more to do": (
        session.cancel(ARMED, reason="user: cancel", now=NOW, told=True, shown=False),
        {"end-cancelled-with-message": {"work": "ultrawork"}},
    ),
}
AT_THE_LIMIT = {"the host's limit": {"last_assistant_message": LIMIT}}


def is_told(said: str, name: str) -> bool:
    """Return whether a line tells all that TOLD has under this name."""
    return all(texts.says(said, situation, **values) for situation, values in TOLD[name][1].items())


@pytest.mark.parametrize("name", TOLD)
def test_the_user_is_told_in_one_sentence_and_once_with_a_notification(desk: Desk, name: str) -> None:
    row, told = TOLD[name]
    fields = AT_THE_LIMIT.get(name, {})
    desk.environ = CLAUDE
    desk.put(row)
    answer = desk.stop(**fields)
    said = answer["systemMessage"]
    assert is_told(said, name)
    assert set(answer) == {"systemMessage", "terminalSequence"}
    assert answer["terminalSequence"].startswith("\x1b]9;omo: " + said[5:25].replace(";", ","))
    over = [one for one in desk.row()["work"].values() if one.get("state") == "ended"]
    is_done = outcome.is_done(outcome.worst(outcome.of(one) for one in over))
    assert bool(told.keys() & {"end-proven", "end-judged"}) is is_done
    assert texts.says(said, "end-report-shows-evidence") is is_done
    assert desk.stop(**fields) == {}
    desk.now += 60
    # The limit ends with the first turn that it does not end.
    assert desk.stop(**{"last_assistant_message": "And again.", **fields}) == {}


def test_the_page_shows_nothing_that_is_not_said(desk: Desk, tmp_path: Path) -> None:
    said = set()
    for number, (name, (row, _)) in enumerate(TOLD.items()):
        (tmp_path / str(number) / ".git").mkdir(parents=True)
        other = Desk(tmp_path / str(number))
        other.put(row)
        said.add(other.says(**AT_THE_LIMIT.get(name, {})))
    desk.environ = CLAUDE
    said.add(json.loads(desk.send("UserPromptSubmit", prompt="what does ulw do?"))["systemMessage"])
    desk.put(ARMED)
    said.add(json.loads(desk.send("UserPromptSubmit", prompt="never mind"))["systemMessage"])
    said.add(messages.offer([("5c1a", read_row({"work": {"ultragoal": plan()}}))], 7200.0, "/omo:ultragoal brief.md"))
    page = (ROOT / "docs" / "telling.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\|.* \| (omo: .+) \|$", page, re.M)
    # Turns that end while the run stays on are compared where they are played.
    played = [text for text in shown if "stays on" not in text and not texts.says(text, NOT_IN_THE_LEDGER)]
    assert [text for text in played if text not in said] == []
    for words in outcome.OPENINGS.values():
        assert any(text.startswith(f"omo: {words}") for text in shown), words


# True whatever happened since.


FORGED = {"run": "u1", "state": "ended", "outcome": PROVEN, "total": 4, "told": False}
NOT_IN_THE_LEDGER = "end-ledger-says-otherwise"


def test_done_is_said_of_the_files_as_they_were_when_they_were_looked_at(desk: Desk) -> None:
    desk.send("UserPromptSubmit", prompt="ulw fix it")
    desk.omo("gate", "add", "check", "--session", SESSION, "--", "test", "!", "-e", "broken")
    desk.omo("gate", "run", "--session", SESSION)
    desk.omo("ulw", "done", "--because", "the value is new", "--session", SESSION)
    desk.now += 600
    assert "17:20:01" in desk.says()


@pytest.mark.parametrize("at", ["", "yesterday", "17:20:05", 7, "2026-13-45T99:99:99Z", {}])
def test_a_moment_that_is_none_is_not_said(desk: Desk, at: Any) -> None:
    desk.put(work(ulw={**FORGED, "at": at}))
    said = desk.says()
    assert texts.says(said, "end-proven", evidence=PROVEN["why"])
    assert texts.says(said, "end-report-shows-evidence")


def forge(desk: Desk, **kinds: Row) -> None:
    read = runtime.read(desk.state)
    read["sessions"][SESSION]["work"] = kinds
    Path(paths.runtime_file(desk.state)).write_text(runtime.render(read), encoding="utf-8")


def test_an_end_that_the_ledger_does_not_know_is_let_go_and_called_that(desk: Desk) -> None:
    desk.send("UserPromptSubmit", prompt="ulw fix it")
    forge(desk, ulw=FORGED)
    assert desk.stop(background_tasks=[{"type": "subagent", "status": "running"}]) == {}  # whose row makes nothing good
    said = desk.says()
    assert texts.says(said, NOT_IN_THE_LEDGER)
    assert f"| {said} |" in (ROOT / "docs" / "telling.md").read_text(encoding="utf-8")
    last = ledger.rows(paths.events_file(desk.state, SESSION))[-1]
    assert (last["kind"], last["rule"], last["unvouched"]) == ("allowed", "done", ["ulw"])
    assert desk.stop() == {}
    assert runtime.ledger_problems(desk.state, SESSION), "the Stop has not made it good"
    desk.send("UserPromptSubmit", prompt="ulw fix it now")
    assert runtime.ledger_problems(desk.state, SESSION) == []
    assert desk.stop()["decision"] == "block"


@pytest.mark.parametrize(("state", "word"), [("ended", "done"), ("paused", "paused")])
def test_no_word_of_the_users_is_made_by_hand_nor_that_they_were_told(desk: Desk, state: str, word: str) -> None:
    desk.send("UserPromptSubmit", prompt="ulw fix it")
    why = {"why": "you asked to stop for now", "told": True}
    forge(desk, ulw={**desk.row()["work"]["ulw"], "state": state, **why})
    for view in (status(desk), status(desk, "--all")):
        assert f"calls it {word}" in view
        assert ("you asked" in view, "by you" in view) == (False, False)
    assert texts.says(desk.says(), "end-ledger-says-otherwise-than", state=word)
    assert desk.stop() == {}
    (problem,) = runtime.ledger_problems(desk.state, SESSION)
    assert texts.says(problem, "ledger-state-says-otherwise", work="ultrawork", state=word)
    desk.send("UserPromptSubmit", prompt="ulw fix it now")
    assert desk.stop()["decision"] == "block"


def test_what_the_user_has_paused_or_cancelled_is_theirs(desk: Desk) -> None:
    desk.environ |= CLAUDE
    desk.put(work(ultraplan={"run": "rows", "state": "active"}))
    desk.send("UserPromptSubmit", prompt="stop")
    assert desk.says() == ""
    assert "ultraplan paused" in status(desk)
    desk.send("UserPromptSubmit", prompt="/omo:stop-continuation")
    desk.send("UserPromptSubmit", prompt="ulw something else")
    assert desk.row()["work"]["ultraplan"]["endedBy"] == "cancelled"
    assert desk.stop()["decision"] == "block"
    assert runtime.ledger_problems(desk.state, SESSION) == []
    assert "goes on" in json.loads(desk.send("UserPromptSubmit", prompt="continue ultraplan"))["systemMessage"]


def test_only_the_forged_one_of_two_ends_is_not_proven(desk: Desk) -> None:
    goals = plan(open=0, **ended(outcome.JUDGED, PASSED))
    desk.put(work(ultragoal=goals))
    forge(desk, ulw=FORGED, ultragoal=goals)
    said = desk.says()
    assert texts.says(said, "end-ledger-says-otherwise-of", work="ultrawork")
    assert "ultragoal: 3 of 3" in said


def test_a_session_that_lost_its_ledger_proves_nothing(desk: Desk) -> None:
    desk.put(session.finish(ARMED, PROVEN, at=AT, files={}))
    Path(paths.events_file(desk.state, SESSION)).unlink()
    assert texts.says(desk.says(), NOT_IN_THE_LEDGER)


def test_a_forged_end_keeps_nobody_from_a_real_one(desk: Desk) -> None:
    desk.send("UserPromptSubmit", prompt="ulw fix it")
    desk.omo("gate", "add", "check", "--session", SESSION, "--", "true")
    forge(desk, ulw={**desk.row()["work"]["ulw"], **FORGED, "run": desk.row()["work"]["ulw"]["run"]})
    desk.omo("gate", "run", "--session", SESSION)
    desk.omo("ulw", "done", "--because", "the value is new", "--session", SESSION)
    said = desk.says()
    assert texts.says(said, "end-on-agents-word")
    assert "17:20:01" in said
    assert runtime.ledger_problems(desk.state, SESSION) == []


def test_a_turn_that_ends_while_the_run_stays_on_is_told(desk: Desk) -> None:
    desk.put(ulw(lastStopAt=stamp(NOW - 1), limits={**LIMITS, "cooldown_seconds": 60}))
    said = desk.says(stop_hook_active=True)
    assert texts.says(said, "stop-stays-on-soon-again", seconds=60)
    assert f"| {said} |" in (ROOT / "docs" / "telling.md").read_text(encoding="utf-8")


# Never twice.


def test_a_stop_that_is_excused_uses_nothing_up(desk: Desk) -> None:
    """The turn ends because an agent will wake the session: what the user has to know is still to be told."""
    desk.put(session.suspend(ARMED, why="two keys exist", question="Which key?"))
    assert desk.stop(background_tasks=[{"type": "subagent", "status": "running"}]) == {}
    assert desk.stop(permission_mode="plan") == {}
    assert "Which key?" in desk.says()


def test_the_same_event_twice_at_the_last_block_is_one_block_and_no_release(desk: Desk) -> None:
    desk.put(ulw(stopBlocks=7))
    assert desk.stop(prompt_id="p")["decision"] == "block"
    assert desk.stop(prompt_id="p") == {}
    desk.now += 60
    assert texts.says(desk.says(stop_hook_active=True), "end-no-progress", blocks=8)


def test_what_was_told_is_not_told_again_at_the_end_of_another_run(desk: Desk) -> None:
    desk.put(work(ultragoal=plan(**ended(outcome.JUDGED, PASSED))))
    assert texts.says(desk.says(), "end-judged")
    desk.send("UserPromptSubmit", prompt="ulw fix the rest")
    desk.put(session.finish(desk.row(), PROVEN, at=AT, files={}))
    assert is_told(desk.says(), "done")


def test_a_summary_written_anew_is_the_same_end(desk: Desk) -> None:
    old = plan(told=True, **ended(outcome.JUDGED, PASSED))
    fresh = plan(**ended(outcome.JUDGED, f"{PASSED}, 1 reworded"))
    assert session.kept_state(work(ultragoal=old), "ultragoal", fresh) == {**fresh, "told": True}
    assert "told" not in session.kept_state(work(ultragoal=old), "ultragoal", plan(**{**fresh, "run": "g2"}))
    active = work(ultragoal=plan(**{**old, "state": "active"}))
    assert "told" not in session.kept_state(active, "ultragoal", fresh)


def test_what_waited_and_then_ended_is_told_twice_because_it_is_two_events(desk: Desk) -> None:
    desk.put(session.suspend(ARMED, why="two keys exist", question="Which?"))
    assert "Which?" in desk.says()
    desk.put(session.finish(desk.row(), PROVEN, at=AT, files={}))
    assert is_told(desk.says(), "done")


def test_two_hooks_at_once_say_it_once(host: Host) -> None:
    host.environ |= {"OMO_MAX_STOP_BLOCKS": "1", "OMO_COOLDOWN_SECONDS": "0.001"}
    host.prompt("ulw fix the tests")
    assert host.stop().blocks
    event = host.payload("Stop", stop_hook_active=True, last_assistant_message="Done.")
    started = [host.start("Stop", event) for _ in range(2)]
    said = [process.communicate(timeout=60)[0].decode() for process in started]
    assert sorted("1 block" in one for one in said) == [False, True]
    assert sorted(said)[0] == ""


# Cancelled.


def test_the_launcher_lets_the_stop_through_that_tells_of_a_cancel(desk: Desk) -> None:
    desk.send("UserPromptSubmit", prompt="ulw fix it")
    desk.omo("stop-continuation", "--all")
    assert texts.says(desk.send("UserPromptSubmit", prompt="and now?"), "prompt-cancelled-before", works="ultrawork")
    assert runtime.needs_hooks(desk.row())
    assert texts.says(desk.says(), "end-cancelled-elsewhere", work="ultrawork")
    assert not runtime.needs_hooks(desk.row())


def test_a_cancel_of_nothing_is_not_told_as_one(desk: Desk) -> None:
    desk.omo("stop-continuation", "--session", SESSION)
    assert desk.stop() == {}


def test_a_cancel_typed_is_answered_there_and_names_what_it_ended(desk: Desk) -> None:
    desk.put({**ARMED, "work": {**ARMED["work"], "ultragoal": plan()}})
    answer = json.loads(desk.send("UserPromptSubmit", prompt="stop ulw"))
    works = "ultrawork, ultragoal (2 of 3 open)"
    assert texts.says(answer["reason"], "prompt-cancelled-told", works="ultrawork")
    assert texts.says(answer["reason"], "prompt-cancelled-not-proven", works=works)
    assert desk.stop() == {}


def test_a_cancel_of_other_work_alone_speaks_of_no_ultrawork(desk: Desk) -> None:
    desk.put(work(ultragoal=plan()))
    told = json.loads(desk.send("UserPromptSubmit", prompt="/omo:stop-continuation"))["reason"]
    works = "ultragoal (2 of 3 open)"
    assert texts.says(told, "prompt-off-nothing-holds")
    assert texts.says(told, "prompt-cancelled-not-proven", works=works)
    assert "ultrawork" not in told


def test_a_cancel_of_what_a_breaker_let_go_does_not_say_that_nothing_was_on(desk: Desk) -> None:
    desk.put(work(ultragoal=plan(state="ended", endedBy="cap")))
    told = json.loads(desk.send("UserPromptSubmit", prompt="/omo:stop-continuation"))["reason"]
    works = "ultragoal (2 of 3 open)"
    assert texts.says(told, "prompt-off-nothing-holds")
    assert texts.says(told, "prompt-cancelled-not-proven", works=works)
    assert "ultrawork" not in told
    desk.now += 60
    again = json.loads(desk.send("UserPromptSubmit", prompt="/omo:stop-continuation"))["reason"]
    assert texts.situations(again) == {"prompt-nothing-to-cancel"}


def test_a_cancel_delivered_twice_is_answered_once(desk: Desk) -> None:
    desk.send("UserPromptSubmit", prompt="ulw fix it")
    assert json.loads(desk.send("UserPromptSubmit", prompt="stop ulw"))["reason"] == messages.CANCELLED
    assert desk.send("UserPromptSubmit", prompt="stop ulw") == ""
    desk.now += 60
    again = json.loads(desk.send("UserPromptSubmit", prompt="stop ulw"))["reason"]
    assert texts.situations(again) == {"prompt-nothing-to-cancel"}


def test_a_cancel_with_more_to_it_delivered_twice_is_told_once(desk: Desk) -> None:
    desk.send("UserPromptSubmit", prompt="ulw fix it")
    asked = "stop ulw and then show me the diff"
    context = desk.send("UserPromptSubmit", prompt=asked)
    assert texts.says(context, "prompt-cancelled", works="ultrawork")
    assert texts.says(context, "prompt-do-only-the-rest")
    assert desk.send("UserPromptSubmit", prompt=asked) == ""
    assert texts.says(desk.says(), "end-cancelled-with-message", work="ultrawork")
    assert desk.stop() == {}


def test_a_pause_is_confirmed(desk: Desk) -> None:
    desk.send("UserPromptSubmit", prompt="ulw fix it")
    desk.send("UserPromptSubmit", prompt="stop")
    said = desk.says()
    assert texts.says(said, "stop-one-paused-for-now", work="ultrawork")
    assert texts.says(said, "stop-way-to-go-on", text="continue")
    assert desk.stop() == {}


# Turned on by a command of the agent's.


@pytest.mark.parametrize("kind", ["ultragoal", "ultraplan", "ralph", "verify"])
def test_who_has_not_typed_ulw_reads_once_that_work_is_on(desk: Desk, kind: str) -> None:
    desk.environ = CLAUDE
    put = session.put_work(None, kind, plan(), limits=LIMITS, now=NOW)
    desk.put(put)
    told = json.loads(desk.send("PostToolUse"))
    assert set(told) == {"systemMessage"}
    assert texts.says(told["systemMessage"], "prompt-on", works=kind)
    assert desk.send("PostToolUse") == ""
    desk.send("UserPromptSubmit", prompt="stop")
    assert desk.send("PostToolUse") == ""
    desk.send("UserPromptSubmit", prompt="continue")
    assert desk.send("PostToolUse") == ""
    desk.put({**desk.row(), "work": {**desk.row()["work"], "ulw": {"state": "active"}}})
    assert texts.says(json.loads(desk.send("PostToolUse"))["systemMessage"], "prompt-on", works="ultrawork")


def test_nobody_is_told_of_work_in_a_subagent_or_by_a_host_that_shows_nothing(desk: Desk) -> None:
    desk.put(session.put_work(None, "ralph", plan(), limits=LIMITS, now=NOW))
    assert desk.send("PostToolUse") == ""
    desk.environ = CLAUDE
    assert desk.send("PostToolUse", agent_id="a1") == ""


def test_who_turned_it_on_is_not_told_again(desk: Desk) -> None:
    desk.environ = CLAUDE
    desk.send("UserPromptSubmit", prompt="ulw fix it")
    assert desk.send("PostToolUse") == ""


def test_an_answer_that_work_waited_for_is_told_to_set_it_going(desk: Desk) -> None:
    desk.environ = CLAUDE
    desk.put(work(ralph={**RALPH_RUN, **waits("waiting", "two keys exist", "Which key?")}))
    told = json.loads(desk.send("UserPromptSubmit", prompt="take the first key"))
    assert set(told) == {"systemMessage"}
    assert texts.says(told["systemMessage"], "prompt-answer-goes-on")
    assert texts.says(told["systemMessage"], "prompt-stop-continuation-ends")
    assert desk.send("UserPromptSubmit", prompt="and hurry") == ""


def test_a_yes_allows_nothing_and_the_line_that_does_is_named(desk: Desk) -> None:
    desk.environ = CLAUDE
    desk.put(work(ralph={**RALPH_RUN, **waits("waiting", "as asked", "/omo:allow tests/test_a.py?")}))
    told = json.loads(desk.send("UserPromptSubmit", prompt="yes"))["systemMessage"]
    assert texts.says(told, "prompt-answer-goes-on")
    assert texts.says(told, "prompt-allow-lets-it-through", command="/omo:allow tests/test_a.py")


# Coming back.


def test_who_resumes_a_session_reads_what_is_on(desk: Desk) -> None:
    desk.environ |= CLAUDE
    desk.put({**ARMED, "work": {"ultragoal": plan()}})
    answer = json.loads(desk.send("SessionStart", source="resume"))
    works = "ultragoal (2 of 3 open)"
    assert texts.says(answer["systemMessage"], "prompt-still-on-told", works=works)
    assert answer["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    context = answer["hookSpecificOutput"]["additionalContext"]
    assert texts.says(context, "prompt-still-on-in-this-session", work="ultragoal")


def test_who_resumes_a_session_that_waits_reads_for_what(desk: Desk) -> None:
    desk.environ |= CLAUDE
    desk.put(session.suspend(ARMED, why="two keys exist", question="Which key?"))
    desk.stop()
    answer = json.loads(desk.send("SessionStart", source="resume"))
    assert texts.says(answer["systemMessage"], "stop-waits-for-you", work="ultrawork")
    assert "Which key?" in answer["systemMessage"]


@pytest.mark.parametrize(
    ("state", "verb", "question"),
    [
        ("waiting", "wait for you", "Which key may I use?"),
        ("paused", "are paused", 'It goes on when you say "continue".'),
        ("blocked", "are blocked", "It goes on with your next message."),
    ],
)
def test_what_is_asked_of_two_at_once_is_asked_once(desk: Desk, state: str, verb: str, question: str) -> None:
    desk.environ |= CLAUDE
    both = work(ulw={"state": "active"}, ralph={"run": "rows", "state": "active"})
    asked = question if state == "waiting" else ""
    if state == "paused":
        desk.put(session.pause(both, why="two keys exist", told=False))
    else:
        whom: Any = "outside" if state == "blocked" else "user"
        desk.put(session.suspend(both, whom=whom, why="two keys exist", question=asked))
    told = f"omo: ultrawork and ralph rows {verb}: two keys exist. {question}"
    assert desk.says() == told
    assert json.loads(desk.send("SessionStart", source="resume"))["systemMessage"].startswith(told)
    alone = waits("waiting", "two keys exist", "Which may ralph use?", run="rows")
    desk.put({**both, "work": {**both["work"], "ulw": waits("waiting", "two keys exist", "Which?"), "ralph": alone}})
    said = desk.says()
    for named, question in (("ultrawork", "Which?"), ("ralph rows", alone["question"])):
        assert texts.says(said, "stop-waits-for-you", work=named)
        assert question in said


@pytest.mark.parametrize("name", ["done", "capped", "cancelled elsewhere", "ralph without a pass"])
def test_a_run_that_is_over_is_not_told_again_to_who_comes_back(desk: Desk, name: str) -> None:
    desk.environ |= CLAUDE
    desk.put(TOLD[name][0])
    assert desk.says()
    for source in ("resume", "compact", "clear"):
        assert not desk.send("SessionStart", source=source).startswith("{")


def test_a_compaction_tells_the_model_alone(desk: Desk) -> None:
    desk.environ |= CLAUDE
    desk.put(ARMED)
    before = desk.row()
    assert texts.says(desk.send("SessionStart", source="compact"), "prompt-still-on")
    assert desk.row() == before


# The notification.


@pytest.mark.parametrize(
    "environ",
    [{}, {**CLAUDE, "OMO_NOTIFY": "off"}, {**CLAUDE, "CLAUDE_PLUGIN_OPTION_NOTIFY": "off"}],
    ids=["another host", "switched off", "switched off as an option"],
)
def test_without_a_notification_the_message_stays(desk: Desk, environ: dict[str, str]) -> None:
    desk.environ = environ
    desk.put(ulw(stopBlocks=8))
    answer = desk.stop()
    assert set(answer) == {"systemMessage"}
    assert is_told(answer["systemMessage"], "capped")


def test_a_block_and_an_activation_notify_nobody(desk: Desk) -> None:
    desk.environ |= CLAUDE
    assert "\x1b" not in desk.send("UserPromptSubmit", prompt="ulw x")
    assert set(desk.stop()) == {"decision", "reason"}


def test_what_an_agent_wrote_is_cut_and_cannot_leave_the_sequence(desk: Desk) -> None:
    desk.environ |= CLAUDE
    evil = "a\x1b]0;owned\x07b\x9b31mc\u202ed;e\n" + "x" * 5000
    kinds = {kind: {"run": evil, **waits("blocked", evil, evil)} for kind in ("ultragoal", "ralph", "ultraplan", evil)}
    desk.put({**ARMED, "work": kinds})
    answer = desk.stop()
    assert len(answer["systemMessage"]) <= sentences.LONGEST_TOLD
    assert answer["systemMessage"].isprintable()
    inner = answer["terminalSequence"].removeprefix("\x1b]9;").removesuffix("\x1b\\")
    assert inner.isprintable()
    assert ";" not in inner
    assert len(inner) <= 120


# At activation.


def test_the_user_is_told_that_ultrawork_is_on_and_no_skill_asks_the_agent_to_say_so(desk: Desk) -> None:
    desk.environ = CLAUDE
    answer = json.loads(desk.send("UserPromptSubmit", prompt="ulw fix it"))
    assert texts.says(answer["systemMessage"], "prompt-on", works="ultrawork")
    assert sentences.STOP in answer["systemMessage"]
    assert "reply with" not in answer["hookSpecificOutput"]["additionalContext"]
    for skill in ROOT.glob("skills/*/SKILL.md"):
        text = " ".join(skill.read_text(encoding="utf-8").split())
        assert " is on: " not in text, skill
