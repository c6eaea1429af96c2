"""Claims: what a statement says of the project, filed as something that code looks at for itself.

Words of the table below in a statement keep its question open until a claim was filed for that statement and holds, or
somebody let it stand with a reason. Nobody hands evidence in.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from omo.errors import BadInput, NotEvaluable, Refused
from omo.proof import globs
from omo.state import paths
from omo.state.journal import Journal
from omo.text import clip, counted
from omo.work.lifecycle import require_reason
from omo.work.run import Caller
from omo.workflows.verify.statements import observed_in

Row = dict[str, Any]

CONNECT_SECONDS = 3.0
LARGEST_RECORDS = 64 * 1024 * 1024
ABSENT = object()


class Trigger(NamedTuple):
    """Words that call for a claim, and the kinds of claim that answer them."""

    words: tuple[str, ...]
    settled_by: tuple[str, ...]


# As they read once "n't" is " not", "%" is " percent" and a hyphen is a blank.
TRIGGERS = {
    "absence": Trigger(
        ("not exist", "no longer exist", "no longer exists", "no such", "not built", "not implemented", "not be done"),
        ("absent", "lacks", "count"),
    ),
    "service": Trigger(
        ("is down", "are down", "not responding", "not respond", "connection refused", "unreachable"),
        ("service",),
    ),
    "count": Trigger(
        ("0 records", "no records", "zero records", "percent have", "percent of", "missing field", "zero utilization"),
        ("count", "lacks"),
    ),
    "file state": Trigger(
        ("contains", "contain", "reflects", "reflect"),
        ("contains", "lacks", "count", "absent"),
    ),
}


class Look(NamedTuple):
    """What code saw of a claim: pass, fail or unknown."""

    verdict: str
    reason: str
    saw: str = ""


@dataclass(frozen=True)
class Claim:
    """`subject` is a path or glob of the project, or the HOST:PORT of a service."""

    kind: str
    subject: str
    text: str = ""
    count: int = 0
    field: str = ""
    value: str = ""
    is_up: bool = False

    @property
    def in_words(self) -> str:
        if self.kind == "absent":
            return f"{self.subject} is absent"
        if self.kind == "service":
            return f"{self.subject} is up" if self.is_up else f"{self.subject} is down"
        if self.kind != "count":
            return f"{self.subject} {self.kind} {self.text!r}"
        if not self.field:
            return f"there are {self.count} of {self.subject}"
        value = f" = {self.value}" if self.value else ""
        return f"{counted(self.count, 'record')} of {self.subject} with {self.field}{value}"


def look(claim: Claim, root: str) -> Look:
    """What is there now."""
    if claim.kind == "service":
        return _connect(claim)
    if claim.kind == "count":
        return _count(claim, Path(root))
    if claim.kind == "absent":
        check: Row = {"type": "path", "path": claim.subject, "absent": True}
    else:
        pattern = re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", claim.text)
        lacks = claim.kind == "lacks"
        check = {"type": "content", "path": claim.subject, "regex": pattern, "absent": lacks, "any": not lacks}
    # The checks bring pydantic along, which showing recorded claims does not need.
    from omo.proof.checks import parse_checks
    from omo.proof.evaluate import Tree, evaluate

    (observation,) = evaluate(parse_checks([check], "claim"), Tree(Path(root))).checks
    return Look(observation.result, observation.reason, observation.observed)


def _connect(claim: Claim) -> Look:
    """One TCP connection, closed at once. Only a refusal shows that nothing answers: silence may be the network."""
    host, _, port = claim.subject.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise BadInput(f"--service {claim.subject!r} is no address", fix="give HOST:PORT, such as localhost:5432")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_SECONDS).close()
        is_up, does = True, "accepts"
    except ConnectionRefusedError:
        is_up, does = False, "refuses"
    except (OSError, UnicodeError) as error:
        reason = f"{claim.subject} could not be reached from here, which shows neither up nor down"
        return Look("unknown", reason, clip(str(error) or type(error).__name__, 200))
    verdict = "pass" if is_up == claim.is_up else "fail"
    return Look(verdict, f"{claim.subject} {does} connections")


def _count(claim: Claim, root: Path) -> Look:
    try:
        files = globs.find_files(root, globs.normal(claim.subject)).paths
        count, what, saw = len(files), "files", ", ".join(files[:5])
        if claim.field:
            count, total = _count_records(claim, root, files)
            what, saw = "records", f"{total} records"
    except ValueError as error:
        raise BadInput(f"--of {claim.subject!r} {error}", fix="give a path or glob inside the project") from None
    except (NotEvaluable, OSError) as error:
        return Look("unknown", str(error))
    verdict = "pass" if count == claim.count else "fail"
    return Look(verdict, f"{count} {what} counted, {claim.count} claimed", saw)


def _count_records(claim: Claim, root: Path, files: list[str]) -> tuple[int, int]:
    """How many records of the JSON lines have the field, with that value if one is named; and how many there are."""
    total = present = matching = 0
    for name in files:
        text = (root / name).read_bytes()[:LARGEST_RECORDS].decode("utf-8", "replace")
        for number, line in enumerate(text.splitlines(), start=1):
            if not line.strip():
                continue
            try:
                value: Any = json.loads(line)
            except ValueError:
                raise NotEvaluable(f"{name} line {number} is no JSON") from None
            total += 1
            for part in claim.field.split("."):
                value = value[part] if isinstance(value, dict) and part in value else ABSENT
            if value is not ABSENT:
                present += 1
                matching += not claim.value or claim.value in (str(value), json.dumps(value))
    if not present:
        # A misspelled field counts zero as well: nothing is shown by that.
        raise NotEvaluable(f"none of the {total} records of {claim.subject} has a field {claim.field}")
    return matching, total


@dataclass(frozen=True)
class Unsettled:
    """Words of a statement that no claim answers, and what the last claim filed for them saw."""

    about: str
    words: str
    verdict: str
    reason: str

    @property
    def text(self) -> str:
        return f'"{self.words}" ({self.about}): {self.verdict}, {self.reason}'


def triggers(statement: str) -> dict[str, str]:
    """The first words of each class that call for a claim, by class."""
    text = observed_in(statement).lower()
    for written, plain in (("n't", " not"), ("cannot", "can not"), ("%", " percent"), ("-", " ")):
        text = text.replace(written, plain)
    text = " ".join(text.split())
    called = {}
    for name, trigger in TRIGGERS.items():
        for words in trigger.words:
            if name not in called and re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text):
                called[name] = words
    return called


def require_claims(caller: Caller, what: str, goal: str, statement: str, *, since: str) -> None:
    """Refused while words of the statement call for a claim that was not filed for it, or does not hold."""
    if still_open := unsettled(caller, statement, goal=goal, since=since):
        raise refused(what, goal, statement, still_open)


def unsettled(caller: Caller, statement: str, *, goal: str, since: str) -> list[Unsettled]:
    """What of a statement is still to be claimed. Files are looked at again, now; a service was asked when filed."""
    called = triggers(statement)
    if not called:
        return []
    filed = []
    for row in recorded(caller.state, goal=goal):
        if row["ts"] >= since and row["claim"].split() == statement.split():
            filed.append(row)
    still_open = []
    for name, words in called.items():
        answering = [row for row in filed if row.get("type") in TRIGGERS[name].settled_by or row["override"]]
        if not answering:
            still_open.append(Unsettled(name, words, "unknown", "no claim was filed for this statement"))
            continue
        last = answering[-1]
        if last["override"]:
            continue
        result = Look(last["verdict"], last["reason"])
        if last["type"] != "service":
            result = look(Claim(last["type"], **last["about"]), caller.root)
        if result.verdict != "pass":
            still_open.append(Unsettled(name, words, result.verdict, result.reason))
    return still_open


def refused(what: str, goal: str, statement: str, still_open: list[Unsettled]) -> Refused:
    options = {
        "absence": "--absent PATH, or --lacks TEXT --in PATH",
        "service": "--service HOST:PORT --is down",
        "count": "--count N --of GLOB [--field NAME --value V]",
        "file state": "--contains TEXT --in PATH",
    }
    example = options[still_open[0].about]
    return Refused(
        f"{what} claims what code has not seen: {clip(statement, 120)!r}",
        fix=f"omo verify claim {shlex.quote(statement)} --goal {goal} {example}; then the same again. If it does not "
        "hold, restate it; if code is wrong about it, --override REASON lets it stand (recorded and shown)",
        defects=[words.text for words in still_open],
    )


def checked_override(reason: str | None) -> str | None:
    if reason is None:
        return None
    return require_reason(reason, "--override", "say why code is wrong about it")


def file_claim(
    caller: Caller, claim: Claim, statement: str, *, goal: str | None = None, override: str | None = None
) -> Row:
    """Look at a claim and keep what was seen. `override` counts only where it does not hold."""
    result = look(claim, caller.root)
    about = asdict(claim)
    kind = about.pop("kind")
    if result.verdict == "pass":
        override = None
    row = _row(goal, statement, kind, about, result, override)
    _record(caller, [row])
    return row


def let_stand(caller: Caller, statement: str, still_open: list[Unsettled], *, goal: str, override: str) -> None:
    """A statement is accepted without a claim that holds: who did so, and why, is kept for every report."""
    rows = []
    for words in still_open:
        rows.append(_row(goal, statement, "", {}, Look(words.verdict, words.reason), override))
    _record(caller, rows)


def _row(goal: str | None, statement: str, kind: str, about: Row, result: Look, override: str | None) -> Row:
    return {
        "kind": "claim",
        "goal": goal,
        "claim": statement,
        "type": kind,
        "about": about,
        **result._asdict(),
        "override": override,
    }


def _record(caller: Caller, rows: list[Row]) -> None:
    _journal(caller.state).change(lambda _: (None, rows), actor=caller.by, now=caller.now, wait=caller.wait)


def recorded(state: str, *, goal: str | None = None, overridden: bool = False) -> list[Row]:
    """The claims of a project or of one goal, oldest first."""
    claims = []
    for row in _journal(state).rows():
        if row.get("kind") == "claim" and goal in (None, row.get("goal")) and (row.get("override") or not overridden):
            claims.append(row)
    return claims


def overrides(state: str, goal: str) -> list[str]:
    """What was let stand in the statements of a goal: in every report of it."""
    return [override_line(row) for row in recorded(state, goal=goal, overridden=True)]


def override_line(row: Row) -> str:
    return f"{row['override']} (by the {row['actor']}, against {row['verdict']}: {row['claim']})"


def _journal(state: str) -> Journal:
    return Journal(os.path.join(paths.verify_dir(state), "claims"), state)
