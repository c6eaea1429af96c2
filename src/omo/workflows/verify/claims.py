"""Claims that code looks into: filed for a statement of a goal, word for word, and looked at again when it is said.

Some words keep a statement from being accepted until such a claim holds, or somebody let it stand with a reason.
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

from omo import table as workflows
from omo.errors import BadInput, NotEvaluable, Refused
from omo.json_text import Json
from omo.proof import globs
from omo.safe_open import read_start
from omo.state.journal import Journal
from omo.text import clip, counted
from omo.work.lifecycle import require_reason
from omo.work.run import Caller
from omo.work.sections import Table, table
from omo.workflows.verify import statements

CONNECT_SECONDS = 3.0
LARGEST_RECORDS = 64 * 1024 * 1024
ABSENT = object()


class ClaimLook(NamedTuple):
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


def look_at_claim(claim: Claim, root: str) -> ClaimLook:
    """What is there now."""
    if claim.kind == "service":
        return _connect(claim)
    if claim.kind == "count":
        return _count(claim, Path(root))
    if claim.kind == "absent":
        check: Json = {"type": "path", "path": claim.subject, "absent": True}
    else:
        pattern = re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", claim.text)
        lacks = claim.kind == "lacks"
        check = {"type": "content", "path": claim.subject, "regex": pattern, "absent": lacks, "any": not lacks}
    # The checks bring pydantic along, which showing recorded claims does not need.
    from omo.proof.checks import parse_checks
    from omo.proof.evaluate import CheckedTree, evaluate

    (observation,) = evaluate(parse_checks([check], "claim"), CheckedTree(Path(root))).checks
    return ClaimLook(observation.result, observation.reason, observation.observed)


def _connect(claim: Claim) -> ClaimLook:
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
        return ClaimLook("unknown", reason, clip(str(error) or type(error).__name__, 200))
    verdict = "pass" if is_up == claim.is_up else "fail"
    return ClaimLook(verdict, f"{claim.subject} {does} connections")


def _count(claim: Claim, root: Path) -> ClaimLook:
    try:
        files = globs.find_files(root, globs.normal(claim.subject)).paths
        count, what, saw = len(files), "files", ", ".join(files[:5])
        if claim.field:
            count, total = _count_records(claim, root, files)
            what, saw = "records", f"{total} records"
    except ValueError as error:
        raise BadInput(f"--of {claim.subject!r} {error}", fix="give a path or glob inside the project") from None
    except (NotEvaluable, OSError) as error:
        return ClaimLook("unknown", str(error))
    verdict = "pass" if count == claim.count else "fail"
    return ClaimLook(verdict, f"{count} {what} counted, {claim.count} claimed", saw)


def _count_records(claim: Claim, root: Path, files: list[str]) -> tuple[int, int]:
    """How many records of the JSON lines have the field, with that value if one is named; and how many there are."""
    total = present = matching = 0
    for name in files:
        text = read_start(root / name, LARGEST_RECORDS, follow_link=True)[0].decode("utf-8", "replace")
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
        # A misspelled field counts zero as well: nothing is shown by that. test_the_exit_code_is_what_code_saw in
        # tests/cli/test_verify_claim.py.
        raise NotEvaluable(f"none of the {total} records of {claim.subject} has a field {claim.field}")
    return matching, total


@dataclass(frozen=True)
class FiledClaim:
    """A claim as it was filed: for which statement, of which goal, by whom, and what code saw."""

    claim: Claim
    statement: str
    goal: str
    by: str
    ts: str
    seen: ClaimLook
    override: str

    def is_about(self, statement: str) -> bool:
        """Word for word, however it is wrapped."""
        return self.statement.split() == statement.split()

    def look_again(self, root: str) -> ClaimLook:
        """Files as they are now; a service was asked when filed, and what was let stand stands."""
        if self.override:
            return ClaimLook("pass", self.seen.reason)
        if self.claim.kind == "service":
            return self.seen
        return look_at_claim(self.claim, root)

    @property
    def let_stand(self) -> str:
        return f"{self.override} (by the {self.by}, against {self.seen.verdict}: {self.statement})"


def file_claim(caller: Caller, claim: Claim, statement: str, *, goal: str | None = None, override: str = "") -> Json:
    """Look at a claim and keep what was seen. `override` counts only where it does not hold."""
    if override:
        require_reason(override, "--override", "say why code is wrong about it")
    result = look_at_claim(claim, caller.root)
    about = asdict(claim)
    row = {"kind": "claim", "goal": goal, "claim": statement, "type": about.pop("kind"), "about": about}
    row |= {**result._asdict(), "override": None if result.verdict == "pass" else override or None}
    _journal(caller.state).change(lambda _: (None, [row]), actor=caller.by, now=caller.now, wait=caller.wait)
    return row


def recorded(state: str, *, goal: str | None = None, overridden: bool = False) -> list[FiledClaim]:
    """The claims of a project or of one goal, oldest first."""
    claims = []
    for row in _journal(state).rows():
        override = row.get("override") or ""
        if row.get("kind") != "claim" or goal not in (None, row.get("goal")) or (overridden and not override):
            continue
        seen = ClaimLook(row["verdict"], row["reason"], row.get("saw", ""))
        claim = Claim(row["type"], **row["about"])
        claims.append(FiledClaim(claim, row["claim"], row.get("goal") or "", row["actor"], row["ts"], seen, override))
    return claims


def _journal(state: str) -> Journal:
    return Journal(os.path.join(state, workflows.BY_KIND["verify"].claims), state)


def tables(state: str, goal: str) -> list[Table]:
    """Return the claims about a goal, for the report."""
    rows = []
    for claim in recorded(state, goal=goal):
        rows.append((claim.statement, claim.seen.verdict, claim.seen.reason, claim.override))
    return [table("Claims that were looked into", ("claim", "verdict", "why", "let stand because"), rows)]


def unsettled(caller: Caller, statement: str, *, goal: str, since: str) -> dict[str, str]:
    """What of a statement is still to be claimed: by trigger, its words and what the last claim filed for them saw."""
    still_open: dict[str, str] = {}
    called = statements.triggers(statement, caller.root)
    if not called:
        return still_open
    filed = [each for each in recorded(caller.state, goal=goal) if each.ts >= since and each.is_about(statement)]
    for name, words in called.items():
        settled_by = statements.TRIGGERS[name].settled_by
        answering = [each for each in filed if each.override or each.claim.kind in settled_by]
        result = ClaimLook("unknown", "no claim was filed for this statement")
        if answering:
            result = answering[-1].look_again(caller.root)
        if result.verdict != "pass":
            still_open[name] = f'"{words}" ({name}): {result.verdict}, {result.reason}'
    return still_open


def refused(what: str, goal: str, statement: str, still_open: dict[str, str]) -> Refused:
    example = statements.TRIGGERS[next(iter(still_open))].options
    return Refused(
        f"{what} claims what code has not seen: {clip(statement, 120)!r}",
        fix=f"omo verify claim {shlex.quote(statement)} --goal {goal} {example}; then the same again. If it does not "
        "hold, restate it; if code is wrong about it, add --override REASON to the claim (recorded and shown)",
        defects=list(still_open.values()),
    )
