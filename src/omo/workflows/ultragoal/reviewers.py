"""Who reviews a goal: what each agent is asked, in which form it answers, and what a hook saw it say last.

An agent is told the goal's contract and where the work began, and nothing of what the leader says about the work.
"""

from __future__ import annotations

from omo.json_text import Json
from omo.proof import base
from omo.text import clip, listed
from omo.work import agents, requests
from omo.work.agents import AgentMessage, NoAnswer, Review
from omo.work.briefs import quoted
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.flow import FLOW
from omo.workflows.ultragoal.plan import NOT_REVIEWED, Goal, Plan
from omo.workflows.ultragoal.run import PlanRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.ledger_rows import SessionEvent
    from omo.workflows.ultragoal.rows import Receipt, SeenReview


# At the end of a plan the architect answers for what the user asked for, not only for the goals made of it.
REQUEST = "requestStatus"
REQUEST_FORM = {REQUEST: "MET | MISSING"}
OF_THE_REQUEST = (
    "With this goal the plan is at its end. Is all of it there that the user asked for, in the words above, and does "
    "it hold when it is tried? requestStatus is MET only if you saw that; else MISSING, and name under blockers what "
    "is not there. That no goal was made of something is no excuse."
)
STEPS = {step.agent: step for step in FLOW.steps}
INDEPENDENT = {agent: step.role for agent, step in STEPS.items() if step.lanes}
ARCHITECT, QA = INDEPENDENT
SECTIONS = ("architectReview", "executorQa")
OPEN = "open blockers"
LONGEST = 8000
MOST_FILES = 200  # in a brief
MOST_CHANGED = 50  # in a receipt


def _clean_words() -> dict[str, str]:
    """Return what a clean report says in each field; the last field that is there is its verdict."""
    clean = {}
    for form in (REQUEST_FORM, *(step.form for step in FLOW.steps), {"status": "passed | failed"}):
        for name, words in form.items():
            if " | " in words:
                clean[name] = words.partition(" | ")[0]
    return clean


CLEAN = _clean_words()


# What they are asked


def review_brief(run: PlanRun, goal: Goal, role: str) -> str:
    """Return what the agent of this role is asked. With the plan's last goal the architect answers for all that the
    user typed."""
    from omo.engine.asking import item_brief  # which loads all that judges are asked with

    plan, step = run.require_plan(), FLOW.briefed[role]
    parts = [f"{goal.id} {goal.title}:\n{quoted(goal.objective, LONGEST)}"]
    if plan.constraints:
        parts.append(f"It holds for the whole plan:\n{quoted(plan.constraints, LONGEST)}")
    if plan.base:
        began = f"The plan's work began at commit {plan.base}"
        parts.append(f"{began}: git diff {plan.base}, and what git does not know yet.")
    form = step.form
    if role == "critic":  # which has no shell to ask git
        parts.append(_files(_changed_files(run, plan, goal)))
    if role == "architect" and receipts.is_last(plan, goal) and (asked := requests_of(run, plan)):
        words = [quoted(text, LONGEST) for text in asked]
        parts += ["\n".join(["What the user asked for, as they typed it:", *words]), OF_THE_REQUEST]
        form = {**REQUEST_FORM, **form}
    return item_brief(step, goal.id, parts, {FLOW.unit: goal.id, **form} if form else {})


def _files(changed: list[str] | None) -> str:
    if changed is None:
        return "Which files were changed cannot be told here: find them by what the goal asks for."
    if not changed:
        return "No file was changed since it began: report that, as the fragment says."
    return "Files changed since it began:\n  " + listed(changed, MOST_FILES, between="\n  ")


def _changed_files(run: PlanRun, plan: Plan, goal: Goal) -> list[str] | None:
    """Return the files changed since the goal began, if anybody can tell: they are known as the last reviewer before
    that saw them, else from the plan's start."""
    began = plan.started.get("files")
    for message in agents.messages_in(run.caller.events, INDEPENDENT):
        if message.files and plan.started_at <= message.ts <= (goal.started_at or ""):
            began = message.files
    changed = base.look(run.caller.root, began).changed
    return None if changed is None else sorted(path for path in changed if not path.startswith(agents.EVIDENCE))


def requests_of(run: PlanRun, plan: Plan) -> list[str]:
    """Return all that the user asked for: what the plan was made of, and what they typed after it."""
    later = [requests.text_of(row) for row in asked_later(run, plan)]
    return list(dict.fromkeys([*plan.requests, *later]))


def asked_later(run: PlanRun, plan: Plan) -> list[SessionEvent]:
    return requests.later(run.caller.events, "ultragoal", plan.started_at)


# What they were seen to say


def reviews_of(run: PlanRun, goal: Goal) -> dict[str, Review]:
    """Return the newest word of each reviewer since the goal began. One that closed another goal, or names another as
    what it was asked about, was said of that one alone. A verdict that is not clean stands until a clean one on other
    files follows: words without one do not take it back."""
    messages = _said_of(run, goal)
    reported: list[AgentMessage] = []
    for agent in INDEPENDENT:
        said = [message for message in messages if message.agent == agent]
        counting = agents.words_that_count(
            said, _is_clean, lambda first, second: agents.same_files(first.files, second.files)
        )
        reported += counting
        verdicts = [message for message in counting if _is_clean(message) is not None]
        if verdicts and not _is_clean(verdicts[-1]):
            reported.append(verdicts[-1])  # as the newest
    return agents.newest_reviews(run.caller.root, reported, read_verdict)


def _said_of(run: PlanRun, goal: Goal) -> list[AgentMessage]:
    """Return what reviewers said since the goal began, but for what was said of another."""
    of_others: set[tuple[int, str]] = set()
    for row in run.rows:
        receipt = row.get("completionVerification") or {}
        if receipt.get("goalId") != goal.id:
            of_others.update((review["row"], review["digest"]) for review in receipt.get("agents") or [])
    began = goal.started_at or run.require_plan().started_at
    said = []
    for message in agents.messages_in(run.caller.events, INDEPENDENT):
        about = last_report(message.text).get("goal")  # as the form of the brief has it
        is_other = (message.seq, message.digest) in of_others or about not in (None, "", goal.id)
        if message.ts >= began and not is_other:
            said.append(message)
    return said


def _is_clean(message: AgentMessage) -> bool | None:
    """Return whether a verdict is clean; None for words without one."""
    try:
        return read_verdict(message.text, message.agent)[1]
    except NoAnswer:
        return None


def _reports(text: str) -> list[Json]:
    """Return the reports of a message, also those inside their section of a gate."""
    reports = []
    for report in agents.objects(text):
        for section in SECTIONS:
            if isinstance(report.get(section), dict):
                report = report[section]
        reports.append(report)
    return reports


def last_report(text: str) -> Json:
    reports = _reports(text)
    return reports[-1] if reports else {}


def read_verdict(text: str, agent: str) -> tuple[str, bool]:
    """Return the verdict in the last report of an agent's message, and whether it is clean. One that is not clean
    stands, whatever is said behind it: "a report that fails, and behind it what one that passes would say"."""
    lanes = set(STEPS[agent].lanes)
    verdicts: dict[str, str] = {}
    *earlier, report = _reports(text) or [{}]
    for each in [*(other for other in earlier if lanes & other.keys()), report]:
        verdicts = {key: each[key] for key in CLEAN if isinstance(each.get(key), str)}
        for key, verdict in verdicts.items():
            is_form = " | " in verdict and each is not report  # the brief's, repeated
            if verdict.strip().lower() != CLEAN[key].lower() and not is_form:
                return clip(verdict, 40), False
        if each.get("blockers"):
            return OPEN, False
    if not lanes <= verdicts.keys():
        raise NoAnswer("not every lane has a verdict")
    return clip(list(verdicts.values())[-1], 40), True


def request_status(text: str) -> str:
    """Return what a report says of the user's request; empty if it says nothing."""
    return clip(str(last_report(text).get(REQUEST) or ""), 40)


# What a receipt keeps of them


def render(reviews: dict[str, Review]) -> list[SeenReview]:
    """Return who said it, when, in which row of the session's ledger, and what changed since."""
    rendered = []
    for agent, review in reviews.items():
        message = review.message
        row: SeenReview = {"role": INDEPENDENT[agent], "at": message.ts, "row": message.seq, "digest": message.digest}
        if review.verdict:
            row |= {"verdict": review.verdict, "clean": review.is_clean}
        if request := request_status(message.text):
            row["request"] = request
        row["changed"] = None if review.changed is None else review.changed[:MOST_CHANGED]
        rendered.append(row)
    return rendered


def found_clean_by(receipt: Receipt) -> list[str]:
    """Return the reviewers who were seen to find the goal clean on the files of its receipt."""
    reviews = receipt.get("agents") or []
    return sorted(review["role"] for review in reviews if review.get("clean") and review.get("changed") == [])


def independence_of(receipt: Receipt) -> str:
    if receipt.get("independence") == agents.FULL:
        return "independence: full (architect and qa were seen to find it clean)"
    roles = " and ".join(found_clean_by(receipt)) or "no reviewer"
    return f"{NOT_REVIEWED} ({roles} seen to find it clean on these files)"
