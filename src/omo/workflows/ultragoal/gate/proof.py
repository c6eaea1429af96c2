"""What a gate cites, opened: files are read, pictures decoded, replays run. Nothing is written.

First each cited artifact is looked at (`examine`), then it is proven for what it is cited for (`Prover.prove`).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omo.errors import BadInput, OmoError
from omo.proof import artifacts, documents, media, records, replay
from omo.proof.records import Record
from omo.text import clip
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.gate.models import Artifact, Defect, shown

SCREENSHOT, AUTOMATION, CAPTURE, REPLAY, REPORT = "screenshot", "automation", "capture", "replay", "report"
STRUCTURAL = (SCREENSHOT, AUTOMATION, CAPTURE)
SHAPE_NAMES = {
    SCREENSHOT: "screenshot",
    AUTOMATION: "automation transcript",
    CAPTURE: "terminal capture",
    REPLAY: "replay record",
    REPORT: "report",
}
SHAPES = {
    "screenshot": SCREENSHOT,
    "image": SCREENSHOT,
    "browser": AUTOMATION,
    "playwright": AUTOMATION,
    "automation": AUTOMATION,
    "pty": CAPTURE,
    "tui": CAPTURE,
    "terminal": CAPTURE,
    "replay": REPLAY,
}


def kind_words(kind: str) -> list[str]:
    """`black-box` is one word, however it is written."""
    joined = re.sub(r"\bblack[-_\s]+box\b", "blackbox", kind.lower().replace("_", "-"))
    return [word for word in re.split(r"[-\s]+", joined) if word]


ANY_REPORT = frozenset(
    kind_words("test tests report log logs output result results transcript trace coverage check suite")
)
REPORTS = {
    "api-package": frozenset(
        kind_words(
            "api package consumer blackbox contract integration http request response library sdk import install schema"
        )
    ),
    "algorithm-math": frozenset(
        kind_words(
            "algorithm math property boundary edge adversarial failure fuzz invariant proof benchmark simulation"
        )
    ),
}
# Not bound to a surface: what red teams and reviewers hand in.
OTHER_REPORTS = frozenset(kind_words("redteam audit analysis review security performance load database migration diff"))
REPORT_WORDS = ANY_REPORT | OTHER_REPORTS | REPORTS["api-package"] | REPORTS["algorithm-math"]
KNOWN_KINDS = sorted(set(SHAPES) | REPORT_WORDS)

# What of an artifact could prove anything at all.
FILE, EXEMPT, RECEIPT, INLINE, METADATA = "file", "exempt", "receipt", "inline", "metadata"
MOST_REPLAYS = 25
# A file that is old or borrowed can still be looked at; one that is missing or elsewhere cannot.
STILL_THERE = ("old", "reused")
FILE_CODES = {"old": "ARTIFACT_OLD", "reused": "ARTIFACT_REUSED"}
RECEIPT_KEYS = {"its type": receipts.TYPE_KEYS, "its id": receipts.ID_KEYS}
RECEIPT_WORDS = ("verified", "passed")


def shape_of(kind: str) -> str:
    """The last word that names a shape decides (`browser-screenshot` is a screenshot); "" for a kind nobody knows."""
    words = kind_words(kind)
    for word in reversed(words):
        if word in SHAPES:
            return SHAPES[word]
    return REPORT if REPORT_WORDS.intersection(words) else ""


def can_prove(kind: str, family: str) -> bool:
    """Whether a report of this kind is about a surface of that family; a replay is about whatever it runs."""
    if shape_of(kind) == REPLAY:
        return True
    wanted = ANY_REPORT | REPORTS.get(family, frozenset())
    return shape_of(kind) == REPORT and bool(wanted.intersection(kind_words(kind)))


@dataclass(frozen=True)
class Subject:
    """The goal a gate is to close. `goal` is the name its artifacts are registered under."""

    root: Path
    state: str
    goal: str
    started_at: float
    changed: list[str] | None  # None: not known, the project is in no repository
    control_globs: tuple[str, ...]
    now: float
    used: frozenset[str] = frozenset()  # marks of what proved other goals of the run


@dataclass
class Inspection:
    defects: list[Defect] = field(default_factory=list)
    cited: list[str] = field(default_factory=list)  # files that prove, each once
    exemptions: list[dict[str, Any]] = field(default_factory=list)
    replays: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    proofs: list[str] = field(default_factory=list)  # marks of the receipts and replays that prove

    @property
    def is_clean(self) -> bool:
        return not self.defects


@dataclass
class Evidence:
    """One artifact as it was found, whatever it is cited for."""

    artifact: Artifact
    shape: str
    basis: str = METADATA
    refusal: OmoError | None = None  # why its file cannot be evidence
    structure: list[str] = field(default_factory=list)  # why a picture or capture shows nothing
    record: Record | None = None
    record_problems: list[str] = field(default_factory=list)
    exemption: dict[str, Any] | None = None

    @property
    def id(self) -> str:
        return self.artifact.id

    @property
    def is_there(self) -> bool:
        """Whether there is a file of the project to look into, however old."""
        return self.refusal is None or self.refusal.details.get("why") in STILL_THERE

    @property
    def receipt(self) -> dict[str, Any]:
        return self.artifact.verifiedReceipt or self.artifact.receipt

    @property
    def says_nothing(self) -> bool:
        """Whether it replays a built-in that speaks of no project, such as a version."""
        if self.record is None:
            return False
        command = self.record.command
        return not replay.builtin_problem(command) and not replay.needs_project(command)

    @property
    def file_defects(self) -> list[Defect]:
        if self.refusal is None:
            return []
        code = FILE_CODES.get(str(self.refusal.details.get("why")), "ARTIFACT_UNUSABLE")
        return [Defect(f"{self.artifact.place}.path", code, f"{self.refusal.message}: {self.refusal.fix}")]

    def full_path(self, root: Path) -> Path | None:
        path = self.artifact.path
        if not path or "\0" in path:
            return None
        return Path(os.path.realpath(os.path.join(root, path)))


def examine(artifact: Artifact, subject: Subject) -> Evidence:
    evidence = Evidence(artifact, shape_of(artifact.kind))
    if artifact.path:
        try:
            artifacts.check(
                subject.state,
                subject.root,
                artifact.path,
                goal=subject.goal,
                started_at=subject.started_at,
                spent=receipts.used_files(subject.used),
            )
        except OmoError as error:  # also where git or the evidence ledger cannot be read: no proof either way
            evidence.refusal = error
    extra = artifact.model_extra or {}
    if evidence.shape == REPLAY:
        _read_record(evidence, subject)
    inline = extra.get("inlineEvidence")
    if evidence.exemption is not None:
        evidence.basis = EXEMPT
    elif evidence.shape == REPLAY and (artifact.path or artifact.replay or "command" in extra):
        evidence.basis = REPLAY
    elif artifact.path:
        evidence.basis = FILE
        path = evidence.full_path(subject.root)
        if path and evidence.is_there and evidence.shape == SCREENSHOT:
            evidence.structure = media.screenshot_defects(path)
        if path and evidence.is_there and evidence.shape == CAPTURE:
            evidence.structure = media.capture_defects(path)
    elif artifact.verifiedReceipt or artifact.receipt:
        evidence.basis = RECEIPT
    elif isinstance(inline, str) and inline.strip():
        evidence.basis = INLINE
    return evidence


def _read_record(evidence: Evidence, subject: Subject) -> None:
    """A replay's record is the row's `replay`, the row itself, or the file; two of them are one too many."""
    artifact = evidence.artifact
    extra = artifact.model_extra or {}
    document: object = artifact.replay
    if not artifact.replay and "command" in extra:
        document = {**extra, "kind": artifact.kind}
    if "replayExempt" in artifact.model_fields_set:
        evidence.exemption = artifact.replayExempt
    try:
        if document and artifact.path:
            raise BadInput("has a record in the row and one at path: keep one of them")
        if path := evidence.full_path(subject.root):
            document = documents.load(path) if evidence.is_there else {}
        inside = document.get("replayExempt") if isinstance(document, dict) else None
        if evidence.exemption is None and isinstance(inside, dict):
            evidence.exemption = inside
        evidence.record = records.parse_replay(document)
    except BadInput as error:
        evidence.record_problems = defects_of(error)


def defects_of(error: OmoError) -> list[str]:
    """Each defect an error carries, else the error itself."""
    many = error.details.get("defects")
    if isinstance(many, list) and many:
        return [str(defect) for defect in many]
    return [error.message]


@dataclass
class Prover:
    """Proves what was examined, and notes in `inspection` what does."""

    subject: Subject
    inspection: Inspection
    outcomes: dict[str, list[str]] = field(default_factory=dict)  # of each different replay: one that ran runs once
    pins: list[tuple[str, ...]] | None = None

    def prove(self, evidence: Evidence, family: str) -> list[Defect]:
        """Why it does not prove a surface of this family; "" is any."""
        defects = evidence.file_defects
        if evidence.basis == FILE:
            defects += self._structure(evidence, family)
        elif evidence.basis == REPLAY:
            defects += self._replay(evidence)
        elif evidence.basis == RECEIPT:
            marks = receipts.receipt_marks(evidence.receipt)
            defects += receipt_defects(evidence) or self._spend(evidence, "RECEIPT_REUSED", marks)
        path = evidence.artifact.path
        if not defects and path and path not in self.inspection.cited:
            self.inspection.cited.append(path)
        return defects

    def _structure(self, evidence: Evidence, family: str) -> list[Defect]:
        problems = evidence.structure
        path = evidence.full_path(self.subject.root)
        if path and evidence.shape == AUTOMATION and evidence.is_there:
            problems = records.transcript_defects(path, family or _own_family(path), self.subject.started_at)
        defects = []
        for why in problems:
            text = f"is no {SHAPE_NAMES[evidence.shape]} that proves anything: {why}"
            defects.append(Defect(f"{evidence.artifact.place}.path", "ARTIFACT_INVALID", text))
        return defects

    def _replay(self, evidence: Evidence) -> list[Defect]:
        """Runs the record for real."""
        place, record = evidence.artifact.place, evidence.record
        if not evidence.is_there:
            return []
        if record is None:
            return [Defect(place, "REPLAY_INVALID", why) for why in evidence.record_problems]
        key = repr(record)
        if key not in self.outcomes:
            self.outcomes[key] = self._run(record)
            self._note_replay(evidence, record, self.outcomes[key])
        if self.outcomes[key]:
            return [Defect(place, "REPLAY_FAILED", why) for why in self.outcomes[key]]
        mark = receipts.replay_mark(record.command, record.stdout)
        if evidence.artifact.path:  # a record in a file is new or it is not, like any file
            self._keep([mark])
            return []
        return self._spend(evidence, "REPLAY_REUSED", [mark])

    def _run(self, record: Record) -> list[str]:
        if len(self.outcomes) >= MOST_REPLAYS:
            return [f"is not run: a gate replays at most {MOST_REPLAYS} different commands; cite fewer"]
        try:
            if self.pins is None:
                self.pins = replay.allowed(self.subject.state)
            return replay.replay(record, self.subject.root, self.pins)
        except OmoError as error:
            return [f"{error.message}: {error.fix}"]

    def _note_replay(self, evidence: Evidence, record: Record, problems: list[str]) -> None:
        command = list(record.command)
        program = replay.executable(record, self.subject.root, self.pins or []) or None
        self.inspection.replays.append(
            {"artifact": evidence.id, "command": command, "executable": program, "problems": problems}
        )
        if evidence.says_nothing:
            what = f"{shown(evidence.id)} replays {clip(' '.join(command), 80)}, which says nothing about this project"
            self.inspection.notes.append(f"{what}; the user can allow its own commands: /omo:pin NAME -- COMMAND")

    def _spend(self, evidence: Evidence, code: str, marks: list[str]) -> list[Defect]:
        if self.subject.used.intersection(marks):
            text = "proves another goal of this run already: cite what is about this goal, in a file of its own"
            return [Defect(evidence.artifact.place, code, f"{shown(evidence.id)} {text}")]
        self._keep(marks)
        return []

    def _keep(self, marks: list[str]) -> None:
        for mark in marks:
            if mark not in self.inspection.proofs:
                self.inspection.proofs.append(mark)


def _own_family(path: Path) -> str:
    """Where no surface is at stake, whichever the transcript itself names will do."""
    try:
        document = documents.load(path)
    except BadInput:
        return ""
    surface = document.get("surface") if isinstance(document, dict) else None
    return records.FAMILIES.get(surface, "") if isinstance(surface, str) else ""


def receipt_defects(evidence: Evidence) -> list[Defect]:
    """A typed receipt says what it is, which one it is, and that it passed."""
    receipt = evidence.receipt
    name = "verifiedReceipt" if evidence.artifact.verifiedReceipt else "receipt"
    path = f"{evidence.artifact.place}.{name}"
    defects = []
    for what, keys in RECEIPT_KEYS.items():
        if not any(isinstance(receipt.get(key), str) and receipt[key].strip() for key in keys):
            text = f"is {shown(receipt)}: it lacks {what} (one of {', '.join(keys)})"
            defects.append(Defect(path, "RECEIPT_INCOMPLETE", text))
    outcomes = [receipt[key] for key in ("status", "verdict") if key in receipt]
    if not outcomes or any(str(word).strip().lower() not in RECEIPT_WORDS for word in outcomes):
        stated = clip(", ".join(map(str, outcomes)), 60) or "nothing"
        text = f"says {stated}: its status or verdict must be {' or '.join(RECEIPT_WORDS)}"
        defects.append(Defect(path, "RECEIPT_NOT_PASSED", text))
    return defects
