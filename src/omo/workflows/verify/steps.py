"""What a goal in progress owes, which of its answers still count on the tree as it is, and what a judge said of it."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from omo.clock import stamp
from omo.errors import Refused
from omo.proof import artifacts
from omo.state import runtime
from omo.text import block, clip
from omo.work import agents, briefs, judge, requests
from omo.work.files import Files
from omo.work.judge import JUDGE
from omo.work.run import Caller
from omo.work.status import Command, NextStep, command
from omo.workflows.verify.goals import (
    COMMIT_ARTIFACT,
    QUESTIONS,
    Goal,
    Goals,
    GoalStore,
    QuestionAnswer,
    Row,
    is_for_judgement,
    known,
    require_in_progress,
)

ASKED = "asked, never gates"  # q3
MOST_BRIEFS = 3  # in an attempt
JUDGE_LEADS = {"failed": "mend it, then", "owed": f"start a new {JUDGE} with this as its whole prompt"}
LONGEST_QUESTION = 2000
LONGEST_REQUEST = 8000
LONGEST_WHY = 300


def answering(goal: str, question: str, lead: str = "") -> Command:
    return command("omo verify answer", goal, "--question", question, "--file", "-", lead=lead)


def why_stale(goal: Goal, answer: QuestionAnswer, files: Files) -> str:
    """Why an answer no longer counts; empty while it does."""
    if answer.contract != goal.spec.contract:
        return "what the goal has to show was changed since"
    if answer.tree != files.tree:
        return "the tree was changed since"
    for name, digest in answer.artifacts.items():
        if digest != COMMIT_ARTIFACT and not artifacts.is_unchanged(Path(files.root), name, digest):
            return f"{name} was changed since"
    return ""


@dataclass(frozen=True)
class GoalStep:
    """One thing a goal owes: `done`, `owed`, `stale` or `failed`; q3 is only asked."""

    name: str
    state: str
    why: str
    way: Command

    @property
    def is_open(self) -> bool:
        return self.state != "done"

    @property
    def text(self) -> str:
        """`q1 stale (the tree was changed since): omo verify answer G1 …`."""
        why = f" ({clip(self.why, LONGEST_WHY)})" if self.why else ""
        way = f": {self.way.text}" if self.is_open else ""
        return f"{self.name} {self.state}{why}{way}"

    @property
    def data(self) -> dict[str, str]:
        return {"name": self.name, "state": self.state, "why": self.why, "command": self.way.text}


def steps(goal: Goal, caller: Caller, files: Files) -> list[GoalStep]:
    """Everything a goal in progress has to show, in order. `finish` is the last."""
    if goal.state != "in-progress":
        return []
    owed = []
    why_finish = ""
    if goal.failing and goal.checks_seen_on not in ("", files.tree):  # what they say of these files nobody knows
        why_finish = "it runs the checks again, which failed before files were changed"
    elif any(not is_for_judgement(check) for check in goal.spec.checks):
        owed.append(_checks_step(goal))
    judgement = judgement_of(goal, caller, files)
    if judgement is not None:
        lead = JUDGE_LEADS.get(judgement.state, "")
        ask = command("omo verify brief", goal.id, lead=lead)
        owed.append(GoalStep("judge", judgement.state, clip(judgement.why, 200), ask))
    questions = [step_of(goal, question, files) for question in QUESTIONS]
    # What was found broken is listed whether or not it was asked for.
    broken = [step for step in questions if step.state == "failed"]
    if judgement is not None and judgement.state == "done":
        questions = broken
    elif goal.spec.has_agent_leg:
        leg = step_of(goal, "agent-leg", files)
        if not leg.is_open or not any(question in goal.answers for question in QUESTIONS):
            owed.append(leg)
            questions = broken
    elif not goal.spec.asks_questions:
        questions = broken
        if goal.spec.outcomes:
            owed.append(step_of(goal, "outcomes", files))
    owed += questions
    how = ("--hypothesis-result", "RESULT") if goal.spec.hypothesis else ()
    finish = command("omo verify finish", goal.id, "--summary", "TEXT", *how)
    return [*owed, GoalStep("finish", "owed", why_finish, finish)]


def next_step(held: Iterable[Goal], owed: Mapping[str, list[GoalStep]], kept: Collection[str] = ()) -> NextStep:
    """What moves a session on that is held to these goals; `kept` are those that its row says it is held to."""
    for goal in held:
        for step in owed[goal.id]:
            if step.is_open:
                return NextStep(step.name, f"{goal.id} {step.name}", (step.way,), item=goal.id)
    for goal in held:
        if goal.state == "pending" and (goal.failures or goal.id in kept):
            # Without a failure the row that began it was lost with its journal's end, or the user filed it anew.
            why = f"{goal.id} failed ({clip(goal.reason, 60)})" if goal.failures else f"{goal.id} is not begun"
            return NextStep("begin", why, (command("omo verify begin", goal.id),), item=goal.id)
        if goal.state == "exhausted":
            again = command("omo verify begin", goal.id, "--again", "WHY")
            return NextStep("again", f"{goal.id} {goal.failed}", (again,), who="user", item=goal.id)
    for name in kept:
        if name in owed:
            continue
        anew = (command("omo verify add --file GOAL"), command("omo verify begin", name, lead="then"))
        return NextStep("add", f"the session is held to {name}, which is not in the journal", anew, item=name)
    return NextStep()


def _checks_step(goal: Goal) -> GoalStep:
    bad = [f"{check.id}: {check.reason}" for check in goal.failing]
    why = clip("; ".join(bad[:3]), 200) if goal.checks_seen else "not evaluated yet"
    again = command("omo verify begin", goal.id, lead="mend what they say" if bad else "", after="evaluates again")
    return GoalStep("checks", "owed" if bad or not goal.checks_seen else "done", why, again)


def step_of(goal: Goal, question: str, files: Files) -> GoalStep:
    """What was found broken on this tree stands, in this attempt and in every later one."""
    way = answering(goal.id, question)
    answer, is_broken = goal.answers.get(question), False
    for broken in goal.found_broken:
        if broken.question == question and broken.tree == files.tree:
            answer, is_broken = broken, True
    if answer is None:
        return GoalStep(question, ASKED if question == "q3" else "owed", "", way)
    if not is_broken and (why := why_stale(goal, answer, files)):
        return GoalStep(question, "stale", why, way)
    why = str(answer.said.get("why", ""))
    if answer.result == "failed":
        return GoalStep(question, "failed", why, answering(goal.id, question, lead="mend it"))
    return GoalStep(question, "done", why, way)


# The independent judge


@dataclass(frozen=True)
class GoalJudgement:
    """What the judge was seen to say of a goal.

    `state` is done or failed, owed where nobody has answered, stale where it spoke of other files, else unknown.
    `found_broken` is what it found not to hold on other files; empty where it has passed these.
    """

    state: str
    why: str
    answers: dict[str, judge.JudgeResult]
    found_broken: list[str]


def judgement_of(goal: Goal, caller: Caller, files: Files) -> GoalJudgement | None:
    """None where no judge was asked. What it found broken on these files stands, in every attempt."""
    if not goal.briefs:
        return None
    now = (goal.spec.contract, files.tree)
    failures, found_broken = [], []
    for brief in goal.briefs:
        said = agents.messages(caller.state, brief.session, JUDGE)
        for (_, check), answer in judge.failed(said, brief.nonce, brief.ts).items():
            line = f"{clip(check, 60)}: {clip(answer.evidence, 200)}"
            if (brief.contract, brief.tree) == now:
                failures.append(line)
            else:
                found_broken.append(line)
    newest = goal.briefs[-1]
    given = judge.read_messages(agents.messages(caller.state, newest.session, JUDGE), newest.nonce, newest.ts)
    asked: list[judge.Key] = [(goal.id, check) for check in goal.spec.in_words]
    matched, notes = judge.match(given, asked)
    answers = {check: answer for (_, check), answer in matched.items()}
    unclear = [f"{check}: {answer.evidence}" for check, answer in answers.items() if answer.result != "pass"]
    if failures:
        return GoalJudgement("failed", "; ".join(failures), answers, found_broken)
    if newest.attempt != goal.attempt or (newest.contract, newest.tree) != now:
        return GoalJudgement("stale", "it was asked about other files, or in another attempt", answers, found_broken)
    if given.unread:
        return GoalJudgement("owed", given.unread, answers, found_broken)
    if unclear:
        return GoalJudgement("unknown", clip("; ".join([*unclear, *notes]), 400), answers, found_broken)
    return GoalJudgement("done", f"{len(answers)} of {len(answers)} questions pass", answers, [])


def ask_judge(store: GoalStore, name: str) -> str:
    """The brief, whose nonce is recorded; the same one until it is answered. Nobody asks again until the answer suits.

    The judge itself may call for it, so that nobody copies it or adds to it.
    """
    goal = store.goal(name)
    caller = store.caller
    files = Files(caller.root)
    require_in_progress(goal)
    finish = f"omo verify finish {name} --summary TEXT"
    if not goal.spec.in_words:
        raise Refused(f"code evaluates all that goal {name} asks for, so there is nothing to judge", fix=finish)
    if not caller.session:
        raise Refused("no session is meant, so no hook could hear the judge", fix="name one with --session ID")
    judgement = judgement_of(goal, caller, files)
    if judgement is not None and judgement.state in ("done", "failed"):
        raise Refused(f"{JUDGE} has judged exactly these files: {judgement.why}", fix=f"mend the work, or {finish}")
    if judgement is not None and judgement.state == "owed":
        return _text(goal, caller, goal.briefs[-1].nonce)
    row: Row = {"kind": "brief", "goal": name, "attempt": goal.attempt, "nonce": secrets.token_hex(16)}
    row |= {"contract": goal.spec.contract, "tree": files.tree, "session": caller.session}

    def decide(goals: Goals) -> tuple[None, list[Row]]:
        asked = [other for other in known(goals, name).briefs if other.attempt == goal.attempt]
        if len(asked) >= MOST_BRIEFS:
            raise Refused(f"{JUDGE} was asked {MOST_BRIEFS} times in this attempt", fix=f"take what there is: {finish}")
        return None, [row]

    store.change_whole(decide)
    if not runtime.is_live(caller.row()):
        agents.expect(caller, JUDGE)
    return _text(goal, caller, row["nonce"])


def _text(goal: Goal, caller: Caller, nonce: str) -> str:
    lines = [f"{goal.id}: {clip(goal.spec.title, 200)}"]
    if goal.spec.description:
        lines.append(f"  {block(goal.spec.description, LONGEST_QUESTION)}")
    for check, question in goal.spec.in_words.items():
        lines.append(f"  - question {check}: {block(question, LONGEST_QUESTION)}")
    for row in requests.rows_since(caller.events, "verify", stamp(goal.filed_at)):
        if requests.documents_of(row):
            text = briefs.quoted(requests.text_of(row), LONGEST_REQUEST)
            lines.append(f"What the user asked for, as they typed it:\n{text}")
    return judge.brief_text("\n".join(lines), [(goal.id, check) for check in goal.spec.in_words], nonce)
