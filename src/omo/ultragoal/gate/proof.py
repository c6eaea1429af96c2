"""Opens what a gate cites: files are read, pictures decoded, replays run. Each once, and nothing is written."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omo.errors import BadInput, OmoError
from omo.evidence import artifacts, documents, media, records, replay
from omo.evidence.records import Record
from omo.shown import clip
from omo.ultragoal.gate import kinds, marks
from omo.ultragoal.gate.findings import Defect, Inspection, Subject, shown
from omo.ultragoal.gate.models import Artifact
from omo.ultragoal.gate.rows import Matrix, Row

FILE, REPLAY, EXEMPT, RECEIPT, INLINE, METADATA = "file", "replay", "exempt", "receipt", "inline", "metadata"
MOST_REPLAYS = 25
# A file that is old or borrowed can still be looked at; one that is missing or elsewhere cannot.
STILL_THERE = ("old", "reused")
CODES = {"old": "ARTIFACT_OLD", "reused": "ARTIFACT_REUSED"}


def _transcript(path: Path, family: str, since: float) -> list[str]:
    """Where no surface is at stake, whichever the transcript itself names will do."""
    return records.transcript_defects(path, family or _own_family(path), since)


def _own_family(path: Path) -> str:
    try:
        document = documents.load(path)
    except BadInput:
        return ""
    surface = document.get("surface") if isinstance(document, dict) else None
    return records.FAMILIES.get(surface, "") if isinstance(surface, str) else ""


STRUCTURE: dict[str, Callable[[Path, str, float], list[str]]] = {
    kinds.SCREENSHOT: lambda path, family, since: media.screenshot_defects(path),
    kinds.AUTOMATION: _transcript,
    kinds.CAPTURE: lambda path, family, since: media.capture_defects(path),
}


@dataclass
class Prover:
    """One inspection's view of the evidence. `family` is what the artifact is to prove; "" for any."""

    subject: Subject
    matrix: Matrix
    found: Inspection
    files: dict[str, OmoError | None] = field(default_factory=dict)
    structures: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)
    records: dict[str, object] = field(default_factory=dict)
    runs: dict[str, list[str]] = field(default_factory=dict)
    pins: list[tuple[str, ...]] | None = None

    def basis(self, row: Row[Artifact]) -> str:
        """What of this row could prove anything at all."""
        one = row.value
        if kinds.shape(one.kind) == kinds.REPLAY:
            if self.exemption(row) is not None:
                return EXEMPT
            if one.path or one.replay or "command" in extras(one):
                return REPLAY
        if one.path:
            return FILE
        if one.verifiedReceipt or one.receipt:
            return RECEIPT
        inline = extras(one).get("inlineEvidence")
        return INLINE if isinstance(inline, str) and inline.strip() else METADATA

    def prove(self, row: Row[Artifact], family: str) -> list[Defect]:
        """Why it does not prove what it is cited for. What does is noted in `cited`."""
        basis = self.basis(row)
        problems = self.file(row) if row.value.path else []
        if basis == FILE:
            problems += self.structure(row, family)
        elif basis == REPLAY:
            problems += self.run(row)
        elif basis == RECEIPT:
            problems += receipt_defects(row) or self._spend(row, "RECEIPT_REUSED", marks.receipts(_receipt(row)))
        if not problems and row.value.path and row.value.path not in self.found.cited:
            self.found.cited.append(row.value.path)
        return problems

    def file(self, row: Row[Artifact]) -> list[Defect]:
        refusal = self._refusal(row.value.path)
        if refusal is None:
            return []
        code = CODES.get(str(refusal.details.get("why")), "ARTIFACT_UNUSABLE")
        return [Defect(f"{row.path}.path", code, f"{refusal.message}: {refusal.fix}")]

    def is_there(self, row: Row[Artifact]) -> bool:
        """Whether there is a file of the project to look into, however old."""
        refusal = self._refusal(row.value.path)
        return refusal is None or refusal.details.get("why") in STILL_THERE

    def _refusal(self, path: str) -> OmoError | None:
        if path not in self.files:
            here = self.subject
            self.files[path] = None
            try:
                spent = marks.files(here.used)
                artifacts.check(here.state, here.root, path, goal=here.goal, started_at=here.started_at, spent=spent)
            except OmoError as error:  # also where git or the evidence ledger cannot be read: no proof either way
                self.files[path] = error
        return self.files[path]

    def structure(self, row: Row[Artifact], family: str) -> list[Defect]:
        shape = kinds.shape(row.value.kind)
        if shape not in STRUCTURE or not self.is_there(row):
            return []
        key = (row.value.path, shape, family)
        if key not in self.structures:
            self.structures[key] = STRUCTURE[shape](self._full(row.value.path), family, self.subject.started_at)
        name = kinds.NAMES[shape]
        return [
            Defect(f"{row.path}.path", "ARTIFACT_INVALID", f"is no {name} that proves anything: {why}")
            for why in self.structures[key]
        ]

    def is_same_file(self, one: Row[Artifact], other: Row[Artifact]) -> bool:
        paths = [self._full(row.value.path) for row in (one, other) if row.value.path and "\0" not in row.value.path]
        return len(paths) == 2 and paths[0] == paths[1]

    def _full(self, path: str) -> Path:
        return Path(os.path.realpath(os.path.join(self.subject.root, path)))

    def record(self, row: Row[Artifact]) -> object:
        """From the row's `replay`, the row itself, or the file; BadInput where it is two of them."""
        one = row.value
        inline = one.replay or ({**extras(one), "kind": one.kind} if "command" in extras(one) else {})
        if inline and one.path:
            raise BadInput("has a record in the row and one at path: keep one of them")
        if inline or not one.path:
            return inline or {}
        if one.path not in self.records:
            self.records[one.path] = documents.load(self._full(one.path)) if self.is_there(row) else {}
        return self.records[one.path]

    def exemption(self, row: Row[Artifact]) -> dict[str, Any] | None:
        if row.value.replayExempt or "replayExempt" in row.value.model_fields_set:
            return row.value.replayExempt
        try:
            record = self.record(row)
        except BadInput:
            return None
        inside = record.get("replayExempt") if isinstance(record, dict) else None
        return inside if isinstance(inside, dict) else None

    def run(self, row: Row[Artifact]) -> list[Defect]:
        """Replays the record for real."""
        if row.value.path and not self.is_there(row):
            return []
        try:
            parsed = records.parse_replay(self.record(row))
        except BadInput as error:
            return [Defect(row.path, "REPLAY_INVALID", why) for why in told(error)]
        key = repr(parsed)
        if key not in self.runs:
            self.runs[key] = self._run(parsed)
            self._note(row.value.id, parsed, self.runs[key])
        failed = [Defect(row.path, "REPLAY_FAILED", why) for why in self.runs[key]]
        return failed or self._replayed(row, parsed)

    def _replayed(self, row: Row[Artifact], parsed: Record) -> list[Defect]:
        """A record in a file is new or it is not, like any file; one in the row has no age of its own."""
        mark = marks.replay(parsed.command, parsed.stdout)
        if not row.value.path:
            return self._spend(row, "REPLAY_REUSED", [mark])
        self._keep([mark])
        return []

    def _spend(self, row: Row[Artifact], code: str, given: list[str]) -> list[Defect]:
        if self.subject.used.intersection(given):
            text = "proves another goal of this run already: cite what is about this goal, in a file of its own"
            return [Defect(row.path, code, f"{shown(row.value.id)} {text}")]
        self._keep(given)
        return []

    def _keep(self, given: list[str]) -> None:
        self.found.proofs += [mark for mark in given if mark not in self.found.proofs]

    def says_nothing(self, row: Row[Artifact]) -> bool:
        """Whether it replays a built-in that speaks of no project, such as a version."""
        try:
            command = records.parse_replay(self.record(row)).command
        except BadInput:
            return False  # told where it is to be run
        return not replay.builtin_problem(command) and not replay.needs_project(command)

    def _note(self, name: str, parsed: Record, problems: list[str]) -> None:
        command = list(parsed.command)
        program = replay.executable(parsed, self.subject.root, self.pins or []) or None
        self.found.replays.append({"artifact": name, "command": command, "executable": program, "problems": problems})
        if not replay.builtin_problem(command) and not replay.needs_project(command):
            said = f"{shown(name)} replays {clip(' '.join(command), 80)}, which says nothing about this project"
            self.found.notes.append(f"{said}; the user can allow its own commands: /omo:pin NAME -- COMMAND")

    def _run(self, parsed: Record) -> list[str]:
        if len(self.runs) >= MOST_REPLAYS:
            return [f"is not run: a gate replays at most {MOST_REPLAYS} different commands; cite fewer"]
        try:
            if self.pins is None:
                self.pins = replay.allowed(self.subject.state)
            return replay.replay(parsed, self.subject.root, self.pins)
        except OmoError as error:
            return [f"{error.message}: {error.fix}"]


def told(error: OmoError) -> list[str]:
    """Each defect an error carries, else the error itself."""
    many = error.details.get("defects")
    return [str(why) for why in many] if isinstance(many, list) and many else [error.message]


def extras(one: Artifact) -> dict[str, Any]:
    return one.model_extra or {}


RECEIPT_KEYS = {"its type": marks.TYPE_KEYS, "its id": marks.ID_KEYS}
RECEIPT_WORDS = ("verified", "passed")


def receipt_defects(row: Row[Artifact]) -> list[Defect]:
    """A typed receipt says what it is, which one it is, and that it passed."""
    name = "verifiedReceipt" if row.value.verifiedReceipt else "receipt"
    receipt = _receipt(row)
    path = f"{row.path}.{name}"
    found = [
        Defect(path, "RECEIPT_INCOMPLETE", f"is {shown(receipt)}: it lacks {what} (one of {', '.join(keys)})")
        for what, keys in RECEIPT_KEYS.items()
        if not any(isinstance(receipt.get(key), str) and receipt[key].strip() for key in keys)
    ]
    outcomes = [receipt[key] for key in ("status", "verdict") if key in receipt]
    if not outcomes or any(str(word).strip().lower() not in RECEIPT_WORDS for word in outcomes):
        said = clip(", ".join(map(str, outcomes)), 60) or "nothing"
        text = f"says {said}: its status or verdict must be {' or '.join(RECEIPT_WORDS)}"
        found.append(Defect(path, "RECEIPT_NOT_PASSED", text))
    return found


def _receipt(row: Row[Artifact]) -> dict[str, Any]:
    return row.value.verifiedReceipt or row.value.receipt
