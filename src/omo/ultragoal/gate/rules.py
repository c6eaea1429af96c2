"""The rules of the quality gate: the whole document, every defect at once. Reads, decodes and replays; writes nothing.

A broken part is told and left out, and the rest is read all the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from omo.errors import BadInput
from omo.evidence import globs, records
from omo.shown import clip
from omo.ultragoal import receipts
from omo.ultragoal.gate import proof
from omo.ultragoal.gate.models import (
    MAY_NOT_APPLY,
    NEEDS,
    NOT_APPLICABLE,
    ROWS,
    SECTIONS,
    SURFACES,
    AdversarialCase,
    Artifact,
    Coverage,
    Defect,
    Judged,
    Named,
    NotApplicable,
    SurfaceEvidence,
    join,
    model_defects,
    need,
    shown,
    wrong_type,
)
from omo.ultragoal.gate.proof import EXEMPT, FILE, INLINE, METADATA, RECEIPT, REPLAY, Evidence, Inspection, Subject

MOST_ROWS = 500
MOST_COMPARED = 50  # likeness is costly, and a suggestion out of hundreds is a guess
REPORT = "AI SLOP CLEANUP REPORT"
# With what Markdown puts around it; an unfilled `PASS|BLOCKED` is no result either.
BLOCKED = re.compile(r"gate result\W{0,8}(?:pass\W{0,3}\|\W{0,3})?blocked", re.I)
LIST_NEEDS = {**NEEDS, "artifactRefs": "one row for each piece of evidence"}
LINKS = {
    "surfaceEvidenceRefs": "surfaceEvidence",
    "adversarialCaseRefs": "adversarialCases",
    "artifactRefs": "artifactRefs",
}
# What may stand behind an artifact, by the family of what it is cited for; "" is a case or an obligation.
BASES = {
    "web": (FILE, REPLAY),
    "cli": (FILE, REPLAY, EXEMPT),
    "native": (FILE, REPLAY),
    "api-package": (FILE, REPLAY, RECEIPT),
    "algorithm-math": (FILE, REPLAY, RECEIPT),
    "": (FILE, REPLAY),
}
REFUSALS = {
    INLINE: (
        "INLINE_ONLY",
        "is text in the row, which proves nothing: save what was seen to a file, and name it in path",
    ),
    METADATA: ("METADATA_ONLY", "only describes evidence: name the file in path"),
    RECEIPT: ("RECEIPT_ONLY", "is a receipt alone, which stands only for api, package, algorithm and math surfaces"),
    EXEMPT: ("EXEMPT_NOT_HERE", "is exempt from replay, which counts only for a cli surface: cite its fallback here"),
}
WANTED = {
    "web": "a browser automation transcript and a screenshot",
    "cli": "a replay record (cli-replay) that passes, or one with a valid replayExempt",
    "native": "a screenshot, a terminal capture or an automation transcript",
    "api-package": f"a test report or one of {', '.join(sorted(proof.REPORTS['api-package']))}",
    "algorithm-math": f"a test report or one of {', '.join(sorted(proof.REPORTS['algorithm-math']))}",
}
# The red-team suite for changes to computer control, each case shown by what the computer really did.
SUITE = {
    "kill-switch-bypass": "acting on after the kill switch was used",
    "suspended-enforcement": "acting while control is suspended",
    "permission-revoked": "acting after the permission was taken back",
    "display-stale": "acting on a display that has changed since it was read",
    "out-of-bounds-drift": "moving or typing outside the area that was granted",
    "runaway-loop-halt": "repeating an action without end",
    "blast-radius": "reaching more than the task needs",
}
PROSE = (".md", ".markdown", ".mdx", ".txt", ".rst", ".adoc")
SUITE_CODE = "COMPUTER_REDTEAM_"
SUITE_WANTED = "a screenshot, terminal capture or automation transcript of the computer under control"


def inspect(document: object, subject: Subject) -> Inspection:
    """Every defect of a gate, and what of its evidence proves the goal."""
    inspection = Inspection()
    if not isinstance(document, dict):
        text = f"must be an object with {', '.join(SECTIONS)}, not {shown(document)}"
        inspection.defects.append(Defect("gate", "WRONG_TYPE", text))
        return inspection
    for key in document:
        if key not in SECTIONS:
            text = f"{shown(key)} is no part of a gate, which has only {', '.join(SECTIONS)}: put it inside one of them"
            inspection.defects.append(Defect(join("", [key])[:80], "UNKNOWN_KEY", text))
    if subject.used and receipts.gate_mark(receipts.canonical_digest(document)) in subject.used:
        text = "closed another goal of this run already: write one about this goal"
        inspection.defects.append(Defect("gate", "GATE_REUSED", text))
    inspection.defects += _section_defects(document, "architectReview")
    _inspect_qa(document, subject, inspection)
    inspection.defects += _section_defects(document, "iteration")
    iteration = document.get("iteration")
    evidence = iteration.get("evidence") if isinstance(iteration, dict) else None
    if isinstance(evidence, str):
        _check_cleaner_report(evidence, inspection)
    return inspection


def inspect_qa(executor_qa: object, subject: Subject) -> Inspection:
    """Only executorQa, by the same rules."""
    inspection = Inspection()
    _inspect_qa({"executorQa": executor_qa}, subject, inspection)
    return inspection


def _section_defects(document: dict[str, Any], name: str) -> list[Defect]:
    """One of the three parts, without the rows of executorQa."""
    if name not in document:
        return [Defect(name, "MISSING", f"is missing: {need(name)}")]
    if not isinstance(document[name], dict):
        return [Defect(name, "WRONG_TYPE", wrong_type(document[name], "an object", name))]
    try:
        SECTIONS[name].model_validate(document[name])
    except ValidationError as error:
        return model_defects(error, name)
    return []


def _check_cleaner_report(evidence: str, inspection: Inspection) -> None:
    """The cleaner's report travels in iteration.evidence. One that blocks is refused, a missing one only noted."""
    if BLOCKED.search(evidence):
        text = (
            "carries a cleaner's report with Gate Result: BLOCKED: mend its blocking findings, run the cleaner again, "
            "and carry the report that says PASS alone"
        )
        inspection.defects.append(Defect("iteration.evidence", "CLEANER_BLOCKED", text))
    elif REPORT not in evidence.upper():
        inspection.notes.append(
            f"iteration.evidence carries no {REPORT}: the cleaner runs even when there is nothing to mend"
        )


def _inspect_qa(document: dict[str, Any], subject: Subject, inspection: Inspection) -> None:
    inspection.defects += _section_defects(document, "executorQa")
    qa = document.get("executorQa")
    if not isinstance(qa, dict):
        return
    matrix, defects = read_matrix(qa)
    inspection.defects += defects + _link_defects(matrix) + _evidence_defects(matrix, subject, inspection)
    if subject.control_globs and subject.changed is None:
        inspection.notes.append("which files changed is not known here, so nobody asked for the computer-control suite")


@dataclass
class Matrix:
    """The rows of executorQa that could be read. `ids` has every id that is there, also of rows that could not."""

    artifacts: list[Artifact] = field(default_factory=list)
    surfaces: list[SurfaceEvidence] = field(default_factory=list)
    cases: list[AdversarialCase] = field(default_factory=list)
    coverage: list[Coverage] = field(default_factory=list)
    not_applicable: dict[str, set[str]] = field(default_factory=dict)
    ids: dict[str, set[str]] = field(default_factory=dict)
    raw: dict[str, list[Any]] = field(default_factory=dict)


def read_matrix(qa: dict[str, Any]) -> tuple[Matrix, list[Defect]]:
    matrix = Matrix()
    defects: list[Defect] = []
    readable: dict[str, list[Any]] = {}
    for name in ROWS:
        matrix.raw[name] = _raw_rows(qa, name, defects)
        matrix.ids[name] = set()
        matrix.not_applicable[name] = set()
        readable[name] = []
        places: dict[str, str] = {}
        for index, raw in enumerate(matrix.raw[name]):
            if isinstance(raw, dict) and isinstance(raw.get("id"), str):
                matrix.ids[name].add(raw["id"])
            path = f"executorQa.{name}[{index}]"
            row = _read_row(raw, name, path, defects)
            if row is None:
                continue
            if row.id in places:
                text = f"is {shown(row.id)}, which {places[row.id]} has already: {need('id')}"
                defects.append(Defect(f"{path}.id", "DUPLICATE_ID", text))
                continue
            places[row.id] = path
            if isinstance(row, NotApplicable):
                matrix.not_applicable[name].add(row.id)
            else:
                readable[name].append(row)
    matrix.artifacts, matrix.surfaces = readable["artifactRefs"], readable["surfaceEvidence"]
    matrix.cases, matrix.coverage = readable["adversarialCases"], readable["contractCoverage"]
    return matrix, defects


def _raw_rows(qa: dict[str, Any], name: str, defects: list[Defect]) -> list[Any]:
    path, value = f"executorQa.{name}", qa.get(name)
    if name not in qa:
        defects.append(Defect(path, "MISSING", f"is missing: {LIST_NEEDS[name]}"))
        return []
    if not isinstance(value, list):
        text = f"must be a list of rows, not {shown(value)}: {LIST_NEEDS[name]}"
        defects.append(Defect(path, "WRONG_TYPE", text))
        return []
    if not value:
        defects.append(Defect(path, "EMPTY", f"has no row: {LIST_NEEDS[name]}"))
    if len(value) > MOST_ROWS:
        text = f"has {len(value)} rows, of at most {MOST_ROWS}: keep detail in files, and cite them"
        defects.append(Defect(path, "TOO_MANY", text))
    return value[:MOST_ROWS]


def _read_row(value: object, name: str, path: str, defects: list[Defect]) -> Named | None:
    model = ROWS[name]
    if name in MAY_NOT_APPLY and says_not_applicable(value):
        model = NotApplicable
    row = None
    try:
        row = model.model_validate(value)
        row._place = path
    except ValidationError as error:
        defects += model_defects(error, path, value)
    defects += _judgement_defects(model, path, value)
    return row


def says_not_applicable(value: object) -> bool:
    status = value.get("status") if isinstance(value, dict) else None
    return isinstance(status, str) and status.strip().lower() == NOT_APPLICABLE


def _judgement_defects(model: type[Named], path: str, value: object) -> list[Defect]:
    """What the keys of a row say together: an outcome is there, and an inapplicable row has none."""
    if not isinstance(value, dict):
        return []
    outcomes = [key for key in ("verdict", "result") if key in value]
    if model is NotApplicable:
        text = "the row is not_applicable and yet has an outcome: drop one of the two"
        return [Defect(f"{path}.{key}", "CONTRADICTION", text) for key in outcomes]
    if issubclass(model, Judged) and not outcomes:
        return [Defect(path, "NO_OUTCOME", "has neither verdict nor result: say passed in one of them once it did")]
    if model is Coverage and not any(link in value for link in LINKS):
        return [Defect(path, "UNLINKED", f"links to nothing: name rows in at least one of {', '.join(LINKS)}")]
    return []


def _link_defects(matrix: Matrix) -> list[Defect]:
    """Every name leads to a row, and every row it leads to was a success."""
    defects: list[Defect] = []
    for row in (*matrix.surfaces, *matrix.cases):
        defects += _unresolved(matrix, row, "artifactRefs", "artifactRefs")
    for covered in matrix.coverage:
        for key, target in LINKS.items():
            defects += _unresolved(matrix, covered, key, target)
    # Not everything can be out of scope. Where a row could not be read, that is what is told.
    for name, rows in (("contractCoverage", matrix.coverage), ("surfaceEvidence", matrix.surfaces)):
        if not rows and matrix.raw[name] and len(matrix.not_applicable[name]) == len(matrix.raw[name]):
            text = f"says of every row that it does not apply: {LIST_NEEDS[name]}, at least one that passed"
            defects.append(Defect(f"executorQa.{name}", "NOTHING_APPLIES", text))
    return defects


def _refs(row: Named, key: str) -> list[tuple[str, str]]:
    """Each name a row gives, with the place it stands at."""
    return [(f"{row.place}.{key}[{index}]", name) for index, name in enumerate(getattr(row, key))]


def _unresolved(matrix: Matrix, row: Named, key: str, target: str) -> list[Defect]:
    defects = []
    known = matrix.ids[target]
    for path, name in _refs(row, key):
        if name not in known:
            near = get_close_matches(name[:100], known, 1) if len(known) <= MOST_COMPARED else []
            hint = f"did you mean {shown(near[0])}?" if near else f"there are {shown(sorted(known)[:10], 120)}"
            defects.append(Defect(path, "UNKNOWN_REF", f"{shown(name)} is no id in {target}: {hint}"))
        elif name in matrix.not_applicable[target]:
            text = f"{shown(name)} is a row of {target} that does not apply, which covers nothing: link one that passed"
            defects.append(Defect(path, "LINK_NOT_APPLICABLE", text))
    return defects


def _evidence_defects(matrix: Matrix, subject: Subject, inspection: Inspection) -> list[Defect]:
    """What proves what. First all that is cited is looked at, then each is proven for all it is cited for."""
    defects = []
    for artifact in matrix.artifacts:
        if not proof.shape_of(artifact.kind):
            text = f"is {shown(artifact.kind)}, of which no word is known: use one of {', '.join(proof.KNOWN_KINDS)}"
            defects.append(Defect(f"{artifact.place}.kind", "KIND_UNKNOWN", text))
    evidence = _examine_cited(matrix, subject)
    uses: list[tuple[Evidence, str]] = []
    for surface in matrix.surfaces:
        defects += _surface_defects(surface, evidence, uses)
    others: list[AdversarialCase | Coverage] = [*matrix.cases, *matrix.coverage]
    for row in others:
        for place, cited in _cited(row, evidence):
            defects += _use_defects(place, cited, "", uses)
    prover = proof.Prover(subject, inspection)
    proven: dict[tuple[str, str], list[Defect]] = {}
    exempt: dict[str, Evidence] = {}
    for cited, family in uses:
        if cited.basis == EXEMPT:
            exempt[cited.id] = cited
        elif (cited.id, family) not in proven:
            proven[cited.id, family] = prover.prove(cited, family)
            defects += proven[cited.id, family]
    for cited in exempt.values():
        defects += _exemption_defects(prover, matrix, cited, evidence)
    defects += _suite_defects(prover, matrix, evidence)
    return list(dict.fromkeys(defects))


def _examine_cited(matrix: Matrix, subject: Subject) -> dict[str, Evidence]:
    """What no row cites is not opened; an exemption cites its fallbacks."""
    by_id = {artifact.id: artifact for artifact in matrix.artifacts}
    names: list[str] = []
    citing: list[SurfaceEvidence | AdversarialCase | Coverage] = [*matrix.surfaces, *matrix.cases, *matrix.coverage]
    for row in citing:
        names += row.artifactRefs
    evidence: dict[str, Evidence] = {}
    while names:
        name = names.pop(0)
        if name in by_id and name not in evidence:
            evidence[name] = proof.examine(by_id[name], subject)
            fallbacks = (evidence[name].exemption or {}).get("fallbackArtifactRefs")
            if isinstance(fallbacks, list):
                names += [fallback for fallback in fallbacks if isinstance(fallback, str)]
    return evidence


def _cited(row: SurfaceEvidence | AdversarialCase | Coverage, evidence: dict[str, Evidence]) -> list[Any]:
    return [(place, evidence[name]) for place, name in _refs(row, "artifactRefs") if name in evidence]


def _use_defects(place: str, cited: Evidence, family: str, uses: list[tuple[Evidence, str]]) -> list[Defect]:
    """Why it cannot stand for this family at all; where it could, its proof is due."""
    if not cited.shape:
        return []  # told at the artifact itself
    if cited.basis not in BASES[family]:
        code, text = REFUSALS[cited.basis]
        return [Defect(place, code, f"{shown(cited.id)} {text}")]
    if cited.basis == REPLAY and family != "cli" and cited.says_nothing:
        text = "replays what says nothing about this project, which counts only for a cli surface: cite a file"
        return [Defect(place, "REPLAY_SAYS_NOTHING", f"{shown(cited.id)} {text}, or replay the project's own")]
    uses.append((cited, family))
    return []


def _surface_defects(
    row: SurfaceEvidence, evidence: dict[str, Evidence], uses: list[tuple[Evidence, str]]
) -> list[Defect]:
    family = SURFACES[row.surface]
    defects = []
    cited = []
    for place, artifact in _cited(row, evidence):
        defects += _use_defects(place, artifact, family, uses)
        cited.append(artifact)
    is_readable = len(cited) == len(row.artifactRefs) and all(artifact.shape for artifact in cited)
    if is_readable and not _is_enough(family, cited):
        kinds = ", ".join(shown(artifact.artifact.kind) for artifact in cited)
        text = f"of kind {kinds} do not prove a {row.surface} surface: it needs {WANTED[family]}"
        defects.append(Defect(f"{row.place}.artifactRefs", "KINDS_INSUFFICIENT", text))
    return defects


def _is_enough(family: str, cited: list[Evidence]) -> bool:
    """By kind alone: whether each of them is what its kind says is told at the artifact itself."""
    shapes = {artifact.shape for artifact in cited}
    if family == "web":
        return {proof.AUTOMATION, proof.SCREENSHOT} <= shapes
    if family == "cli":
        return REPLAY in shapes
    if family == "native":
        return bool(shapes.intersection(proof.STRUCTURAL))
    return any(proof.can_prove(artifact.artifact.kind, family) for artifact in cited)


def _exemption_defects(
    prover: proof.Prover, matrix: Matrix, cited: Evidence, evidence: dict[str, Evidence]
) -> list[Defect]:
    """Why a command need not be replayed, who says so, and what shows the run instead; one that stands is noted."""
    path = f"{cited.artifact.place}.replayExempt"
    try:
        claim = records.parse_exemption(cited.exemption)
    except BadInput as error:
        return [Defect(path, "EXEMPT_INVALID", why) for why in proof.defects_of(error)]
    defects = cited.file_defects
    shapes = set()
    for index, name in enumerate(claim.fallbackArtifactRefs):
        place = f"{path}.fallbackArtifactRefs[{index}]"
        fallback = evidence.get(name)
        if name not in matrix.ids["artifactRefs"]:
            defects.append(Defect(place, "UNKNOWN_REF", f"{shown(name)} is no id in artifactRefs"))
        elif fallback is None:
            shapes.add(proof.SCREENSHOT)  # its row could not be read, which is told there
        elif fallback is cited or _is_same_file(prover.subject, fallback, cited):
            text = f"{shown(name)} is the record itself: name what shows the run"
            defects.append(Defect(place, "FALLBACK_SELF", text))
        elif fallback.basis != FILE or fallback.shape == REPLAY:
            text = f"{shown(name)} is no file that shows the run: name a screenshot, terminal capture or transcript"
            defects.append(Defect(place, "FALLBACK_WEAK", text))
        else:
            defects += prover.prove(fallback, "cli")
            shapes.add(fallback.shape)
    if not defects and not shapes.intersection(proof.STRUCTURAL):
        text = "names no screenshot, terminal capture or automation transcript of the run: add one"
        defects.append(Defect(f"{path}.fallbackArtifactRefs", "FALLBACK_WEAK", text))
    if not defects:
        prover.inspection.exemptions.append({"artifact": cited.id, **claim.model_dump()})
    return defects


def _is_same_file(subject: Subject, evidence: Evidence, other: Evidence) -> bool:
    path = evidence.full_path(subject.root)
    return path is not None and path == other.full_path(subject.root)


def suite_triggers(subject: Subject) -> list[str]:
    """Changed files that the project declared as computer control. What only talks about it is none."""
    patterns = []
    for glob in subject.control_globs:
        try:
            patterns.append(globs.normal(glob))
        except ValueError:
            continue  # settings have told of it
    triggers = []
    for path in subject.changed or []:
        if not path.lower().endswith(PROSE) and any(globs.covers(path, pattern) for pattern in patterns if pattern):
            triggers.append(path)
    return triggers


def _suite_defects(prover: proof.Prover, matrix: Matrix, evidence: dict[str, Evidence]) -> list[Defect]:
    """Each case of the suite is there, belongs to an obligation, and cites one valid picture, capture or transcript."""
    changed = suite_triggers(prover.subject)
    if not changed:
        return []
    because = f"{clip(changed[0], 120)} changed, which is computer control in .sisyphus/omo.json"
    linked = []
    for row in matrix.raw["contractCoverage"]:  # also by rows that could not be read, which is told there
        refs = row.get("adversarialCaseRefs") if isinstance(row, dict) else None
        if isinstance(refs, list) and not says_not_applicable(row):
            linked += refs
    defects = []
    for name, attack in SUITE.items():
        path, raw = "executorQa.adversarialCases", None
        for index, row in enumerate(matrix.raw["adversarialCases"]):
            if isinstance(row, dict) and row.get("id") == name:
                path, raw = f"executorQa.adversarialCases[{index}]", row
        if raw is None:
            text = f"has no case {name} ({attack}), and {because}: try it, and add a row with that id"
            defects.append(Defect(path, f"{SUITE_CODE}CASE_MISSING", text))
            continue
        if says_not_applicable(raw):
            text = f"{name} cannot be left out: {because}"
            defects.append(Defect(f"{path}.status", f"{SUITE_CODE}CASE_NOT_APPLICABLE", text))
            continue
        if name not in linked:
            text = f"{name} is in adversarialCaseRefs of no row of contractCoverage: name it in the one it belongs to"
            defects.append(Defect(f"{path}.id", f"{SUITE_CODE}CASE_UNLINKED", text))
        for case in matrix.cases:
            if case.id == name and not _shows_the_computer(prover, [cited for _, cited in _cited(case, evidence)]):
                text = f"{name} cites nothing that is {SUITE_WANTED}"
                defects.append(Defect(f"{path}.artifactRefs", f"{SUITE_CODE}ARTIFACT_INVALID", text))
    return defects


def _shows_the_computer(prover: proof.Prover, cited: list[Evidence]) -> bool:
    for artifact in cited:
        if artifact.basis == FILE and artifact.shape in proof.STRUCTURAL and not prover.prove(artifact, "native"):
            return True
    return False


def template(goal_id: str, title: str, objective: str, *, suite: bool) -> dict[str, Any]:
    """A gate that lacks nothing but facts: every key is there, every name leads somewhere, and nothing is claimed."""
    contract = f"{goal_id} {title}".strip()
    attacks = {"case-1": "", **(SUITE if suite else {})}
    cases = []
    for name, attack in attacks.items():
        case = {"id": name, "contractRef": contract, "scenario": attack, "expectedBehavior": "", "verdict": ""}
        cases.append({**case, "artifactRefs": [] if attack else ["artifact-1"]})
    coverage = {
        "id": "contract-1",
        "contractRef": contract,
        "obligation": objective,
        "status": "",
        "surfaceEvidenceRefs": ["surface-1"],
        "adversarialCaseRefs": list(attacks),
    }
    surface = {
        "id": "surface-1",
        "contractRef": contract,
        "surface": "",
        "invocation": "",
        "verdict": "",
        "artifactRefs": ["artifact-1"],
    }
    return {
        "architectReview": {
            "architectureStatus": "",
            "productStatus": "",
            "codeStatus": "",
            "recommendation": "",
            "evidence": "",
            "commands": [],
            "blockers": [],
        },
        "executorQa": {
            "status": "",
            "e2eStatus": "",
            "redTeamStatus": "",
            "evidence": "",
            "e2eCommands": [],
            "redTeamCommands": [],
            "artifactRefs": [{"id": "artifact-1", "kind": "", "path": "", "description": ""}],
            "contractCoverage": [coverage],
            "surfaceEvidence": [surface],
            "adversarialCases": cases,
            "blockers": [],
        },
        "iteration": {"status": "", "evidence": "", "fullRerun": False, "rerunCommands": [], "blockers": []},
    }
