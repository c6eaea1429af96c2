"""A gate filled in from what omo saw: gates it ran, commands it recorded, files that were added, reviewers' reports.

Nothing is believed because it was filled in: the gate is inspected like one that was written by hand. What nobody has
shown yet is missing, and each missing part names the command or the agent that brings it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from omo import safe_open
from omo.errors import BadInput
from omo.json_text import Json
from omo.proof import artifacts, documents
from omo.state.ledger_rows import SessionEvent
from omo.text import block, clip
from omo.work.agents import Review
from omo.work.gates import Gate
from omo.work.status import command_line
from omo.workflows.ultragoal import reviewers
from omo.workflows.ultragoal.gate import proof, replay, rules
from omo.workflows.ultragoal.gate.models import SURFACES, GateDefect
from omo.workflows.ultragoal.gate.proof import GateSubject
from omo.workflows.ultragoal.plan import CLASSIFY, Goal

ARCHITECT, QA = reviewers.INDEPENDENT
VERDICTS = ("architectureStatus", "productStatus", "codeStatus", "recommendation")
LONGEST_EVIDENCE = 8000
PICTURES = (".png", ".jpg", ".jpeg")
ESCAPE = b"\x1b["
SHOW = "nothing shows it where people use it: omo evidence replay -- COMMAND, or omo evidence add FILE --goal {}"
ATTACK = (
    'nobody has tried to break it: omo evidence replay --attack "what is tried" --expect "what is right" -- COMMAND'
)
RERUN = "nothing was run that can be run again: omo evidence replay -- COMMAND, or omo gate add NAME -- COMMAND"


Rows = list[Json]  # of one of the lists of a gate: `omo.workflows.ultragoal.gate.models` says what is in them


@dataclass(frozen=True)
class GoalEvidence:
    """Something that shows the goal: its row in artifactRefs, and what was run for it, if anything was.

    `scenario` says how it tried to break the work, `surface` on what people would see it, `problem` why it shows
    nothing now.
    """

    row: Json
    command: str = ""
    surface: str = ""
    scenario: str = ""
    expected: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Filled:
    """The gate of a goal as far as omo can fill it in, and what it lacks."""

    document: Json
    missing: list[GateDefect]


def fill(
    goal: Goal,
    subject: GateSubject,
    reviews: Mapping[str, Review],
    events: list[SessionEvent],
    words: str = "",
    problem: str = "",
) -> Filled:
    """Fill in the gate of a goal. `events` are what hooks saw in the session, `words` what is said of the goal by
    whoever closes it. `problem` is why the command that was to show the goal shows nothing, which other evidence does
    not make good."""
    recorded = _recorded(subject)
    cited = frozenset(str(evidence.row["path"]) for evidence in recorded)
    valid = [evidence for evidence in recorded if not evidence.problem]
    missing: list[GateDefect] = []
    lines = [words] if words else []
    for gate in subject.gates or ():
        why = proof.gate_problem(subject, gate, cited)
        if not why:
            valid.append(_evidence_of_gate(gate))
        elif not _may_fail(subject, gate):
            text = f"gate {gate.name} {why}: mend what it says (omo gate run {gate.name}); {_way_out_of(gate, goal.id)}"
            missing.append(GateDefect("iteration.status", text))
    clean: dict[str, Review] = {}
    for agent, place in ((ARCHITECT, "architectReview"), (QA, "executorQa.redTeamStatus")):
        if why := _review_problem(goal, subject, agent, reviews.get(agent), cited):
            missing.append(GateDefect(place, why))
        else:
            clean[agent] = reviews[agent]
    executor_qa = _executor_qa(goal, valid, clean.get(QA))
    if not executor_qa["surfaceEvidence"]:
        why = _why_outdated(recorded, is_attack=False) or SHOW.format(goal.id)
        missing.append(GateDefect("executorQa.surfaceEvidence", why))
    if not executor_qa["adversarialCases"]:
        missing.append(GateDefect("executorQa.adversarialCases", _why_outdated(recorded, is_attack=True) or ATTACK))
    commands = list(dict.fromkeys(evidence.command for evidence in valid if evidence.command))
    if commands:
        lines.append(f"omo ran on the files as they are: {'; '.join(commands)}")
    elif executor_qa["surfaceEvidence"]:
        missing.append(GateDefect("iteration.rerunCommands", RERUN))
    if report := cleaner_report(events, goal.started_at or ""):
        lines.append(report)
    if problem and all(problem not in defect.message for defect in missing):
        missing.append(GateDefect("executorQa.e2eCommands", problem))
    document = {
        "architectReview": _architect_review(clean.get(ARCHITECT)),
        "executorQa": executor_qa,
        "iteration": {
            "status": "passed",
            "fullRerun": True,
            "rerunCommands": commands,
            "evidence": "\n".join(lines),
            "blockers": [],
        },
    }
    return Filled(document, missing)


def _evidence_of_gate(gate: Gate) -> GoalEvidence:
    """Return what a gate of the session shows that passes now."""
    command = shlex.join(gate.argv)
    row = {"id": f"gate-{gate.name}", "kind": "gate-result", "gate": gate.name, "description": command}
    return GoalEvidence(row, command, "package")


def _may_fail(subject: GateSubject, gate: Gate) -> bool:
    """Return whether a gate may fail: before the work it did, the user let it through, or it never passed and goals are
    left that may mend it."""
    return bool(gate.recorded or gate.allowed) or (not subject.is_final and not gate.has_passed)


def _review_problem(goal: Goal, subject: GateSubject, agent: str, review: Review | None, cited: frozenset[str]) -> str:
    """Say why the word of a reviewer is missing; empty if it was seen to find the files as they are now clean."""
    if review is None:
        brief = f"omo ultragoal brief {reviewers.INDEPENDENT[agent]}"
        return f"{agent} was not seen to review {goal.id}: start that agent with this as its whole prompt: {brief}"
    if not review.is_clean and review.verdict:
        return f"{agent} said {review.verdict}: mend what it found, and let it look again"
    if not review.is_clean:
        return f"{agent} ended without its verdict: let it end with the block that it is given"
    written_after = proof.about_the_work(str(subject.root), review.message.files, review.changed or (), cited)
    changed = review.without(written_after).changed
    if changed:
        return f"{agent} found it clean before {clip(changed[0], 100)} changed: let it look again"
    if agent == ARCHITECT and subject.has_request and not reviewers.request_status(review.message.text):
        return f"{agent} does not say whether all is there that the user asked for: omo ultragoal brief architect asks"
    return ""


def _executor_qa(goal: Goal, valid: list[GoalEvidence], review: Review | None) -> Json:
    """Make the section of QA: of the reviewer's own rows if it returned some, else of what was recorded."""
    report: Json = {}
    verdict, words = "", ""
    sources: list[str] = []
    if review is not None:
        report, verdict = reviewers.last_report(review.message.text), "passed"
        words, sources = _words_of(review, report), [review.message.source]
    rows = _rows(report, "artifactRefs")
    named = [_file_or_gate(row) for row in rows]
    own = [evidence.row for evidence in valid if _file_or_gate(evidence.row) not in named]
    attacked = [evidence.command for evidence in valid if evidence.scenario]
    ran = [evidence.command for evidence in valid if evidence.command and not evidence.scenario]
    contract = f"{goal.id} {goal.title}"
    surfaces = _rows(report, "surfaceEvidence") or _surfaces(contract, valid)
    cases = _rows(report, "adversarialCases") or _cases(contract, valid)
    return {
        "status": "passed",
        "e2eStatus": verdict,
        "redTeamStatus": verdict,
        "evidence": words,
        "e2eCommands": report.get("e2eCommands") or ran or attacked,
        "redTeamCommands": report.get("redTeamCommands") or attacked or sources,
        "artifactRefs": [*rows, *own],
        "surfaceEvidence": surfaces,
        "adversarialCases": cases,
        "contractCoverage": _rows(report, "contractCoverage") or [_coverage(goal, contract, surfaces, cases, own)],
        "blockers": [],
    }


def _why_outdated(recorded: list[GoalEvidence], *, is_attack: bool) -> str:
    """Say why what was recorded shows nothing any more."""
    problems = [evidence.problem for evidence in recorded if evidence.problem and bool(evidence.scenario) == is_attack]
    return "; ".join(dict.fromkeys(problems))


def _coverage(goal: Goal, contract: str, surfaces: Rows, cases: Rows, own: Rows) -> Json:
    """Make one obligation of the goal, with all that shows it."""
    coverage: Json = {"id": "contract-1", "contractRef": contract, "obligation": goal.objective, "status": "covered"}
    for name, rows in (("surfaceEvidenceRefs", surfaces), ("adversarialCaseRefs", cases), ("artifactRefs", own)):
        if rows:
            coverage[name] = [row.get("id") for row in rows]
    return coverage


def _surfaces(contract: str, valid: list[GoalEvidence]) -> Rows:
    """Make a row for each surface that was used, with what shows it; a page also by its pictures."""
    cited: dict[str, Rows] = {}
    for evidence in valid:
        if evidence.surface:
            cited.setdefault(evidence.surface, []).append(evidence.row)
    for surface in ("web", "gui"):
        if surface in cited:
            cited[surface] += [evidence.row for evidence in valid if evidence.row["kind"] == "screenshot"]
    rows = []
    for surface, shown_by in cited.items():
        row = {"id": f"surface-{surface}", "contractRef": contract, "surface": surface, "verdict": "passed"}
        row["invocation"] = "; ".join(artifact["description"] for artifact in shown_by)
        rows.append({**row, "artifactRefs": [artifact["id"] for artifact in shown_by]})
    return rows


def _cases(contract: str, valid: list[GoalEvidence]) -> Rows:
    rows: Rows = []
    for evidence in valid:
        if evidence.scenario:
            row = {"id": f"case-{len(rows) + 1}", "contractRef": contract, "scenario": evidence.scenario}
            row |= {"expectedBehavior": evidence.expected, "verdict": "passed"}
            rows.append({**row, "artifactRefs": [evidence.row["id"]]})
    return rows


def _recorded(subject: GateSubject) -> list[GoalEvidence]:
    """Return what was recorded or added for the goal, the newest at each path."""
    newest = {}
    for artifact in artifacts.list_artifacts(subject.state, subject.goal):
        newest[artifact.path] = artifact
    recorded = []
    for number, (path, artifact) in enumerate(newest.items(), start=1):
        row = {"id": f"evidence-{number}", "kind": "test-report", "path": path, "description": path}
        if not artifacts.is_unchanged(subject.root, path, artifact.digest):
            evidence = GoalEvidence(row, problem=f"{clip(path, 100)} is not as it was recorded")
        elif artifact.files is None:
            evidence = _evidence_of_file(subject, row)
        else:
            changed = proof.changed_since(subject, artifact.files, frozenset(newest))
            evidence = _evidence_of_run(subject, row, changed)
        recorded.append(evidence)
    return recorded


def _evidence_of_run(subject: GateSubject, row: Json, changed: str) -> GoalEvidence:
    """Return what a command shows that omo ran, unless a file has `changed` since. Only an attempt to break the work
    may end as it likes."""
    try:
        record = replay.parse_replay(documents.load(subject.root / row["path"]))
    except BadInput as error:
        return GoalEvidence(row, problem=error.message)
    command = shlex.join(record.command)
    problem = "" if record.scenario else replay.no_success(record.command, record.exit_code)
    if changed:
        case = ("--attack", record.scenario, "--expect", record.expected) if record.scenario else ()
        where = "" if record.cwd == "." else f", in {record.cwd}"
        anew = command_line(("omo", "evidence", "replay", *case))
        problem = f"recorded before {changed} changed{where}: {anew} -- {command}"
    row |= {"kind": "cli-replay", "description": command}
    return GoalEvidence(row, command, "cli", record.scenario, record.expected, problem)


def _evidence_of_file(subject: GateSubject, row: Json) -> GoalEvidence:
    """Return what a file shows that somebody added. Its name and content tell its kind."""
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
    return GoalEvidence(row, surface=surface if surface in SURFACES else "")


def _architect_review(review: Review | None) -> Json:
    """Make the section of what the architect was seen to say; without a clean review, a form to fill in."""
    section: Json = {**dict.fromkeys(VERDICTS, ""), "evidence": "", "commands": [], "blockers": []}
    if review is not None:
        report = reviewers.last_report(review.message.text)
        section |= {name: reviewers.CLEAN[name] for name in VERDICTS}  # a review that is clean says just these
        section["evidence"] = _words_of(review, report)
        section["commands"] = report.get("commands") or [review.message.source]
    return section


def _way_out_of(gate: Gate, goal: str) -> str:
    if gate.by == "user":
        blocked = f"{CLASSIFY} --goal-id {goal} --evidence TEXT"
        return f"only the user lets what they pinned through (/omo:allow {gate.name}): {blocked}"
    return f"one that no work here can make pass goes, and the end says so: omo gate remove {gate.name}"


def _words_of(review: Review, report: Json) -> str:
    evidence = report.get("evidence")
    if isinstance(evidence, str) and evidence.strip():
        return evidence
    return block(review.message.text, LONGEST_EVIDENCE)


def _rows(report: Json, name: str) -> Rows:
    listed = report.get(name)
    rows = listed if isinstance(listed, list) else []
    return [row for row in rows if isinstance(row, dict)]


def _file_or_gate(row: Json) -> object:
    return row.get("path") or row.get("gate")


def cleaner_report(events: list[SessionEvent], since: str) -> str:
    """Return the newest report of the cleaner that a hook saw an agent end with."""
    report = ""
    for row in events:
        message = row.get("message")
        is_seen = row.get("kind") == "agent-finished" and row.get("actor") == "hook" and row["ts"] >= since
        if is_seen and isinstance(message, str):
            for title in rules.TITLE.finditer(message):
                report = message[title.start() :]
    return block(report, LONGEST_EVIDENCE)
