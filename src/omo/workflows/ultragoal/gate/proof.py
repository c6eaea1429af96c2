"""What a gate cites, opened: files are read, pictures decoded, replays run. Nothing is written.

First each cited artifact is looked at (`examine`), then it is proven for what it is cited for (`GateProver.prove`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omo.clock import seconds
from omo.errors import BadInput, OmoError
from omo.json_text import Json
from omo.proof import artifacts, base, documents, git, own_commands
from omo.proof.gate_runs import Plain
from omo.text import clip
from omo.work.gates import Gate, Gates
from omo.workflows.ultragoal.gate import media, replay
from omo.workflows.ultragoal.gate.models import ExecutorQa, GateArtifact, GateDefect, Named, defects_at, shown
from omo.workflows.ultragoal.gate.replay import Record

if TYPE_CHECKING:
    from omo.state.rows import Base

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
# Of a row that no file stands behind.
EXEMPT, GATE, RECEIPT, WORDS = "exempt replay", "gate's result", "receipt", "words"
MOST_REPLAYS = 25
LONGEST_NOTE = 300  # of what a receipt keeps in words
EVIDENCE_ENDS = (".txt", ".log", ".out", ".json", ".md", ".xml", ".html", ".png", ".jpg", ".jpeg", ".pty", ".cast")
EVIDENCE = ".sisyphus/evidence/"  # where omo records it, and writes it anew


def shape_of(kind: str) -> str:
    """Return the shape of a kind. The last word that names one decides: `browser-screenshot` is a screenshot. All else
    is some report."""
    for word in reversed(re.split(r"[-_\s]+", kind.lower())):
        if word in SHAPES:
            return SHAPES[word]
    return REPORT


@dataclass(frozen=True)
class GateSubject:
    """The goal a gate is to close. `goal` is the name its artifacts are registered under, `name` the plan's."""

    root: Path
    state: str
    goal: str
    started_at: float
    changed: list[str] | None  # None: not known, the project is in no repository
    control_globs: tuple[str, ...]
    name: str = ""  # empty: a review, which is about no goal
    head: str | None = None
    gates: Gates | None = None  # what the session's own gates said
    gate_file: str = ""  # where in the project the gate was read from
    is_final: bool = False  # its receipt closes the plan
    has_request: bool = False  # with it the architect answers for what the user typed


@dataclass
class Inspection:
    defects: list[GateDefect] = field(default_factory=list)
    cited: list[str] = field(default_factory=list)  # files that prove, each once
    exemptions: list[Json] = field(default_factory=list)  # each as its row has it, with the id of the artifact
    notes: list[str] = field(default_factory=list)
    commands: list[Plain] = field(default_factory=list)  # that omo ran for it, and that are checks of the project's own
    has_cleaner: bool = False  # it carries the cleaner's report


@dataclass
class Evidence:
    """One artifact as it was found. `path` is its file, where that can be evidence; `defects` say why it proves
    nothing, whatever it is cited for."""

    artifact: GateArtifact
    shape: str
    path: Path | None = None
    defects: list[GateDefect] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.artifact.id


def _shape(artifact: GateArtifact) -> str:
    if artifact.replayExempt is not None:
        return EXEMPT
    if artifact.path:
        return shape_of(artifact.kind)
    if artifact.gate:
        return GATE
    return WORDS if artifact.receipt is None else RECEIPT


def examine(artifact: GateArtifact, subject: GateSubject) -> Evidence:
    evidence = Evidence(artifact, _shape(artifact))
    if not artifact.path:
        return evidence
    try:
        artifacts.check(subject.state, subject.root, artifact.path, goal=subject.goal, started_at=subject.started_at)
    except OmoError as error:  # also where git or the evidence ledger cannot be read: no proof either way
        evidence.defects.append(GateDefect(f"{artifact.place}.path", f"{error.message}: {error.fix}"))
        return evidence
    evidence.path = Path(os.path.realpath(os.path.join(subject.root, artifact.path)))
    if evidence.shape == SCREENSHOT:
        evidence.defects += _shows_nothing(evidence, media.screenshot_defects(evidence.path))
    elif evidence.shape == CAPTURE:
        evidence.defects += _shows_nothing(evidence, media.capture_defects(evidence.path))
    return evidence


def _shows_nothing(evidence: Evidence, problems: Iterable[str]) -> list[GateDefect]:
    what = f"is no {evidence.shape} that proves anything"
    return defects_at(f"{evidence.artifact.place}.path", [f"{what}: {why}" for why in problems])


class GateProver:
    """Looks at all artifacts before anything is run, which may write files; then proves one by one what rows cite, and
    notes in `inspection` what does."""

    def __init__(self, qa: ExecutorQa, subject: GateSubject, inspection: Inspection) -> None:
        self.qa = qa
        self.subject = subject
        self.inspection = inspection
        self.cited_files = frozenset(os.path.normpath(artifact.path) for artifact in qa.artifactRefs if artifact.path)
        self.outcomes: dict[str, list[str]] = {}  # of each replay: it runs once
        self.evidence = {artifact.id: examine(artifact, subject) for artifact in qa.artifactRefs}

    def cited_by(self, row: Any) -> list[tuple[str, Evidence]]:
        """Return what a row cites, with the place where it does."""
        cited = []
        for place, name in refs_of(row, "artifactRefs"):
            if name in self.evidence:
                cited.append((place, self.evidence[name]))
        return cited

    def prove(self, evidence: Evidence, family: str) -> list[GateDefect]:
        """Say why it does not prove a surface of this family; "" is any."""
        defects = list(evidence.defects)
        artifact = evidence.artifact
        if evidence.shape == AUTOMATION and evidence.path:
            problems = media.transcript_defects(evidence.path, family)
            defects += _shows_nothing(evidence, problems)
        elif evidence.shape == REPLAY and evidence.path:
            defects += self._replay(evidence, evidence.path)
        elif evidence.shape == GATE:
            defects += self._gate(evidence)
        if not defects and artifact.path and artifact.path not in self.inspection.cited:
            self.inspection.cited.append(artifact.path)
        return defects

    def _replay(self, evidence: Evidence, path: Path) -> list[GateDefect]:
        place = evidence.artifact.place
        if evidence.id not in self.outcomes:
            try:
                record = replay.parse_replay(documents.load(path))
            except BadInput as error:
                return [GateDefect(place, error.message)]
            self.outcomes[evidence.id] = self._outcome(evidence, record)
            if own_commands.where(str(self.subject.root), self.subject.head, record.command, record.cwd):
                self.inspection.commands.append(Plain(record.command, record.cwd))
        return defects_at(place, self.outcomes[evidence.id])

    def _outcome(self, evidence: Evidence, record: Record) -> list[str]:
        """Say why the record is not what the command says: omo has run it on these files, or runs it again."""
        subject = self.subject
        own = artifacts.recording(subject.state, subject.root, evidence.artifact.path, subject.goal)
        if own is not None and own.files is not None:
            changed = changed_since(subject, own.files, self.cited_files)
            return [f"was recorded before {changed} changed: run omo evidence replay again"] if changed else []
        if len(self.outcomes) >= MOST_REPLAYS:
            return [f"is not run: a gate replays at most {MOST_REPLAYS} commands; cite fewer"]
        pins = [gate for gate in subject.gates or () if gate.is_users]
        return replay.replay(record, subject.root, pins, os.environ)

    def _gate(self, evidence: Evidence) -> list[GateDefect]:
        name, place = evidence.artifact.gate, f"{evidence.artifact.place}.gate"
        gate = self.subject.gates.get(name) if self.subject.gates is not None else None
        if gate is None:
            why = "is no gate of this session: omo gate add NAME -- COMMAND, omo gate run"
            return [GateDefect(place, f"{shown(name)} {why}")]
        if why := gate_problem(self.subject, gate, self.cited_files):
            return [GateDefect(place, f"{shown(name)} {why}: omo gate run {name}")]
        self.inspection.commands.append(Plain(gate.argv, gate.cwd, gate.sealed, gate.timeout))
        return []


def refs_of(row: Named, key: str) -> list[tuple[str, str]]:
    """Return each name that a row gives, with the place it stands at."""
    return [(f"{row.place}.{key}[{index}]", name) for index, name in enumerate(getattr(row, key))]


def changed_since(subject: GateSubject, files: Base | None, cited: Collection[str]) -> str:
    """Return a file of the work that is another one now; empty if none is."""
    changed = base.look(str(subject.root), files).changed
    if changed is None:
        return "nobody knows which files"
    about = about_the_work(str(subject.root), files, changed, cited)
    left = sorted(set(changed) - about - {subject.gate_file})
    return clip(left[0], 120) if left else ""


def gate_problem(subject: GateSubject, gate: Gate, cited: Collection[str]) -> str:
    """Say why a gate of the session shows nothing; empty if omo saw it pass on these files since the goal began."""
    last = gate.last
    # The command that closes a goal runs the gates and starts the next one, all at one moment.
    if last is None or seconds(last.row["ts"]) <= subject.started_at:
        return "was not run since the goal began"
    if not last.passed:
        return f"did not pass ({last.result})"
    if changed := changed_since(subject, last.row.get("files"), cited):
        return f"passed before {changed} changed"
    return ""


def about_the_work(root: str, files: Base | None, changed: Iterable[str], cited: Collection[str]) -> set[str]:
    """Return those of the files that changed since `files` that tell of the work and are none of it: cited, no code,
    and not there then. Whoever cites a source, or a page that was looked at, cannot hide that it was changed."""
    there = set((files or {}).get("files") or ())
    candidates = []
    for path in changed:
        was_there = path in there and not path.startswith(EVIDENCE)
        if path in cited and path.lower().endswith(EVIDENCE_ENDS) and not was_there:
            candidates.append(path)
    head = (files or {}).get("head")
    committed = git.committed(root, head, candidates) if head and candidates else {}
    return {path for path in candidates if path not in committed}
