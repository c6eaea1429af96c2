"""Review of work that is already there, by the rules of the gate. What it finds can become goals.

The contract is a spec, and without one that obliges anybody to something no review passes.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omo import safe_open
from omo.digest import sha256
from omo.errors import BadInput
from omo.json_text import Json
from omo.proof import git, globs
from omo.state.runtime import part
from omo.text import clip
from omo.work import gates
from omo.work.run import Caller
from omo.workflows.ultragoal.brief import Brief, title_of
from omo.workflows.ultragoal.create import plan_row
from omo.workflows.ultragoal.gate.models import NOT_APPLICABLE, GateDefect, shown
from omo.workflows.ultragoal.gate.proof import GateSubject
from omo.workflows.ultragoal.gate.rules import inspect_qa
from omo.workflows.ultragoal.goals import goals_for
from omo.workflows.ultragoal.plan import MODES, Plan
from omo.workflows.ultragoal.rows import PlanRow
from omo.workflows.ultragoal.run import PlanRun, begin, settings_at
from omo.workflows.ultragoal.source import Source

PASS, FAIL = "pass", "fail"
WEAK_CONTRACT, UNSEEN_SOURCE = "inconclusive: weak-contract", "inconclusive: unseen-source"
OWN_CONTRACT = "attested: own-contract"
EXIT_CODES = {PASS: 0, FAIL: 3, WEAK_CONTRACT: 4, UNSEEN_SOURCE: 4, OWN_CONTRACT: 4}

MOST_LISTED = 50
LONGEST_FINDING = 2_000
STRONG, THIN, DERIVED = "strong", "thin", "thin-derived"
FEWEST_WORDS = 40
FEWEST_STATEMENTS = 3
# Words: "- fast" obliges nobody; test_a_contract_is_strong_when_it_obliges_somebody in tests/ultragoal/test_review.py.
SHORTEST_STATEMENT = 4
LARGEST_SPEC = 1_000_000

ITEM = re.compile(r"(?:[-*+•]|\(?\w{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(?=\S)")
OBLIGES = re.compile(r"\b(?:must|shall|should|given|when|then|requires?|never|always)\b", re.IGNORECASE)
# A sign of a script without blanks between words counts as a word.
WORD = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
# Headings and blocks of code state nothing.
NO_PROSE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)|^[ \t]*#.*?$", re.MULTILINE | re.DOTALL)
# Where a sentence ends (not after the number of a point), or a line that does not go on with a small letter.
SENTENCE_END = re.compile(r"(?<=[^\d][.!?;])\s+|(?<=[。！？；])\s*|\n(?!\s*[a-z])")


@dataclass(frozen=True)
class ReviewContract:
    """How much the contract says. Derived: there is none, so what the work was to do is a guess."""

    strength: str
    why: str


def measure(text: str) -> ReviewContract:
    """Count words, and sentences or points of a list that oblige somebody. What is said twice counts once."""
    is_statement: dict[str, bool] = {}
    for piece in SENTENCE_END.split(NO_PROSE.sub("", text)):
        sentence = " ".join(piece.split())
        marker = ITEM.match(sentence)
        if marker:
            sentence = sentence[marker.end() :].strip()
        obliges = marker is not None or bool(OBLIGES.search(sentence))
        is_long = len(WORD.findall(sentence)) >= SHORTEST_STATEMENT
        is_statement[sentence] = is_long and obliges
    words = sum(len(WORD.findall(sentence)) for sentence in is_statement)
    statements = sum(is_statement.values())
    is_strong = words >= FEWEST_WORDS and statements >= FEWEST_STATEMENTS
    why = f"{statements} of {FEWEST_STATEMENTS} acceptance statements, {words} of {FEWEST_WORDS} words"
    return ReviewContract(STRONG if is_strong else THIN, why)


def read_spec(root: Path, name: str, cwd: str) -> tuple[str, str]:
    """Return the spec's path in the project and its text. Raises BadInput if it cannot be read, or lies outside."""
    try:
        real, top = os.path.realpath(os.path.join(cwd, name)), os.path.realpath(root)
        inside = os.path.relpath(real, top)
        if not globs.is_inside(top, real) or globs.is_own(inside) or inside.split("/")[0] == ".git":
            raise ValueError("it is no file of this project")
        return inside, safe_open.read_file(real, LARGEST_SPEC).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        what = f"--spec {clip(name, 200)} cannot be read: {clip(str(error), 200)}"
        raise BadInput(what, fix="name a UTF-8 text file of this project with the contract") from None


@dataclass(frozen=True)
class QaReview:
    """`blockers` are what QA found in the work, `defects` what is wrong with the QA."""

    source: Source
    contract: ReviewContract
    blockers: list[str] = field(default_factory=list)
    defects: list[GateDefect] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_own_contract: bool = False  # it was written or changed with the work, so it says what the work does

    @property
    def findings(self) -> list[str]:
        return [*self.blockers, *map(str, self.defects)]

    @property
    def verdict(self) -> str:
        if self.findings:
            return FAIL
        if self.contract.strength != STRONG:
            return WEAK_CONTRACT
        if self.source.away:
            return UNSEEN_SOURCE
        return OWN_CONTRACT if self.is_own_contract else PASS

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.verdict]


def review(run: PlanRun, source: Source, *, spec: tuple[str, str] | None, executor_qa: object) -> QaReview:
    """Review work. Reads, decodes and replays; writes nothing. `spec` is its path and text, `executor_qa` is None if
    none came."""
    contract = ReviewContract(DERIVED, "no --spec says what the work is to do")
    notes = [source.away] if source.away else []
    is_own = False
    if spec is not None:
        contract = measure(spec[1])
        is_own = source.changed is None or spec[0] in source.changed or _is_newer_than_request(run.caller, *spec)
        if is_own:
            notes.append(f"{spec[0]} is not older than what is under review: hold it against one that is")
    if source.changed is None:
        notes.append("this is no git repository")
    elif not source.changed:
        notes.append(f"nothing differs from {source.base}")
    if executor_qa is None:
        text = "no executor QA was supplied: let omo:qa write it, then pass it with --executor-qa-json FILE"
        return QaReview(source, contract, [], [GateDefect("executorQa", text)], notes, is_own)
    qa = executor_qa
    if isinstance(executor_qa, dict) and "executorQa" in executor_qa:  # the gate it was written into
        qa = executor_qa["executorQa"]
    blockers = _blockers(qa)
    if isinstance(qa, dict) and blockers:
        qa = {**qa, "blockers": []}
    inspection = inspect_qa(qa, _subject(run.caller, source))
    defects = [GateDefect(defect.path, clip(defect.message, LONGEST_FINDING)) for defect in inspection.defects]
    is_readable = contract.strength == STRONG and not defects
    if spec is not None and is_readable and not _is_about(qa, os.path.basename(spec[0])):
        text = f"no covered row is about {spec[0]}: name the file and the point in contractRef"
        defects.append(GateDefect("executorQa.contractCoverage", text))
    return QaReview(source, contract, blockers, defects, notes + inspection.notes, is_own)


def _is_newer_than_request(caller: Caller, path: str, text: str) -> bool:
    """Return whether the spec is another than at the commit of the user's last request: one that the agent wrote
    meanwhile is its own, committed or not."""
    for row in reversed(caller.events):
        if row.get("kind") not in ("asked", "activated") or row.get("actor") != "user":
            continue
        for named in row.get("files") or ():
            if named.get("path") == path:  # as it was when they typed its name
                return bool(named.get("digest") != sha256(text.encode()))
        head = row.get("head") or part(row, "base").get("head")
        committed = git.committed(caller.root, str(head), [path]) if head else {}
        return committed.get(path, b"").decode("utf-8-sig", "replace") != text
    return False


def _is_about(qa: Any, name: str) -> bool:
    """Return whether a covered row names a file."""
    for row in qa["contractCoverage"]:
        is_covered = row["status"].strip().lower() != NOT_APPLICABLE
        if is_covered and name in f"{row['contractRef']} {row['obligation']}":
            return True
    return False


def _subject(caller: Caller, source: Source) -> GateSubject:
    committed = settings_at(caller.root, source.base_commit).computer_control
    return GateSubject(
        root=Path(caller.root),
        state=caller.state,
        goal="ultragoal/review",  # under which nothing is recorded
        started_at=0.0,  # the work is older than its review, and its evidence may be as old as the work
        changed=source.changed,
        control_globs=tuple(dict.fromkeys((*caller.control_globs, *committed))),
        gates=gates.fold(gates.with_project_pins(caller.state, caller.session, caller.events), None),
    )


def _blockers(qa: object) -> list[str]:
    """Return what QA itself reports as open, in whatever shape."""
    reported = qa.get("blockers") if isinstance(qa, dict) else None
    blockers = []
    for blocker in reported if isinstance(reported, list) else []:
        is_text = isinstance(blocker, str) and blocker.strip()
        blockers.append(clip(blocker, LONGEST_FINDING) if is_text else shown(blocker, LONGEST_FINDING))
    return blockers


def start(run: PlanRun, done: QaReview) -> tuple[PlanRun, list[str]]:
    """Make goals of the findings, new and known; where the session has no plan, this makes one."""
    name = f"{done.source.kind} {clip(done.source.name, 80)}"
    # What QA found in the work is a goal each, what is wrong with the QA is one.
    wordings = [(title_of(f"Resolve: {blocker}"), blocker) for blocker in done.blockers]
    if done.defects:
        lines = [f"- {clip(str(defect), 300)}" for defect in done.defects[:MOST_LISTED]]
        wordings.append(("Let the QA of the review hold", "\n".join(["The QA of the review has to hold:", *lines])))
    if not wordings:
        return run, []
    steering: Json = {"kind": "review_blocker", "source": done.source.kind, "name": clip(done.source.name, 80)}

    def decide(plan: Plan | None) -> tuple[list[str], list[PlanRow]]:
        events: list[PlanRow] = []
        if plan is None:
            events.append(plan_row(run, Brief(f"Resolve what the review of {name} found.", "", []), MODES[0]))
            ids, new = goals_for([], [], wordings, steering)
        else:
            ids, new = goals_for(plan.goals, plan.open_goals, wordings, steering)
        if new:
            row: PlanRow = {"kind": "review_blockers_recorded", "goalId": None, "goals": new}
            row["evidence"] = f"review of {name}: {done.verdict}"
            row["findings"] = [clip(finding, 300) for finding in done.findings[:MOST_LISTED]]
            events.append(row)
        return ids, events

    if run.id:
        return run, run.change_plan(decide)
    run = begin(run.caller)
    return run, run.change(decide)
