"""What `omo` commands in a transcript did to the session: never run, but taken over where their answer tells it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from omo.clock import stamp
from omo.errors import OmoError
from omo.replay.stage import Stage
from omo.shown import clip
from omo.state import runtime, store
from omo.ultrawork import gates, session, tool_gates
from omo.work import outcome

Row = dict[str, Any]

WORD = "by the transcript's word"
# Beyond what only a leader may call: commands that change what hooks read.
CHANGING = {
    **tool_gates.LEADERS,
    "gate": ("add", "run", "record"),
    "verify": ("add", "begin", "answer", "finish", "claim", "drop"),
    "stop-continuation": ("",),
}
RESULT = re.compile(r"^(pass|fail|unknown) +([\w.-]{1,60}) \((?:exit (-?\d{1,5}))?", re.MULTILINE)
PINNED = re.compile(r"^Gate ([\w.-]{1,60}) pinned by the agent: ", re.MULTILINE)
DONE = re.compile(r"^Done: (.{1,300}?)\. (?:The session may stop|Still open)", re.MULTILINE)


@dataclass(frozen=True)
class Effect:
    """A command of omo that the transcript shows, and whether its effect counts from here on."""

    command: str
    is_taken: bool
    note: str


def of_result(stage: Stage, command: str, answered: str, *, is_error: bool, now: float) -> list[Effect]:
    """What the commands in one shell call changed, by what was answered then."""
    found = []
    for words in tool_gates.omo_calls(command) if "omo" in command else []:
        group, verb = ([word for word in words if not word.startswith("-")] + ["", ""])[:2]
        if verb not in CHANGING.get(group, ()) and group != "stop-continuation":
            continue
        name = clip(f"omo {group} {verb}", 80).strip()
        take = TAKEN.get((group, verb))
        if take is None:
            if not is_error:
                found.append(Effect(name, False, "not carried out: what it changed is not known to this replay"))
            continue
        if effect := _take(take, stage, words, answered, now, name):
            found.append(effect)
    return found


def _take(
    take: Callable[[Stage, list[str], str, float], str],
    stage: Stage,
    words: list[str],
    answered: str,
    now: float,
    name: str,
) -> Effect | None:
    """None where the answer does not show that it succeeded."""
    try:
        told = take(stage, words, answered, now)
    except OmoError as error:
        return Effect(name, False, f"not carried out: {error.message}")
    return Effect(name, True, f"taken over {WORD}: {told}") if told else None


def _change(stage: Stage, now: float, change: Callable[[Row], Row], event: Row) -> bool:
    def decide(row: Row | None) -> runtime.Change:
        if row is None or not runtime.is_live(row):
            return runtime.Change(False)
        return runtime.Change(True, change(row), [event])

    return bool(runtime.change_session(stage.state, stage.session, decide, actor="agent", now=now, wait=store.CLI_WAIT))


def _done(stage: Stage, words: list[str], answered: str, now: float) -> str:
    found = DONE.search(answered)
    if not found:
        return ""
    how = clip(found[1], 300)
    ended_as = outcome.outcome(outcome.ATTESTED, f"{how}, {WORD}")
    event = {"kind": "done", "outcome": ended_as, "by": WORD}
    is_changed = _change(stage, now, lambda row: session.finish(row, ended_as, at=stamp(now)), event)
    return f"the run counts as ended ({how})" if is_changed else "nothing was on to be done"


def _blocked(stage: Stage, words: list[str], answered: str, now: float) -> str:
    state = next((one for one in ("waiting", "blocked") if f"Recorded as {one}." in answered), "")
    if not state:
        return ""
    why, question = _option(words, "--evidence"), _option(words, "--question")
    event = {"kind": state, "evidence": why, "by": WORD}
    is_changed = _change(stage, now, lambda row: session.suspend(row, state=state, why=why, question=question), event)
    return f"the run is {state}" if is_changed else "nothing was on to wait"


def _resumed(stage: Stage, words: list[str], answered: str, now: float) -> str:
    if "Ultrawork goes on." not in answered:
        return ""
    return "the run goes on" if _change(stage, now, session.resume, {"kind": "resumed"}) else "nothing waited"


def _started(stage: Stage, words: list[str], answered: str, now: float) -> str:
    if "Ultrawork is on in session" not in answered:
        return ""
    limits = stage.settings.limits

    def decide(row: Row | None) -> runtime.Change:
        armed = session.arm(row, by="agent", limits=limits, now=now)
        return runtime.Change(None, armed, [{"kind": "activated", "rule": "cli", "by": WORD}])

    runtime.change_session(stage.state, stage.session, decide, actor="agent", now=now, wait=store.CLI_WAIT)
    return "ultrawork is on"


def _gate_added(stage: Stage, words: list[str], answered: str, now: float) -> str:
    found = PINNED.search(answered)
    argv = words[words.index("--") + 1 :] if "--" in words else []
    if not found or not argv:
        return ""
    tree = f"{WORD}, {now}"
    gates.add(stage.state, stage.session, found[1], argv, by="agent", cwd=".", tree=tree, now=now, wait=store.CLI_WAIT)
    return f"gate {found[1]} is pinned; its command is not run"


def _gate_ran(stage: Stage, words: list[str], answered: str, now: float) -> str:
    """Each run stands for a tree of its own: whether files changed between two, a transcript does not say."""
    row = runtime.session(stage.state, stage.session)
    pinned = gates.current(stage.state, stage.session, row)
    results = [
        {"name": name, "result": said, "exit": int(code) if code else None, "tree": f"{WORD}, {now}", "by": WORD}
        for said, name, code in RESULT.findall(answered)
        if name in pinned
    ]
    if not results:
        return ""
    gates.record_results(stage.state, stage.session, results, actor="agent", now=now, wait=store.CLI_WAIT)
    return ", ".join(f"{one['name']} {one['result']}" for one in results)


def _gate_recorded(stage: Stage, words: list[str], answered: str, now: float) -> str:
    names = [word for word in words if not word.startswith("-")][2:3]
    if "its failure is recorded as pre-existing" not in answered or not names:
        return ""
    evidence = _option(words, "--evidence")
    gates.record_pre_existing(
        stage.state, stage.session, names[0], evidence, actor="agent", now=now, wait=store.CLI_WAIT
    )
    return f"the failure of {names[0]} is recorded"


def _option(words: list[str], name: str) -> str:
    for at, word in enumerate(words):
        if word.startswith(name + "="):
            return clip(word.partition("=")[2], 500)
        if word == name and at + 1 < len(words):
            return clip(words[at + 1], 500)
    return ""


TAKEN: dict[tuple[str, str], Callable[[Stage, list[str], str, float], str]] = {
    ("ulw", "done"): _done,
    ("ulw", "blocked"): _blocked,
    ("ulw", "resume"): _resumed,
    ("ulw", "start"): _started,
    ("gate", "add"): _gate_added,
    ("gate", "run"): _gate_ran,
    ("gate", "record"): _gate_recorded,
}
