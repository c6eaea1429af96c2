"""Which reviewers the host saw finish, and the last word of each."""

from __future__ import annotations

from omo.json_text import Json
from omo.proof import base
from omo.text import clip
from omo.work import agents, requests
from omo.work.agents import AgentMessage, NoAnswer, Review
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.plan import Goal, Plan
from omo.workflows.ultragoal.run import PlanRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.ledger_rows import SessionEvent
    from omo.workflows.ultragoal.plan import Receipt, SeenReview

INDEPENDENT = {"omo:architect": "architect", "omo:qa": "qa"}
# What a clean report says at its end; the last key that is there is its verdict.
CLEAN = {
    "requestStatus": "MET",
    "architectureStatus": "CLEAR",
    "productStatus": "CLEAR",
    "codeStatus": "CLEAR",
    "recommendation": "APPROVE",
    "e2eStatus": "passed",
    "redTeamStatus": "passed",
    "status": "passed",
}
# A report that leaves a lane out has no verdict; one word against is one, whatever else is there.
LANES = {
    "omo:architect": ("architectureStatus", "productStatus", "codeStatus"),
    "omo:qa": ("e2eStatus", "redTeamStatus"),
}
# At the end of a plan the architect answers for what the user asked for, not only for the goals made of it.
ARCHITECT = "omo:architect"
REQUEST = "requestStatus"
SECTIONS = ("architectReview", "executorQa")
OPEN = "open blockers"
NOT_REVIEWED = "not reviewed independently"
MOST_CHANGED = 50  # files in a receipt


def reviews_of(run: PlanRun, goal: Goal) -> dict[str, Review]:
    """The newest word of each reviewer since the goal began. One that closed another goal, or names another as what it
    was asked about, was said of that one alone. A verdict that is not clean stands until a clean one on other files
    follows: words without one do not take it back."""
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
    """What reviewers said since the goal began, but for what was said of another."""
    of_others: set[tuple[int, str]] = set()
    for receipt in receipts.issued(run.rows):
        if receipt.get("goalId") != goal.id:
            of_others.update((review["row"], review["digest"]) for review in receipt.get("agents") or [])
    began = goal.started_at or run.require_plan().created_at
    events = [event for event in run.caller.events if event["ts"] >= began]
    said = []
    for message in agents.messages_in(events, INDEPENDENT):
        about = last_report(message.text).get("goal")  # as the form of the brief has it
        if (message.seq, message.digest) not in of_others and about in (None, "", goal.id):
            said.append(message)
    return said


def changed_files(run: PlanRun, plan: Plan, goal: Goal) -> list[str] | None:
    """Since the goal began: they are known as the last reviewer before that saw them, else from the plan's start."""
    began = plan.repository.get("files")
    for message in agents.messages_in(run.caller.events, INDEPENDENT):
        if message.files and plan.created_at <= message.ts <= (goal.started_at or ""):
            began = message.files
    changed = base.look(run.caller.root, began).changed
    return None if changed is None else sorted(path for path in changed if not path.startswith(agents.EVIDENCE))


def _is_clean(message: AgentMessage) -> bool | None:
    """None for words without a verdict."""
    try:
        return read_verdict(message.text, message.agent)[1]
    except NoAnswer:
        return None


def _reports(text: str) -> list[Json]:
    """The reports of a message, also where one is inside its section of a gate."""
    reports = []
    for report in agents.objects(text):
        for section in SECTIONS:
            if isinstance(report.get(section), dict):
                report = report[section]
        reports.append(report)
    return reports


def last_report(text: str) -> Json:
    """Empty where there is none."""
    reports = _reports(text)
    return reports[-1] if reports else {}


def read_verdict(text: str, agent: str) -> tuple[str, bool]:
    """The verdict in the last report of an agent's message. One that is not clean stands, whatever is said behind it:
    "a report that fails, and behind it what one that passes would say"."""
    verdicts: dict[str, str] = {}
    *earlier, report = _reports(text) or [{}]
    for each in [*(other for other in earlier if not other.keys().isdisjoint(LANES[agent])), report]:
        verdicts = {key: each[key] for key in CLEAN if isinstance(each.get(key), str)}
        for key, verdict in verdicts.items():
            is_form = " | " in verdict and each is not report  # the brief's, repeated
            if verdict.strip().lower() != CLEAN[key].lower() and not is_form:
                return clip(verdict, 40), False
        if each.get("blockers"):
            return OPEN, False
    if not set(LANES[agent]) <= set(verdicts):
        raise NoAnswer("not every lane has a verdict")
    return clip(list(verdicts.values())[-1], 40), True


def request_status(text: str) -> str:
    """What a report says of the user's request; empty where it says nothing."""
    return clip(str(last_report(text).get(REQUEST) or ""), 40)


def requests_of(run: PlanRun, plan: Plan) -> list[str]:
    """All that the user asked for: what the plan was made of, and what they typed after it."""
    later = [requests.text_of(row) for row in asked_later(run, plan)]
    return list(dict.fromkeys([*plan.requests, *later]))


def asked_later(run: PlanRun, plan: Plan) -> list[SessionEvent]:
    return requests.later(run.caller.events, "ultragoal", plan.created_at)


def render(reviews: dict[str, Review]) -> list[SeenReview]:
    """What a receipt keeps of them: who, when, which row of the session's ledger, and what changed since."""
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
    """The reviewers who were seen to find the goal clean on the files of its receipt."""
    reviews = receipt.get("agents") or []
    return sorted(review["role"] for review in reviews if review.get("clean") and review.get("changed") == [])


def independence_of(receipt: Receipt) -> str:
    if receipt.get("independence") == agents.FULL:
        return "independence: full (architect and qa were seen to find it clean)"
    roles = " and ".join(found_clean_by(receipt)) or "no reviewer"
    return f"{NOT_REVIEWED} ({roles} seen to find it clean on these files)"
