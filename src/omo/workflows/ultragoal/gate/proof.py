"""What a gate cites, opened: files are read, pictures decoded, replays run. Nothing is written.

First each cited artifact is looked at (`examine`), then it is proven for what it is cited for (`Prover.prove`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omo.clock import seconds
from omo.errors import BadInput, OmoError
from omo.proof import artifacts, base, documents, media, own_commands, replay, seals, typed_commands
from omo.proof.replay import Record
from omo.text import clip
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.gate.models import Artifact, Defect, shown
from omo.workflows.ultrawork.gates import Gate, Gates

Row = dict[str, Any]

SCREENSHOT, AUTOMATION, CAPTURE = "screenshot", "automation transcript", "terminal capture"
REPLAY, REPORT = "replay record", "report"
STRUCTURAL = (SCREENSHOT, AUTOMATION, CAPTURE)
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


# What of an artifact could prove anything at all.
FILE, EXEMPT, RECEIPT, GATE, NOTHING = "file", "exempt", "receipt", "gate", "nothing"
MOST_REPLAYS = 25
EVIDENCE_ENDS = (".txt", ".log", ".out", ".json", ".md", ".xml", ".html", ".png", ".jpg", ".jpeg", ".pty", ".cast")
# A file that is old or borrowed can still be looked at; one that is missing or elsewhere cannot.
STILL_THERE = ("old", "reused")
FILE_CODES = {"old": "ARTIFACT_OLD", "reused": "ARTIFACT_REUSED"}


def shape_of(kind: str) -> str:
    """The last word that names a shape decides: `browser-screenshot` is a screenshot. All else is some report."""
    for word in reversed(re.split(r"[-_\s]+", kind.lower())):
        if word in SHAPES:
            return SHAPES[word]
    return REPORT


@dataclass(frozen=True)
class Subject:
    """The goal a gate is to close. `goal` is the name its artifacts are registered under, `name` the plan's."""

    root: Path
    state: str
    goal: str
    started_at: float
    changed: list[str] | None  # None: not known, the project is in no repository
    control_globs: tuple[str, ...]
    used: frozenset[str] = frozenset()  # marks of what proved other goals of the run
    name: str = ""  # empty: a review, which is about no goal
    head: str | None = None
    gates: Gates | None = None  # what the session's own gates said
    gate_file: str = ""  # where in the project the gate was read from
    is_light: bool = False  # the user chose that its reviewers come at the end
    is_final: bool = False  # its receipt closes the plan
    unreviewed: tuple[str, ...] = ()  # goals that were closed without reviewers, who have to look at them with this one


@dataclass
class Inspection:
    defects: list[Defect] = field(default_factory=list)
    cited: list[str] = field(default_factory=list)  # files that prove, each once
    exemptions: list[dict[str, Any]] = field(default_factory=list)
    replays: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    proofs: list[str] = field(default_factory=list)  # marks of the receipts and gate runs that prove
    commands: list[seals.Plain] = field(default_factory=list)  # that omo ran for it


@dataclass
class Evidence:
    """One artifact as it was found, whatever it is cited for."""

    artifact: Artifact
    shape: str
    basis: str = NOTHING
    refusal: OmoError | None = None  # why its file cannot be evidence
    structure: list[str] = field(default_factory=list)  # why a picture or capture shows nothing

    @property
    def id(self) -> str:
        return self.artifact.id

    @property
    def is_there(self) -> bool:
        """Whether there is a file of the project to look into, however old."""
        return self.refusal is None or self.refusal.details.get("why") in STILL_THERE

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
    path = evidence.full_path(subject.root)
    if evidence.shape == REPLAY and artifact.replayExempt is not None:
        evidence.basis = EXEMPT
    elif evidence.shape == REPLAY and artifact.path:
        evidence.basis = REPLAY
    elif artifact.path:
        evidence.basis = FILE
        if path and evidence.is_there and evidence.shape == SCREENSHOT:
            evidence.structure = media.screenshot_defects(path)
        if path and evidence.is_there and evidence.shape == CAPTURE:
            evidence.structure = media.capture_defects(path)
    elif artifact.gate:
        evidence.basis = GATE
    elif artifact.receipt is not None:
        evidence.basis = RECEIPT
    return evidence


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
    cited_files: frozenset[str]
    outcomes: dict[str, list[str]] = field(default_factory=dict)  # of each replay: it runs once

    def prove(self, evidence: Evidence, family: str) -> list[Defect]:
        """Why it does not prove a surface of this family; "" is any."""
        defects = evidence.file_defects
        if evidence.basis == FILE:
            defects += self._structure(evidence, family)
        elif evidence.basis == REPLAY:
            defects += self._replay(evidence)
        elif evidence.basis == GATE:
            defects += self._gate(evidence)
        elif evidence.artifact.receipt is not None and evidence.basis == RECEIPT:
            defects += self._spend(evidence, "RECEIPT_REUSED", receipts.receipt_mark(evidence.artifact.receipt))
        path = evidence.artifact.path
        if not defects and path and path not in self.inspection.cited:
            self.inspection.cited.append(path)
        return defects

    def _structure(self, evidence: Evidence, family: str) -> list[Defect]:
        problems = evidence.structure
        path = evidence.full_path(self.subject.root)
        if path and evidence.shape == AUTOMATION and evidence.is_there:
            problems = media.transcript_defects(path, family, self.subject.started_at)
        defects = []
        for why in problems:
            text = f"is no {evidence.shape} that proves anything: {why}"
            defects.append(Defect(f"{evidence.artifact.place}.path", "ARTIFACT_INVALID", text))
        return defects

    def _replay(self, evidence: Evidence) -> list[Defect]:
        path = evidence.full_path(self.subject.root)
        if path is None or not evidence.is_there:
            return []
        if evidence.id not in self.outcomes:
            try:
                record = replay.parse_replay(documents.load(path))
            except BadInput as error:
                return [Defect(evidence.artifact.place, "REPLAY_INVALID", why) for why in defects_of(error)]
            self.outcomes[evidence.id] = self._outcome(evidence, record)
            where = os.path.join(self.subject.root, record.cwd)
            program = typed_commands.resolve(record.command[0], where, os.environ.get("PATH", ""))
            ran = {"artifact": evidence.id, "command": list(record.command), "executable": program}
            self.inspection.replays.append({**ran, "problems": self.outcomes[evidence.id]})
            if not runs_the_work(self.subject, record):
                self.inspection.commands.append(seals.Plain(record.command, record.cwd))
        return [Defect(evidence.artifact.place, "REPLAY_FAILED", why) for why in self.outcomes[evidence.id]]

    def _outcome(self, evidence: Evidence, record: Record) -> list[str]:
        """Why the record is not what the command says: omo has run it on these files, or runs it again."""
        subject = self.subject
        own = artifacts.recording(subject.state, subject.root, evidence.artifact.path, subject.goal)
        if own is not None and own.files is not None:
            if not replay.speaks_of_project(str(subject.root), subject.head, record.command, record.cwd):
                return ["command: says nothing about this project; record one of the project's own"]
            changed = changed_since(subject, own.files, self.cited_files)
            return [f"was recorded before {changed} changed: run omo evidence replay again"] if changed else []
        if len(self.outcomes) >= MOST_REPLAYS:
            return [f"is not run: a gate replays at most {MOST_REPLAYS} commands; cite fewer"]
        pins = [gate for gate in subject.gates or () if gate.is_users]
        return replay.replay(record, subject.root, pins, os.environ)

    def _gate(self, evidence: Evidence) -> list[Defect]:
        name, place = evidence.artifact.gate, f"{evidence.artifact.place}.gate"
        gate = self.subject.gates.get(name) if self.subject.gates is not None else None
        if gate is None:
            text = f"{shown(name)} is no gate of this session: omo gate add NAME -- COMMAND, omo gate run"
            return [Defect(place, "GATE_UNKNOWN", text)]
        if why := gate_problem(self.subject, gate, self.cited_files):
            return [Defect(place, "GATE_NOT_PASSED", f"{shown(name)} {why}: omo gate run {name}")]
        self.inspection.commands.append(seals.Plain(gate.argv, gate.cwd))
        return self._spend(evidence, "GATE_REUSED", run_mark_of(gate))

    def _spend(self, evidence: Evidence, code: str, mark: str) -> list[Defect]:
        if mark in self.subject.used:
            text = "proves another goal of this run already: cite what is about this goal"
            return [Defect(evidence.artifact.place, code, f"{shown(evidence.id)} {text}")]
        if mark not in self.inspection.proofs:
            self.inspection.proofs.append(mark)
        return []


def runs_the_work(subject: Subject, record: Record) -> bool:
    """Whether a command starts a program of the project by its path: what it shows is that program, which is the work
    and no check of it. Tests and what a runner starts are checks, and nobody may bend them."""
    words = [os.path.normpath(os.path.join(record.cwd, word)) for word in record.command]
    scripts = own_commands.scripts(str(subject.root), subject.head, record.command, record.cwd)
    return bool(scripts) and all(path in words and not seals.is_test(path) for path in scripts)


def changed_since(subject: Subject, files: Row | None, cited: Collection[str]) -> str:
    """A file of the work that is another one now; empty where none is."""
    changed = base.look(str(subject.root), files).changed
    if changed is None:
        return "nobody knows which files"
    about = about_the_work(str(subject.root), files, changed, cited)
    left = sorted(set(changed) - about - {subject.gate_file})
    return clip(left[0], 120) if left else ""


def gate_problem(subject: Subject, gate: Gate, cited: Collection[str]) -> str:
    """Why a gate of the session shows nothing; empty where omo saw it pass on these very files since the goal began."""
    last = gate.last
    if last is None or seconds(last["ts"]) < subject.started_at:
        return "was not run since the goal began"
    if last["result"] != "pass":
        return f"did not pass ({last['result']})"
    if changed := changed_since(subject, last.get("files"), cited):
        return f"passed before {changed} changed"
    return ""


def run_mark_of(gate: Gate) -> str:
    """Of its last run, which proves one goal."""
    return receipts.run_mark(gate.last["seq"]) if gate.last else ""


def about_the_work(root: str, files: Row | None, changed: Iterable[str], cited: Collection[str]) -> set[str]:
    """Of the files that changed since `files` those that tell of the work and are none of it: cited, no code, and not
    in the commit of then. Whoever cites a source cannot hide that it was changed."""
    candidates = [path for path in changed if path in cited and path.lower().endswith(EVIDENCE_ENDS)]
    head = (files or {}).get("head")
    committed = base.committed(root, head, candidates) if head and candidates else {}
    return {path for path in candidates if path not in committed}
