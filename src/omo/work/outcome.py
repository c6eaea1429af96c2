"""How work ended. The code that ends it writes this as a field; everybody who tells of the end reads it.

Only `proven` and `judged` are called done. What was let through is an exception: what, by whom, and why.
"""

from __future__ import annotations

from omo.state.rows import claimed
from omo.text import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

    from omo.state.rows import LetThrough, Outcome, TaskItem

PROVEN, JUDGED, ATTESTED, WAIVED, ENDED = VERDICTS = ("proven", "judged", "attested", "waived", "ended")  # best first
OPENINGS = {
    PROVEN: "done, proven",
    JUDGED: "done, judged",
    ATTESTED: "finished on the agent's word",
    WAIVED: "ended with exceptions",
    ENDED: "ended, not proven",
}
LONGEST = 500
MOST_EXCEPTIONS = 5
NOBODY = "nobody"  # let something through: it happened
ITS_LEDGER = "its ledger"
NO_TEST = "no test names it"
NOBODY_SAYS = "nothing says how it ended"


def outcome(verdict: str, why: str, exceptions: Iterable[LetThrough] = ()) -> Outcome:
    """Nothing is done, nor finished on a word alone, while something was let through."""
    let_through = list(exceptions)
    if let_through:
        verdict = _worse(verdict, WAIVED)
    return {"verdict": verdict, "why": why, "exceptions": let_through}


def finished(
    best: str,
    facts: Iterable[str],
    doubts: Collection[str] = (),
    exceptions: Iterable[LetThrough] = (),
    notes: Iterable[str] = (),
) -> Outcome:
    """Of what was finished: `best` where nothing speaks against that, else no more than the agent's word. `notes` lower
    nothing, and are said last."""
    return outcome(ATTESTED if doubts else best, "; ".join([*facts, *doubts, *notes]), exceptions)


def not_proven(why: str, exceptions: Iterable[LetThrough] = ()) -> Outcome:
    """Of what was not finished: cancelled, given up, used up, handed over."""
    return outcome(ENDED, why, exceptions)


def exception(what: str, by: str, why: str) -> LetThrough:
    return {"what": what, "by": by, "why": why}


def damaged(name: str, row: Mapping[str, object]) -> LetThrough:
    """Return what an end names of a ledger that was damaged meanwhile."""
    why = "nobody knows what the lost rows said"
    return exception(f"{name} was damaged after row {row.get('row')}", NOBODY, why)


def of(summary: Mapping[str, Any]) -> Outcome:
    """The outcome in a summary that anybody may have edited. What is no outcome, or what the ledger does not
    vouch for, proves nothing."""
    if summary.get("unvouched"):
        said = claimed(summary)
        return not_proven(f"the state calls it {said}, and the ledger does not: omo ledger verify tells more")
    stored = summary.get("outcome")
    if not isinstance(stored, dict) or stored.get("verdict") not in VERDICTS:
        return not_proven(NOBODY_SAYS)
    listed = stored.get("exceptions")
    exceptions: list[LetThrough] = []
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict):
            what, by, why = (str(each.get(key) or "?") for key in ("what", "by", "why"))
            exceptions.append(exception(what, by, why))
    ended = outcome(stored["verdict"], str(stored.get("why") or NOBODY_SAYS), exceptions)
    return with_items(ended, _items_in(stored))


def with_items(ended: Outcome, items: list[TaskItem]) -> Outcome:
    """Return the outcome with the items of a task that is a list, if there are any."""
    return {**ended, "items": items} if items else ended


def _items_in(stored: Mapping[str, Any]) -> list[TaskItem]:
    items: list[TaskItem] = []
    listed = stored.get("items")
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict) and isinstance(each.get("tests"), list):
            item: TaskItem = {"text": str(each.get("text")), "tests": [str(name) for name in each["tests"]]}
            if isinstance(each.get("more"), int):
                item["more"] = each["more"]
            if isinstance(each.get("unloaded"), str):
                item["unloaded"] = each["unloaded"]
            items.append(item)
    return items


def items_in_words(ended: Outcome) -> list[str]:
    """Return a line for each item of the task: which tests name it, by a word that they share."""
    lines = []
    for item in ended.get("items", []):
        named = ", ".join(clip(name, 120) for name in item["tests"])
        if item.get("more"):
            named += f" and {item['more']} more"
        if item.get("unloaded"):
            named = f"not known: {clip(item['unloaded'], 120)} could not be loaded without the work"
        lines.append(f"{clip(item['text'], 120)}: {named or NO_TEST}")
    return lines


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Several ends as one: the worst verdict, every exception, and what each of them says."""
    verdict, whys = PROVEN, []
    exceptions: list[LetThrough] = []
    items: list[TaskItem] = []
    for each in outcomes:
        verdict = _worse(verdict, each["verdict"])
        whys.append(each["why"])
        exceptions += each["exceptions"]
        items += each.get("items", [])
    if not whys:
        return not_proven(NOBODY_SAYS)
    return with_items(outcome(verdict, "; ".join(filter(None, dict.fromkeys(whys))), exceptions), items)


def is_worse(first: Outcome, second: Outcome) -> bool:
    return VERDICTS.index(first["verdict"]) > VERDICTS.index(second["verdict"])


def is_done(ended: Outcome) -> bool:
    return ended["verdict"] in (PROVEN, JUDGED)


def in_words(ended: Outcome) -> str:
    """The one sentence that tells how work ended, without its full stop."""
    return f"{OPENINGS[ended['verdict']]}: {facts_in_words(ended)}"


def facts_in_words(ended: Outcome) -> str:
    """What follows the opening: first what was let through, then what was seen."""
    parts = [exception_in_words(each) for each in ended["exceptions"][:MOST_EXCEPTIONS]]
    if len(ended["exceptions"]) > MOST_EXCEPTIONS:
        parts.append(f"{len(ended['exceptions']) - MOST_EXCEPTIONS} more exceptions")
    if ended["why"]:
        parts.append(clip(ended["why"], LONGEST))
    return "; ".join(parts).rstrip(". ")


def beside(failing: list[str], not_run: list[str]) -> Outcome:
    """The part in an end of gates that were pinned beside the work and do not pass, or were not run."""
    exceptions = []
    for what, names in (("not passing", failing), ("not run", not_run)):
        if names:
            noun = "gate" if len(names) == 1 else "gates"
            named = f"{what} beside it: {noun} {clip(', '.join(names), 120)}"
            exceptions.append(exception(named, "agent", "the work was ended without it"))
    return outcome(WAIVED, "", exceptions)


def exception_in_words(let_through: LetThrough) -> str:
    what, by, why = (clip(let_through[key], 200) for key in ("what", "by", "why"))
    return f"{what} ({why})" if by == NOBODY else f"{what} (let through by the {by}: {why})"


def _worse(first: str, second: str) -> str:
    return max(first, second, key=VERDICTS.index)
