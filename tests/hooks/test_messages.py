"""Every message to a person, by a table: its commands whole and real, times of their clock, nothing but what they can
read. Each is made twice: of work as it usually is, and of work with texts far too long."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from omo import settings
from omo.clock import stamp
from omo.errors import Unwritable
from omo.hooks import messages
from omo.hosts import Answer
from omo.proof.base import Since
from omo.state.rows import EMPTY
from omo.stop import rules, sentences
from omo.work import outcome, session, times
from tests.hooks.conftest import ROOT
from tests.named_commands import parser_at

NOW = 1_771_780_801.0
LIMITS = settings.Settings().limits
SKILLS = {path.parent.name for path in ROOT.glob("skills/*/SKILL.md")}
SNAPSHOTS = sorted((ROOT / "tests" / "report" / "snapshots").glob("*.txt"))
COMMAND = "omo ultragoal checkpoint --goal-id G002 --status blocked --evidence TEXT"
LONG = "it goes on and on " * 120

Row = Any


class Material:
    """What messages are made of."""

    def __init__(self, *, is_long: bool) -> None:
        self.text = LONG if is_long else "two keys exist"
        self.pin = f"omo gate add tests -- {'x' * 2000 if is_long else 'make test'}"
        run = "r" * 300 if is_long else "g1771780801000"
        kinds = ("ultragoal", "ultraplan", "verify") if is_long else ("ultragoal",)
        summary: Row = {"run": run, "state": "active", "open": 2, "total": 3, "next": f"mend it: {COMMAND}"}
        self.work = [("ulw", {"state": "active", "open": 1, "total": 1}), *((kind, summary) for kind in kinds)]
        self.row: Row = {**session.arm(None, by="user", limits=LIMITS, now=NOW), "work": dict(self.work)}

    @property
    def spent(self) -> Row:
        return {**self.row, "budget": {"agents": 2}, "spent": {"agents": 2}}

    def changed(self, **changes: Any) -> Row:
        return {**self.row, "work": {kind: {**summary, **changes} for kind, summary in self.work}}

    def waits(self, state: str, question: str) -> Row:
        return self.changed(state=state, why=self.text, question=question, told=False)

    def ended(self, verdict: str) -> str:
        let_through = [outcome.exception(self.text, "agent", self.text)] if verdict == outcome.WAIVED else []
        over = self.changed(state="ended", outcome=outcome.outcome(verdict, self.text, let_through), at=stamp(NOW))
        return sentences.release(rules.DONE, over, over, LIMITS)

    def let_go(self, rule: rules.Rule) -> str:
        after = session.exhaust(self.row, rule=rule.name, why=rule.cause(self.row, LIMITS))
        return sentences.release(rule, self.row, after, LIMITS)

    def released(self, rule: str, row: Row) -> str:
        return sentences.release(rules.BY_NAME[rule], row, row, LIMITS)


ENDED = outcome.outcome(outcome.ENDED, "8 blocks without verified progress")
AFTER_AN_END: list[tuple[str, Row]] = [
    ("ulw", {"changed": ["calc.py", *"abcd"]}),
    ("verify", {"run": "G1", "changed": ["calc.py"]}),
]


def line(answer: Answer) -> str:
    return answer.message or answer.reason


TABLE: dict[str, Callable[[Material], str]] = {
    "on": lambda m: line(messages.turned_on("", [], EMPTY, [m.text])),
    "on, and others go on": lambda m: line(messages.turned_on("", m.work, EMPTY, [m.text])),
    "on by a command of the agent's": lambda m: line(messages.begun(m.work)),
    "not turned on": lambda m: messages.not_turned_on(m.text[:100]),
    "on by its command": lambda m: line(messages.typed("verify", m.work, [], m.work[1:2], was_cancelled=True)),
    "on by its command after a cancel": lambda m: line(messages.typed("verify", [], [], [], was_cancelled=True)),
    "on by its command for something else": lambda m: line(
        messages.typed("verify", [], m.work[1:2], m.work[:1], was_cancelled=True)
    ),
    "on by its command in place of another": lambda m: line(
        messages.typed("verify", [], [], m.work[1:2], was_cancelled=False)
    ),
    "named in words": lambda m: messages.begun_by_its_command("verify"),
    "to be begun": lambda m: sentences.to_be_begun("verify"),
    "not begun": lambda m: m.released("not-begun", {**EMPTY, "asked": "verify"}),
    "no plan yet": lambda m: m.released("not-begun", {**EMPTY, "asked": "ultraplan"}),
    "could not be turned on": lambda m: line(messages.could_not_turn_on(m.text)),
    "could not be turned on, and what mends it": lambda m: line(messages.could_not_turn_on(m.text, fix=m.text)),
    "paused": lambda m: line(messages.paused(m.work)),
    "not wanted before it was begun": lambda m: line(messages.not_wanted("verify")),
    "continued": lambda m: line(messages.goes_on("understood as continue", m.work)),
    "continued, and spent": lambda m: messages.needs_budget(m.spent),
    "answered after an end": lambda m: line(messages.answered_end(m.work[1:2])),
    "off": lambda m: line(messages.cancel_answer(m.row, was_on=True, passes_on=False)),
    "off, at work": lambda m: line(messages.cancel_answer(m.row, was_on=True, passes_on=True)) + " " + messages.ESC,
    "off, to the model": lambda m: messages.of_cancelled(
        messages.WAS_CANCELLED, session.cancel(m.row, reason="user", now=NOW)
    ),
    "off, and the user says continue": lambda m: messages.STAYS_OFF,
    "answered, at work": lambda m: line(messages.answered_at_work("omo: gate tests is gone")),
    "answered, at rest": lambda m: "omo: gate tests is gone" + messages.at_rest(m.row),
    "off already": lambda m: line(messages.cancel_answer(m.row, was_on=False, passes_on=False)),
    "off in another terminal": lambda m: sentences.cancelled(
        session.cancel(m.row, reason=sentences.FROM_A_TERMINAL, now=NOW)
    ),
    "still on": lambda m: messages.still_on(m.row),
    "taken up": lambda m: line(messages.resumed(m.work, "5c1a", [m.pin])),
    "taken up, to the model": lambda m: messages.resumed(m.work, "5c1a", None).context,
    "taken up, and spent": lambda m: messages.needs_budget(m.spent, "5c1a"),
    "goes on": lambda m: line(messages.resumed(m.work, "", None)),
    "ended in another conversation": lambda m: sentences.release(
        rules.DONE, EMPTY, m.changed(state="ended", outcome=ENDED), LIMITS, messages.elsewhere("5c1a", 7200.0)
    ),
    "left open": lambda m: messages.offer([("5c1a", m.row)] * 3, 7200.0, m.text),
    "still waiting": lambda m: messages.still_on(m.waits("waiting", m.text)),
    "waits, and names a command": lambda m: m.released("waiting", m.waits("waiting", f"Mend it: {COMMAND}.")),
    "waits for an answer": lambda m: m.released("waiting", m.waits("waiting", m.text)),
    **{f"ended {verdict}": lambda m, verdict=verdict: m.ended(verdict) for verdict in outcome.VERDICTS},  # type: ignore[misc]
    **{f"let go by {rule.name}": lambda m, rule=rule: m.let_go(rule) for rule in rules.RULES if rule.ends_run},  # type: ignore[misc]
    "stays on in a cooldown": lambda m: m.released("cooldown", m.row),
    "stays on beside another loop": lambda m: sentences.release(
        rules.BY_NAME["other-loop"],
        m.row,
        session.note(m.row, {"otherLoop": {"name": "/goal", "about": m.text, "ends": "x"}}),
        LIMITS,
    ),
    "stays on after a message": lambda m: m.released(
        "message-quoted", session.quote_message(session.note_message(m.row, m.text, now=NOW), now=NOW, fingerprint="")
    ),
    "a budget": lambda m: "omo: " + messages.budget_set(m.row),
    "a budget for later": lambda m: "omo: " + messages.budget_set({**EMPTY, "budget": {"agents": 2}}),
    "no budget": lambda m: "omo: " + messages.budget_set(EMPTY),
    "a budget is raised": lambda m: line(
        messages.goes_on("the user set the budget anew", m.work, messages.budget_set(m.row))
    ),
    "a block": lambda m: sentences.reason_to_go_on(m.row, m.work, 8),
    "a block after a refusal": lambda m: sentences.reason_to_go_on(
        session.note(m.row, {"refused": {"calls": [m.text], "rules": []}}), m.work, 8
    ),
    "waits for a permission": lambda m: m.released(
        "refused", m.waits("waiting", sentences.way_to_allow({"calls": [m.text], "rules": ["Bash(make *)"]}))
    ),
    "what was refused": lambda m: sentences.refused({"calls": [m.text[:100]], "rules": []}),
    "a second block": lambda m: sentences.reason_to_go_on(session.note(m.row, {"stopBlocks": 2}), m.work, 8),
    "a block of other work": lambda m: sentences.reason_to_go_on(m.row, m.work[1:], 8),
    "a block after an end": lambda m: sentences.reason_to_go_on(m.row, AFTER_AN_END, 8),
    "an end, and files changed": lambda m: sentences.files_changed([m.text] * 5),
    "an end, and files unknown": lambda m: sentences.doubt(Since([], m.text[:100])),
    "a block with your words": lambda m: sentences.reason_to_go_on(m.row, m.work, 8, m.text),
    "after a compaction": lambda m: messages.where_things_stand(m.row),
    "a block without gates": lambda m: sentences.reason_to_go_on(m.row, [("ulw", {"next": m.pin})], 8),
    "the instructions": lambda m: messages.instructions([m.pin, "(pinned already: tests: make test)"]),
    "pins kept": lambda m: messages.pins_kept([f"tests: {m.text}", "lint: ruff check"]),
    "state gone": lambda m: messages.state_removed("/home/me/shop/.sisyphus/cc-omo", m.text),
    "state unreadable": lambda m: sentences.unreadable(m.text, "runtime.local.json.corrupt-1"),
    "hooks did not run": lambda m: messages.hooks_did_not_run(0.0, 3600.0, 7200.0, is_elsewhere=True),
    "disk full": lambda m: messages.not_held(Unwritable(m.text, fix=m.text), is_prompt=False),
    "disk full, of a prompt": lambda m: messages.not_held(OSError(m.text), is_prompt=True),
}


def commands_in(text: str) -> list[list[str]]:
    """What begins with omo and a word of its own, up to where a sentence goes on."""
    found = re.findall(r"(?<![\w/:-])(?<!but )omo ([a-z][a-z-]*(?: (?:[a-z][a-z-]*|--[a-z-]+|[A-Z]\w*|--))*)", text)
    return [words.split() for words in found]


def check(text: str, *, whole: bool) -> None:
    assert len(text) <= messages.LONGEST_INSTRUCTIONS
    assert not re.search(r"\bUTC\b|\d\dT\d\d:", text), "a machine's time"
    assert not re.search(r"omo ledger (show|rows)|\.jsonl", text), "a machine's rows"
    for name in re.findall(r"/omo:([\w-]*…?)", text):
        assert name in SKILLS
    for words in commands_in(text):
        parser_at(words[:2] if len(words) > 1 else words)
    assert not re.search(r"omo [^.;:,\"]*…", text), "a command that is cut"
    if whole:
        assert "…" not in text


def test_the_table_has_every_message() -> None:
    used = Path(__file__).read_text(encoding="utf-8")
    of_those_in_the_table = {
        *("what_is_open", "whole_outcome", "given_up", "state_was_removed", "says_so_again", "what_waits"),
        *("in_one_message", "cancelled_work", "what_is_on", "work_names"),
        *("as_sentence", "allowing", "to_allow", "way_back", "gives_way"),
        *("not_begun", "stopped_again", "other_loop", "changed_no_file", "ceiling"),  # by the rule that says them
    }
    says_so = [rule.name for rule in rules.RULES if rule.says.__module__ == sentences.__name__]
    assert [name for name in says_so if f'"{name}"' not in used] == []
    assert len(says_so) == 4
    for module in (messages, sentences):
        functions = [name for name, value in vars(module).items() if isinstance(value, FunctionType)]
        own = [name for name in functions if vars(module)[name].__module__ == module.__name__]
        public = [name for name in own if not name.startswith("_") and name not in of_those_in_the_table]
        short = module.__name__.rpartition(".")[2]
        assert [name for name in public if f"{short}.{name}(" not in used] == []


@pytest.mark.parametrize("name", TABLE)
def test_a_message_of_work_as_it_usually_is_is_whole(name: str) -> None:
    check(TABLE[name](Material(is_long=False)), whole=True)


@pytest.mark.parametrize("name", TABLE)
def test_of_a_message_that_would_be_too_long_no_command_is_cut(name: str) -> None:
    text = TABLE[name](Material(is_long=True))
    check(text, whole=False)
    assert not re.search(r"omo ultragoal checkpoint(?! (--goal-id G002 --status blocked|--status))", text)


@pytest.mark.parametrize("path", SNAPSHOTS, ids=lambda path: path.stem)
def test_a_view_for_people_names_whole_commands_and_no_machines_time(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\bUTC\b|\d\dT\d\d:", text)
    for shown in re.findall(r"^ +(?:command +|\$ )(.+)$", text, re.M):
        assert "…" not in shown


def test_a_time_is_that_of_the_readers_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "JST-9")
    time.tzset()
    try:
        assert times.moment("2026-02-22T17:20:05.000Z") == "2026-02-23 02:20:05 JST"
        assert " at 02:20:01. " in Material(is_long=False).ended(outcome.PROVEN)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert times.clock("2026-02-22T17:20:05.000Z") == "17:20:05"
    assert times.moment("yesterday") == "yesterday"
