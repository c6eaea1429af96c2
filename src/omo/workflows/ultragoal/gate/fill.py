"""A gate filled in from what omo saw: gates it ran, commands it recorded, files that were added, reviewers' reports.

Nothing is believed because it was filled in: the gate is inspected like one that was written by hand. What nobody has
shown yet is missing, and each missing part names the command or the agent that brings it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from omo import safe_open
from omo.errors import BadInput
from omo.proof import artifacts, documents, replay
from omo.text import block, clip
from omo.work.agents import Review
from omo.work.status import command_line
from omo.workflows.ultragoal import reviewers
from omo.workflows.ultragoal.gate import proof, rules
from omo.workflows.ultragoal.gate.models import SURFACES, Defect
from omo.workflows.ultragoal.gate.proof import Subject
from omo.workflows.ultragoal.plan import Goal
from omo.workflows.ultrawork.gates import Gate

Row = dict[str, Any]

ARCHITECT, QA = reviewers.INDEPENDENT
VERDICTS = ("architectureStatus", "productStatus", "codeStatus", "recommendation")
REVIEWERS_ONLY = ("e2eStatus", "redTeamStatus", "redTeamCommands", "adversarialCases")
LONGEST_EVIDENCE = 8000
PICTURES = (".png", ".jpg", ".jpeg")
ESCAPE = b"\x1b["
SHOW = "nothing shows it where people use it: omo evidence replay -- COMMAND, or omo evidence add FILE --goal {}"
ATTACK = (
    'nobody has tried to break it: omo evidence replay --attack "what is tried" --expect "what is right" -- COMMAND'
)
RERUN = "nothing was run that can be run again: omo evidence replay -- COMMAND, or omo gate add NAME -- COMMAND"


@dataclass(frozen=True)
class Proof:
    """Something that shows the goal: its row in artifactRefs, and what was run for it, if anything was.

    `scenario` says how it tried to break the work, `surface` on what people would see it, `problem` why it shows
    nothing now.
    """

    row: Row
    command: str = ""
    surface: str = ""
    scenario: str = ""
    expected: str = ""
    problem: str = ""

    @property
    def id(self) -> str:
        return str(self.row["id"])

    @property
    def anew(self) -> str:
        """The command that records it again."""
        case = ["--attack", self.scenario, "--expect", self.expected] if self.scenario else []
        return f"{command_line(('omo', 'evidence', 'replay', *case))} -- {self.command}"


@dataclass
class Filled:
    """`way_out` is of a gate that stands in the way, where no work can make it pass."""

    document: Row = field(default_factory=dict)
    missing: list[Defect] = field(default_factory=list)
    way_out: str = ""

    def lacks(self, path: str, message: str) -> None:
        self.missing.append(Defect(path, "MISSING", message))


def fill(goal: Goal, subject: Subject, reviews: Mapping[str, Review], events: list[Row], words: str = "") -> Filled:
    """`events` are what hooks saw in the session, `words` what whoever closes the goal says of it."""
    filled = Filled()
    proofs = recorded(subject)
    cited = frozenset(str(shown.row["path"]) for shown in proofs)
    gates = {gate.name: proof.gate_problem(subject, gate, cited) for gate in subject.gates or ()}
    proofs += _passing(subject, gates)
    said: dict[str, Review] = {}
    for agent, place in ((ARCHITECT, "architectReview"), (QA, "executorQa.redTeamStatus")):
        why = _review_problem(agent, goal, reviews.get(agent), subject, cited)
        if not why:
            said[agent] = reviews[agent]
        elif not subject.is_light:
            filled.lacks(place, why)
    if not subject.is_light:
        filled.document["architectReview"] = _architect_review(said.get(ARCHITECT))
    filled.document["executorQa"] = _executor_qa(goal, subject, proofs, said.get(QA), filled)
    report = _cleaner_report(events, goal.started_at or "")
    filled.document["iteration"] = _iteration(subject, proofs, gates, filled, report, words)
    return filled


def recorded(subject: Subject) -> list[Proof]:
    """What was recorded or added for the goal, the newest at each path."""
    newest = {}
    for artifact in artifacts.list_artifacts(subject.state, subject.goal):
        newest[artifact.path] = artifact
    proofs = []
    for number, (path, artifact) in enumerate(newest.items(), start=1):
        row = {"id": f"evidence-{number}", "kind": "test-report", "path": path, "description": path}
        if not artifacts.is_unchanged(subject.root, path, artifact.digest):
            shown = Proof(row, problem=f"{clip(path, 100)} is not as it was recorded")
        elif artifact.files is None:
            shown = _file(subject, row)
        else:
            shown = _run(subject, row)
            if changed := proof.changed_since(subject, artifact.files, frozenset(newest)):
                shown = replace(shown, problem=f"recorded before {changed} changed: {shown.anew}")
        proofs.append(shown)
    return proofs


def _run(subject: Subject, row: Row) -> Proof:
    """A command that omo ran. Only an attempt to break the work may end as it likes."""
    try:
        record = replay.parse_replay(documents.load(subject.root / row["path"]))
    except BadInput as error:
        return Proof(row, problem=error.message)
    command, problem = shlex.join(record.command), ""
    if record.exit_code and not record.scenario:
        problem = f"{clip(command, 100)} ended with exit {record.exit_code}, which is no success"
    row |= {"kind": "cli-replay", "description": command}
    return Proof(row, command, "cli", record.scenario, record.expected, problem)


def _file(subject: Subject, row: Row) -> Proof:
    """A file that somebody added: what it is is told by its content."""
    path, surface = subject.root / row["path"], ""
    if path.suffix.lower() in PICTURES:
        row["kind"] = "screenshot"
    elif path.suffix.lower() == ".json":
        try:
            document = documents.load(path)
        except BadInput:
            document = None
        if isinstance(document, dict) and "actions" in document:
            row["kind"], surface = "browser-automation", str(document.get("surface") or "web")
        elif isinstance(document, dict) and document.get("kind") == "cli-replay":
            row["kind"], surface = "cli-replay", "cli"
    elif ESCAPE in safe_open.read_start(str(path), LONGEST_EVIDENCE)[0]:
        row["kind"], surface = "terminal-capture", "tui"
    return Proof(row, surface=surface if surface in SURFACES else "")


def _passing(subject: Subject, problems: Mapping[str, str]) -> list[Proof]:
    """The session's gates that pass, and whose last run proves no other goal."""
    proofs = []
    for gate in subject.gates or ():
        if not problems[gate.name] and proof.run_mark_of(gate) not in subject.used:
            command = shlex.join(gate.argv)
            row = {"id": f"gate-{gate.name}", "kind": "gate-result", "gate": gate.name, "description": command}
            proofs.append(Proof(row, command))
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
    unnamed = [name for name in subject.unreviewed if name not in reviewers.goals_in(review.message.text)]
    if unnamed:
        return f"{agent} does not say that it looked at {', '.join(unnamed)}, whose reviewers come with {goal.id}"
    return ""


def _architect_review(review: Review | None) -> Row:
    """As the architect was seen to say it; without that, what is left to write."""
    section: Row = {**dict.fromkeys(VERDICTS, ""), "evidence": "", "commands": [], "blockers": []}
    if review is not None:
        report = reviewers.last_report(review.message.text)
        section |= {name: reviewers.CLEAN[name] for name in VERDICTS}  # three times CLEAR is what it approves
        section["evidence"] = _evidence_of(review, report)
        section["commands"] = report.get("commands") or [review.message.source]
    return section


def _executor_qa(goal: Goal, subject: Subject, proofs: list[Proof], review: Review | None, filled: Filled) -> Row:
    """The reviewer's own rows where it returned some; all others from what was recorded."""
    report = reviewers.last_report(review.message.text) if review is not None else {}
    good = [shown for shown in proofs if not shown.problem]
    attacks = [shown for shown in good if shown.scenario]
    runs = [shown for shown in good if shown.command and not shown.scenario]
    contract = f"{goal.id} {goal.title}"
    rows = _rows(report, "artifactRefs")
    named = [row.get("path") or row.get("gate") for row in rows]
    own = [shown.row for shown in good if (shown.row.get("path") or shown.row.get("gate")) not in named]
    verdict = "passed" if review is not None else ""
    section: Row = {
        "status": "passed",
        "e2eStatus": verdict,
        "redTeamStatus": verdict,
        "evidence": _evidence_of(review, report) if review is not None else "",
        "e2eCommands": report.get("e2eCommands") or [shown.command for shown in runs or attacks],
        "redTeamCommands": report.get("redTeamCommands") or [shown.command for shown in attacks],
        "artifactRefs": [*rows, *own],
        "surfaceEvidence": _rows(report, "surfaceEvidence") or _surfaces(contract, good),
        "adversarialCases": _rows(report, "adversarialCases") or _cases(contract, attacks),
        "contractCoverage": _rows(report, "contractCoverage"),
        "blockers": [],
    }
    if review is not None:
        section["redTeamCommands"] = section["redTeamCommands"] or [review.message.source]
    if not section["surfaceEvidence"]:
        problems = [shown.problem for shown in proofs if shown.problem and not shown.scenario]
        filled.lacks("executorQa.surfaceEvidence", "; ".join(dict.fromkeys(problems)) or SHOW.format(goal.id))
    if not section["adversarialCases"] and not subject.is_light:
        problems = [shown.problem for shown in proofs if shown.problem and shown.scenario]
        filled.lacks("executorQa.adversarialCases", "; ".join(dict.fromkeys(problems)) or ATTACK)
    if subject.is_light:
        section = {name: value for name, value in section.items() if name not in REVIEWERS_ONLY}
        section["evidence"] = "; ".join(shown.row["description"] for shown in good)
    section["contractCoverage"] = section["contractCoverage"] or [_coverage(goal, contract, section, own)]
    return section


def _coverage(goal: Goal, contract: str, section: Row, own: list[Row]) -> Row:
    """The goal as one obligation, with all that shows it."""
    coverage: Row = {"id": "contract-1", "contractRef": contract, "obligation": goal.objective, "status": "covered"}
    shown_by = {
        "surfaceEvidenceRefs": section["surfaceEvidence"],
        "adversarialCaseRefs": section.get("adversarialCases"),
        "artifactRefs": own,
    }
    for name, rows in shown_by.items():
        if rows:
            coverage[name] = [row.get("id") for row in rows]
    return coverage


def _surfaces(contract: str, proofs: list[Proof]) -> list[Row]:
    """Each surface that was used, with what shows it: commands, a page with its picture, a terminal; else the gates."""
    cited: dict[str, list[Proof]] = {}
    is_used = any(shown.surface == "cli" and not shown.scenario for shown in proofs)
    for shown in proofs:
        if shown.surface and not (shown.scenario and is_used):
            cited.setdefault(shown.surface, []).append(shown)
    for word in ("web", "gui"):
        if word in cited:
            cited[word] += [shown for shown in proofs if shown.row["kind"] == "screenshot"]
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
        row = {"id": f"case-{number}", "contractRef": contract, "scenario": shown.scenario}
        rows.append({**row, "expectedBehavior": shown.expected, "verdict": "passed", "artifactRefs": [shown.id]})
    return rows


def _iteration(
    subject: Subject, proofs: list[Proof], problems: Mapping[str, str], filled: Filled, report: str, words: str
) -> Row:
    """What omo ran on the files as they are now. A gate that does not pass stands in the way."""
    commands = list(dict.fromkeys(shown.command for shown in proofs if shown.command and not shown.problem))
    lines = [words] if words else []
    if commands:
        lines.append(f"omo ran on the files as they are: {'; '.join(commands)}")
    elif filled.document["executorQa"]["surfaceEvidence"]:
        filled.lacks("iteration.rerunCommands", RERUN)
    for gate in subject.gates or ():
        why = problems[gate.name]
        has_passed = any(result["result"] == "pass" for result in gate.results)
        if not why:
            continue
        if gate.recorded or gate.allowed or (not subject.is_final and not has_passed):
            lines.append(f"gate {gate.name} {why}, as it did before")
        else:
            filled.lacks("iteration.status", f"gate {gate.name} {why}: mend what it says (omo gate run {gate.name})")
            filled.way_out = _way_out_of(gate, subject)
    if report:
        lines.append(report)
    evidence = "\n".join(lines)
    return {"status": "passed", "fullRerun": True, "rerunCommands": commands, "evidence": evidence, "blockers": []}


def _way_out_of(gate: Gate, subject: Subject) -> str:
    if gate.by == "user":
        goal = subject.goal.rpartition("/")[2]
        blocked = f"omo ultragoal classify-blocker --classification human_blocked --goal-id {goal} --evidence TEXT"
        return f"only the user lets what they pinned through (/omo:allow {gate.name}): {blocked}"
    return f"a gate that no work here can make pass goes, and the end says so: omo gate remove {gate.name}"


def _evidence_of(review: Review, report: Row) -> str:
    evidence = report.get("evidence")
    if isinstance(evidence, str) and evidence.strip():
        return evidence
    return block(review.message.text, LONGEST_EVIDENCE)


def _rows(report: Row, name: str) -> list[Row]:
    listed = report.get(name)
    return [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []


def _cleaner_report(events: list[Row], since: str) -> str:
    """The newest report of the cleaner that a hook saw an agent end with."""
    report = ""
    for row in events:
        message = row.get("message")
        is_seen = row.get("kind") == "agent-finished" and row.get("actor") == "hook" and row["ts"] >= since
        if is_seen and isinstance(message, str) and rules.REPORT in message:
            report = message[message.rindex(rules.REPORT) :]
    return block(report, LONGEST_EVIDENCE)
