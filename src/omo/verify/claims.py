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
from omo.evidence import globs
from omo.evidence.checks import parse_checks
from omo.evidence.evaluate import EXIT_CODES, Finding, Tree, evaluate
from omo.shown import clip, counted
from omo.state import paths
from omo.state.journal import Journal
from omo.verify.statements import SHORTEST_REASON, observed_in

Row = dict[str, Any]

CONNECT_SECONDS = 3.0
LARGEST_RECORDS = 64 * 1024 * 1024
KINDS = ("absent", "contains", "lacks", "count", "service")


class Trigger(NamedTuple):
    """Words that call for a claim, and the kinds of claim that answer them."""

    words: tuple[str, ...]
    settled_by: tuple[str, ...]


# As they read once "n't" is " not", "%" is " percent" and a hyphen is a blank.
TRIGGERS = {
    "absence": Trigger(
        ("not exist", "no longer exists", "no such", "not built", "not implemented", "not be done", "not possible"),
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
            return f"{self.subject} is {'up' if self.is_up else 'down'}"
        if self.kind != "count":
            return f"{self.subject} {self.kind} {self.text!r}"
        if not self.field:
            return f"there are {self.count} of {self.subject}"
        value = f" = {self.value}" if self.value else ""
        return f"{counted(self.count, 'record')} of {self.subject} with {self.field}{value}"


def look(claim: Claim, root: str) -> Finding:
    """Pass, fail or unknown, from what is there now."""
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
    (observation,) = evaluate(parse_checks([check], "claim"), Tree(Path(root))).checks
    return Finding(observation.result, observation.reason, observation.observed)


def _connect(claim: Claim) -> Finding:
    """One TCP connection, closed at once. Only a refusal shows that nothing answers: silence may be the network."""
    host, _, port = claim.subject.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise BadInput(f"--service {claim.subject!r} is no address", fix="give HOST:PORT, such as localhost:5432")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_SECONDS).close()
    except ConnectionRefusedError:
        return Finding("fail" if claim.is_up else "pass", f"{claim.subject} refuses connections", "connection refused")
    except (OSError, UnicodeError) as error:
        reason = f"{claim.subject} could not be reached from here, which shows neither up nor down"
        return Finding("unknown", reason, clip(str(error) or type(error).__name__, 200))
    return Finding("pass" if claim.is_up else "fail", f"{claim.subject} accepts connections", "connected")


def _count(claim: Claim, root: Path) -> Finding:
    try:
        files = globs.find_files(root, globs.normal(claim.subject)).paths
        if not claim.field:
            seen = ", ".join(files[:5])
            counted_now, what = len(files), "files"
        else:
            counted_now, total = _count_records(claim, root, files)
            seen, what = f"{total} records", "records"
    except ValueError as error:
        raise BadInput(f"--of {claim.subject!r} {error}", fix="give a path or glob inside the project") from None
    except (NotEvaluable, OSError) as error:
        return Finding("unknown", str(error))
    result = "pass" if counted_now == claim.count else "fail"
    return Finding(result, f"{counted_now} {what} counted, {claim.count} claimed", seen)  # type: ignore[arg-type]


def _count_records(claim: Claim, root: Path, files: list[str]) -> tuple[int, int]:
    """How many records of the JSON lines have the field, with that value if one is named; and how many there are."""
    total = present = matching = 0
    for name in files:
        text = (root / name).read_bytes()[:LARGEST_RECORDS].decode("utf-8", "replace")
        for number, line in enumerate(text.splitlines(), start=1):
            if not line.strip():
                continue
            try:
                found: Any = json.loads(line)
            except ValueError:
                raise NotEvaluable(f"{name} line {number} is no JSON") from None
            total += 1
            for part in claim.field.split("."):
                found = found.get(part, _ABSENT) if isinstance(found, dict) else _ABSENT
            if found is not _ABSENT:
                present += 1
                matching += not claim.value or claim.value in (str(found), json.dumps(found))
    if not present:
        # A misspelled field counts zero as well: nothing is shown by that.
        raise NotEvaluable(f"none of the {total} records of {claim.subject} has a field {claim.field}")
    return matching, total


_ABSENT = object()


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


def unsettled(state: str, root: str, statement: str, *, goal: str, since: str) -> list[Unsettled]:
    """What of a statement is still to be claimed. Files are looked at again, now; a service was asked when filed."""
    called = triggers(statement)
    if not called:
        return []
    filed = []
    for row in recorded(state, goal=goal):
        if row["ts"] >= since and _same(row["claim"], statement):
            filed.append(row)
    open_words = []
    for name, words in called.items():
        answering = [row for row in filed if row.get("type") in TRIGGERS[name].settled_by or row["override"]]
        if not answering:
            open_words.append(Unsettled(name, words, "unknown", "no claim was filed for this statement"))
        elif not answering[-1]["override"]:
            last = answering[-1]
            verdict, reason = last["verdict"], last["reason"]
            if last["type"] != "service":
                verdict, reason = look(Claim(last["type"], **last["about"]), root)[:2]
            if verdict != "pass":
                open_words.append(Unsettled(name, words, verdict, reason))
    return open_words


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
        fix=f"omo verify claim {shlex.quote(statement)} --goal {goal} {example}; then the same again. If it "
        "fails, look again and restate it; if code is wrong about it, --override REASON lets it stand (recorded and shown)",
        defects=[words.text for words in still_open],
    )


def _same(first: str, second: str) -> bool:
    return first.split() == second.split()


def checked_override(reason: str | None) -> str | None:
    if reason is not None and len(reason.strip()) < SHORTEST_REASON:
        raise BadInput(
            f"--override {reason!r} explains nothing", fix=f"give a reason of {SHORTEST_REASON} characters or more"
        )
    return reason.strip() if reason else None


def row_of(claim: Claim, statement: str, finding: Finding, *, goal: str | None, override: str | None) -> Row:
    about = {key: value for key, value in asdict(claim).items() if key != "kind"}
    return {
        "kind": "claim",
        "goal": goal,
        "claim": statement,
        "type": claim.kind,
        "about": about,
        "verdict": finding.result,
        "reason": finding.reason,
        "saw": finding.observed,
        "override": override,
    }


def overridden_row(words: Unsettled, statement: str, *, goal: str, override: str) -> Row:
    """A statement that was let stand without a claim that holds."""
    return {
        "kind": "claim",
        "goal": goal,
        "claim": statement,
        "type": "",
        "about": {},
        "verdict": words.verdict,
        "reason": words.reason,
        "saw": "",
        "override": override,
    }


def record(state: str, rows: list[Row], *, actor: str, now: float, wait: float) -> None:
    """Keep what was claimed, what was seen and what was let stand, for every report that follows."""
    _journal(state).change(lambda _: (None, rows), actor=actor, now=now, wait=wait)


def recorded(state: str, *, goal: str | None = None, overridden: bool = False) -> list[Row]:
    """The claims of a project or of one goal, oldest first."""
    claims = []
    for row in _journal(state).rows():
        if row.get("kind") == "claim" and goal in (None, row.get("goal")) and (row.get("override") or not overridden):
            claims.append(row)
    return claims


def exit_code(finding: Finding) -> int:
    return EXIT_CODES[finding.result]


def _journal(state: str) -> Journal:
    return Journal(os.path.join(paths.verify_dir(state), "claims"), state)
