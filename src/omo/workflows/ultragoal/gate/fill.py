"""A gate filled in from what omo saw: gates it ran, commands it recorded, files that were added, reviewers' reports.

Nothing here is believed because it was filled in: the gate is inspected like one that was written by hand. What nobody
has shown yet is missing, and each missing part names the command or the agent that brings it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from omo.errors import BadInput
from omo.proof import artifacts, documents, records
from omo.proof.records import Record
from omo.text import block, clip
from omo.work.agents import Review
from omo.workflows.ultragoal import reviewers
from omo.workflows.ultragoal.gate import proof, rules
from omo.workflows.ultragoal.gate.models import SURFACES, Defect
from omo.workflows.ultragoal.gate.proof import Subject
from omo.workflows.ultragoal.plan import Goal

Row = dict[str, Any]

ARCHITECT, QA = reviewers.INDEPENDENT
LONGEST_EVIDENCE = 8000
PICTURES = (".png", ".jpg", ".jpeg")
ESCAPE = b"\x1b["
SHOW = "omo evidence replay -- COMMAND"
ATTACK = 'omo evidence replay --attack "how it is to be broken" --expect "what should happen" -- COMMAND'


@dataclass(frozen=True)
class Proof:
    """Something that shows the goal: its row in artifactRefs, and what was run for it, if anything was.

    `scenario` says how it tried to break the work, `surface` on what people would see it.
    """

    row: Row
    shape: str
    command: str = ""
    surface: str = ""
    scenario: str = ""
    expected: str = ""

    @property
    def id(self) -> str:
        return str(self.row["id"])


@dataclass
class Filled:
    document: Row = field(default_factory=dict)
    missing: list[Defect] = field(default_factory=list)

    def lacks(self, path: str, message: str) -> None:
        self.missing.append(Defect(path, "MISSING", message))

    @property
    def parts(self) -> tuple[str, ...]:
        """Where it is missing: what an inspection says of these places is said better by what would bring it."""
        return tuple(defect.path for defect in self.missing)


def fill(goal: Goal, subject: Subject, reviews: Mapping[str, Review], report: str = "", words: str = "") -> Filled:
    """`report` is the cleaner's, `words` what whoever closes the goal says of it."""
    filled = Filled()
    proofs, unusable = recorded(subject)
    cited = frozenset(str(shown.row["path"]) for shown in proofs)
    proofs += passing_gates(subject, cited)
    said = {}
    for agent, review in reviews.items():
        if not _review_problem(agent, goal, review, subject, cited):
            said[agent] = review
    if not subject.is_light:
        for agent, section in ((ARCHITECT, "architectReview"), (QA, "executorQa.redTeamStatus")):
            if agent not in said:
                filled.lacks(section, _review_problem(agent, goal, reviews.get(agent), subject, cited))
        filled.document["architectReview"] = _architect_review(said.get(ARCHITECT))
    filled.document["executorQa"] = _executor_qa(goal, subject, proofs, said.get(QA), filled, unusable)
    filled.document["iteration"] = _iteration(subject, proofs, cited, filled, report, words)
    return filled


def recorded(subject: Subject) -> tuple[list[Proof], list[str]]:
    """What was recorded or added for the goal and shows it now; and of the rest why it does not."""
    newest = {}
    for artifact in artifacts.list_artifacts(subject.state, subject.goal):
        newest[artifact.path] = artifact
    cited = frozenset(newest)
    proofs: list[Proof] = []
    unusable = []
    for path, artifact in newest.items():
        if not artifacts.is_unchanged(subject.root, path, artifact.digest):
            unusable.append(f"{clip(path, 100)} was changed after it was recorded")
        elif artifact.files is None:
            proofs.append(_file(subject, path, len(proofs) + 1))
        elif changed := proof.changed_since(subject, artifact.files, cited):
            unusable.append(f"{clip(path, 100)} was recorded before {changed} changed: record it again")
        else:
            try:
                proofs.append(_run(path, records.parse_replay(documents.load(subject.root / path)), len(proofs) + 1))
            except BadInput as error:
                unusable.append(error.message)
    return proofs, unusable


def _run(path: str, record: Record, number: int) -> Proof:
    command = shlex.join(record.command)
    if record.exit_code and not record.scenario:
        raise BadInput(f"{clip(command, 100)} ended with exit {record.exit_code}, which shows no success", fix="")
    row = {"id": f"run-{number}", "kind": "cli-replay", "path": path, "description": command}
    return Proof(row, proof.REPLAY, command, "cli", record.scenario, record.expected)


def _file(subject: Subject, path: str, number: int) -> Proof:
    """A file that somebody added: what it is is told by its content."""
    kind, surface = "test-report", ""
    if path.lower().endswith(PICTURES):
        kind = "screenshot"
    elif path.lower().endswith(".json"):
        try:
            document = documents.load(subject.root / path)
        except BadInput:
            document = None
        if isinstance(document, dict) and "actions" in document:
            kind, surface = "browser-automation", str(document.get("surface") or "web")
        elif isinstance(document, dict) and document.get("kind") == "cli-replay":
            kind, surface = "cli-replay", "cli"
    elif ESCAPE in (subject.root / path).read_bytes()[:LONGEST_EVIDENCE]:
        kind, surface = "terminal-capture", "tui"
    row = {"id": f"file-{number}", "kind": kind, "path": path, "description": f"{kind} {path}"}
    return Proof(row, proof.shape_of(kind), surface=surface if surface in SURFACES else "")


def passing_gates(subject: Subject, cited: frozenset[str]) -> list[Proof]:
    proofs = []
    for gate in subject.gates or ():
        is_spent = proof.run_mark_of(gate) in subject.used
        if not is_spent and not proof.gate_problem(subject, gate, cited):
            command = shlex.join(gate.argv)
            row = {"id": f"gate-{gate.name}", "kind": "gate-result", "gate": gate.name, "description": command}
            proofs.append(Proof(row, proof.REPORT, command))
    return proofs


def _review_problem(agent: str, goal: Goal, review: Review | None, subject: Subject, cited: frozenset[str]) -> str:
    """Why the word of a reviewer is missing; empty where it was seen to find the files as they are now clean."""
    if review is None:
        return f"{agent} was not seen to review {goal.id}: start that agent with the goal and the diff"
    if not review.is_clean:
        return f"{agent} ended without its verdict: let it end with the block that it is given"
    written_after = proof.about_the_work(str(subject.root), review.message.files, review.changed or (), cited)
    changed = review.without(written_after).changed
    if changed:
        return f"{agent} found it clean before {clip(changed[0], 100)} changed: let it look again"
    return ""


def _architect_review(review: Review | None) -> Row:
    """As the architect was seen to say it; without that, what is left to write."""
    section: Row = dict.fromkeys(("architectureStatus", "productStatus", "codeStatus", "recommendation"), "")
    section |= {"evidence": "", "commands": [], "blockers": []}
    if review is None:
        return section
    report = reviewers.last_report(review.message.text)
    for name in ("architectureStatus", "productStatus", "codeStatus", "recommendation"):
        section[name] = reviewers.CLEAN[name]  # three times CLEAR is what it approves
    section["evidence"] = _evidence_of(review, report)
    section["commands"] = _texts(report, "commands") or [review.message.source]
    return section


def _executor_qa(
    goal: Goal, subject: Subject, proofs: list[Proof], review: Review | None, filled: Filled, unusable: list[str]
) -> Row:
    """The reviewer's own rows where it returned some; all others from what was recorded."""
    report = reviewers.last_report(review.message.text) if review is not None else {}
    attacks = [shown for shown in proofs if shown.scenario]
    runs = [shown for shown in proofs if shown.command and not shown.scenario]
    artifact_rows = _rows(report, "artifactRefs")
    named = [str(row.get("path") or row.get("gate")) for row in artifact_rows]
    for shown in proofs:
        if str(shown.row.get("path") or shown.row.get("gate")) not in named:
            artifact_rows.append(shown.row)
    contract = f"{goal.id} {goal.title}"
    surfaces = _rows(report, "surfaceEvidence") or _surfaces(contract, proofs)
    if not surfaces:
        why = "; ".join(unusable) or "nothing shows it on the surface that people use"
        filled.lacks("executorQa.surfaceEvidence", f"{why}: {SHOW}, or omo evidence add FILE --goal {goal.id}")
    section: Row = {
        "status": "passed",
        "evidence": "; ".join(shown.row["description"] for shown in proofs),
        "e2eCommands": _texts(report, "e2eCommands") or [shown.command for shown in runs or attacks],
        "artifactRefs": artifact_rows,
        "contractCoverage": _rows(report, "contractCoverage"),
        "surfaceEvidence": surfaces,
        "blockers": [],
    }
    coverage: Row = {"id": "contract-1", "contractRef": contract, "obligation": goal.objective, "status": "covered"}
    if surfaces:
        coverage["surfaceEvidenceRefs"] = [row.get("id") for row in surfaces]
    if not subject.is_light:
        cases = _rows(report, "adversarialCases") or _cases(contract, attacks)
        if not cases:
            filled.lacks("executorQa.adversarialCases", f"nobody has tried to break it: {ATTACK}")
        if rules.suite_triggers(subject):
            cases += _suite_left(contract, cases)
        if cases:
            coverage["adversarialCaseRefs"] = [row.get("id") for row in cases]
        is_clean = review is not None
        section |= {
            "e2eStatus": "passed" if is_clean else "",
            "redTeamStatus": "passed" if is_clean else "",
            "evidence": _evidence_of(review, report) if review is not None else "",
            "redTeamCommands": _texts(report, "redTeamCommands") or [shown.command for shown in attacks],
            "adversarialCases": cases,
        }
        if review is not None:
            section["redTeamCommands"] = section["redTeamCommands"] or [review.message.source]
    if not section["contractCoverage"]:
        left = _uncited(proofs, [*surfaces, *section.get("adversarialCases", [])])
        section["contractCoverage"] = [{**coverage, "artifactRefs": left} if left else coverage]
    return section


def _uncited(proofs: list[Proof], rows: list[Row]) -> list[str]:
    """What shows the goal as a whole, such as the gates."""
    cited = []
    for row in rows:
        cited += _texts(row, "artifactRefs")
    return [shown.id for shown in proofs if shown.id not in cited]


def _surfaces(contract: str, proofs: list[Proof]) -> list[Row]:
    """Each surface that was used, with what shows it: commands, a page with its picture, a terminal, the gates."""
    cited: dict[str, list[Proof]] = {}
    is_used = any(shown.surface == "cli" and not shown.scenario for shown in proofs)
    for shown in proofs:
        if shown.surface and not (shown.scenario and is_used):
            cited.setdefault(shown.surface, []).append(shown)
    pictures = [shown for shown in proofs if shown.shape == proof.SCREENSHOT]
    for word in ("web", "gui"):
        if word in cited:
            cited[word] += pictures
    gates = [shown for shown in proofs if "gate" in shown.row]
    if gates and not cited:
        cited["package"] = gates
    rows = []
    for word, shown_by in cited.items():
        invocation = "; ".join(shown.row["description"] for shown in shown_by)
        row = {"id": f"surface-{word}", "contractRef": contract, "surface": word, "invocation": invocation}
        rows.append({**row, "verdict": "passed", "artifactRefs": [shown.id for shown in shown_by]})
    return rows


def _cases(contract: str, attacks: list[Proof]) -> list[Row]:
    rows = []
    for number, shown in enumerate(attacks, start=1):
        row: Row = {"id": f"case-{number}", "contractRef": contract, "scenario": shown.scenario}
        row |= {"expectedBehavior": shown.expected, "verdict": "passed", "artifactRefs": [shown.id]}
        rows.append(row)
    return rows


def _suite_left(contract: str, cases: list[Row]) -> list[Row]:
    """The cases of the computer-control suite that nobody has a row for."""
    known = [row.get("id") for row in cases]
    rows = []
    for name, attack in rules.SUITE.items():
        if name not in known:
            row = {"id": name, "contractRef": contract, "scenario": attack, "expectedBehavior": "", "verdict": ""}
            rows.append({**row, "artifactRefs": []})
    return rows


def _iteration(
    subject: Subject, proofs: list[Proof], cited: frozenset[str], filled: Filled, report: str, words: str
) -> Row:
    """What omo ran on the files as they are now. A gate that does not pass stands in the way."""
    commands = list(dict.fromkeys(shown.command for shown in proofs if shown.command))
    lines = [words] if words else []
    if commands:
        lines.append(f"omo ran on the files as they are: {'; '.join(commands)}")
    for gate in subject.gates or ():
        why = proof.gate_problem(subject, gate, cited)
        if not why:
            continue
        if gate.recorded or gate.allowed or (not subject.is_final and not _has_passed(gate.results)):
            lines.append(f"gate {gate.name} {why}, as it did before")
        else:
            filled.lacks("iteration.status", f"gate {gate.name} {why}: mend what it says (omo gate run {gate.name})")
    if not commands and "executorQa.surfaceEvidence" not in filled.parts:
        text = "nothing was run that can be run again: omo gate add NAME -- COMMAND, or omo evidence replay -- COMMAND"
        filled.lacks("iteration.rerunCommands", text)
    if report:
        lines.append(report)
    return {
        "status": "passed",
        "fullRerun": True,
        "rerunCommands": commands,
        "evidence": "\n".join(lines),
        "blockers": [],
    }


def _has_passed(results: list[Row]) -> bool:
    return any(result["result"] == "pass" for result in results)


def _evidence_of(review: Review, report: Row) -> str:
    evidence = report.get("evidence")
    if isinstance(evidence, str) and evidence.strip():
        return evidence
    return block(review.message.text, LONGEST_EVIDENCE)


def _rows(report: Row, name: str) -> list[Row]:
    listed = report.get(name)
    return [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []


def _texts(report: Row, name: str) -> list[str]:
    listed = report.get(name)
    return [text for text in listed if isinstance(text, str) and text.strip()] if isinstance(listed, list) else []


def cleaner_report(events: list[Row], since: str) -> str:
    """The newest report of the cleaner that a hook saw an agent end with."""
    report = ""
    for row in events:
        message = row.get("message")
        is_seen = row.get("kind") == "agent-finished" and row.get("actor") == "hook" and row["ts"] >= since
        if is_seen and isinstance(message, str) and rules.REPORT in message:
            report = message[message.rindex(rules.REPORT) :]
    return block(report, LONGEST_EVIDENCE)
