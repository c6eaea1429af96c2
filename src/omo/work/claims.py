"""A claim that is handed on is a claim that was looked at: claims that code looks into, and statements held to them.

Some words in a statement keep it from being accepted until a claim was filed for exactly that statement and holds, or
somebody let it stand with a reason. What it cites must be there, and a pinned command that it cites is run.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from omo.errors import BadInput, NotEvaluable, Refused
from omo.proof import changes, globs, outputs
from omo.proof.run import run
from omo.safe_open import read_start
from omo.state import paths
from omo.state.journal import Journal
from omo.text import clip, counted
from omo.work import statements
from omo.work.lifecycle import require_reason
from omo.work.run import Caller

Row = dict[str, Any]

CONNECT_SECONDS = 3.0
LARGEST_RECORDS = 64 * 1024 * 1024
ABSENT = object()


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
        # A misspelled field counts zero as well: nothing is shown by that.
        raise NotEvaluable(f"none of the {total} records of {claim.subject} has a field {claim.field}")
    return matching, total


class Pinned(NamedTuple):
    """A command that may be run, and what it has to exit with."""

    argv: Sequence[str]
    cwd: str
    exit: int
    timeout: float


def require_statement(
    caller: Caller, what: str, text: str, *, goal: str = "", since: str = "", commands: Iterable[Pinned] = ()
) -> list[str]:
    """Refused where a text that is handed on hedges, cites what is not there, or claims what code has not seen.

    Returns what it cites that nobody looked at: commands that nobody pinned, addresses. What the user says is theirs.
    """
    if caller.by == "user":
        return []
    if defects := statements.hedges(text):
        raise Refused(f"{what} hedges: {clip(text, 80)!r}", fix="say what you saw, and nothing else", defects=defects)
    unseen = require_cited(caller, what, [text], commands)
    if still_open := unsettled(caller, text, goal=goal, since=since):
        raise refused(what, goal, text, still_open)
    return unseen


def require_cited(caller: Caller, what: str, texts: Iterable[str], commands: Iterable[Pinned]) -> list[str]:
    """Refused where a path or commit they name is not there, or a pinned command does not end as they say.

    A command that several of them name is run once.
    """
    pinned = {tuple(command.argv): command for command in commands}
    cited_in_all: dict[statements.Citation, None] = {}
    for text in texts:
        cited_in_all.update(dict.fromkeys(statements.citations(text, caller.root)))
    defects, unseen = [], []
    for citation in cited_in_all:
        cited = clip(citation.text, 120)
        if citation.kind == "path":
            if not citation.is_said_absent and not statements.is_there(caller.root, citation.text):
                defects.append(f"{cited} is cited, and is not there")
        elif citation.kind == "commit":
            if changes.commit_of(Path(caller.root), citation.text) is None:
                defects.append(f"{cited} is cited, and no commit of that name is there")
        else:
            command = None
            if citation.kind == "command":
                command = pinned.get(tuple(shlex.split(citation.text)))
            if command is None:
                unseen.append(cited)
            elif problem := _run_cited(caller, command, citation.exits):
                defects.append(f"`{cited}` is cited, and was run: {problem}")
    if defects:
        raise Refused(f"{what} cites what is not so: {defects[0]}", fix="look again, and restate it", defects=defects)
    return unseen


def _run_cited(caller: Caller, command: Pinned, exits: int | None) -> str:
    """What is not as it was said; empty where it is."""
    where = globs.directory_inside(Path(caller.root), command.cwd)
    ran = run(command.argv, cwd=where, timeout=command.timeout)
    wanted = command.exit if exits is None else exits
    result, why = outputs.result_of(ran)
    if result == "unknown":
        return why
    if ran.exit_code == wanted:
        return ""
    lines = (ran.stdout + ran.stderr).strip().splitlines()
    last = f", {clip(lines[-1], 120)}" if lines else ""
    return f"exit {ran.exit_code}, not {wanted}{last}"


def unsettled(caller: Caller, statement: str, *, goal: str, since: str) -> dict[str, str]:
    """What of a statement is still to be claimed: by trigger, its words and what the last claim filed for them saw.

    Files are looked at again, now; a service was asked when filed. The end of a goal names what was let stand in it,
    whoever did so; elsewhere only the user lets something stand.
    """
    called = statements.triggers(statement, caller.root)
    if not called:
        return {}
    filed = []
    for row in recorded(caller.state):
        is_its_own = (row.get("goal") or "") == goal and row["ts"] >= since
        if is_its_own and is_about(row, statement):
            may_let_stand = bool(goal) or row["actor"] == "user"
            filed.append(row if may_let_stand else {**row, "override": None})
    still_open = {}
    for name, words in called.items():
        settled_by = statements.TRIGGERS[name].settled_by
        answering = [row for row in filed if row["type"] in settled_by or row["override"]]
        result = Look("unknown", "no claim was filed for this statement")
        if answering:
            last = answering[-1]
            result = Look("pass" if last["override"] else last["verdict"], last["reason"])
            if last["type"] != "service" and not last["override"]:
                result = look(Claim(last["type"], **last["about"]), caller.root)
        if result.verdict != "pass":
            still_open[name] = f'"{words}" ({name}): {result.verdict}, {result.reason}'
    return still_open


def is_about(row: Row, statement: str) -> bool:
    """Word for word, however it is wrapped."""
    return bool(row["claim"].split() == statement.split())


def refused(what: str, goal: str, statement: str, still_open: dict[str, str]) -> Refused:
    example = statements.TRIGGERS[next(iter(still_open))].options
    of_goal = f" --goal {goal}" if goal else ""
    who = "add" if goal else "the user adds"
    return Refused(
        f"{what} claims what code has not seen: {clip(statement, 120)!r}",
        fix=f"omo verify claim {shlex.quote(statement)}{of_goal} {example}; then the same again. If it does not "
        f"hold, restate it; if code is wrong about it, {who} --override REASON to the claim (recorded and shown)",
        defects=list(still_open.values()),
    )


def file_claim(caller: Caller, claim: Claim, statement: str, *, goal: str | None = None, override: str = "") -> Row:
    """Look at a claim and keep what was seen. `override` counts only where it does not hold."""
    if override:
        require_reason(override, "--override", "say why code is wrong about it")
    result = look(claim, caller.root)
    about = asdict(claim)
    row = {"kind": "claim", "goal": goal, "claim": statement, "type": about.pop("kind"), "about": about}
    row |= {**result._asdict(), "override": None if result.verdict == "pass" else override or None}
    _journal(caller.state).change(lambda _: (None, [row]), actor=caller.by, now=caller.now, wait=caller.wait)
    return row


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
