"""What is said at a Stop: to the agent why it goes on, to the user how it ended or what it waits for."""

from __future__ import annotations

from omo import table
from omo.state.runtime import is_untold, let_go, over, was_let_go, word_of, work_in
from omo.text import clip, counted, file_name
from omo.work import budget, outcome, session, times
from omo.work.naming import ULTRAWORK, done_was_refused, listed, way_out, work_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.proof.base import Since
    from omo.state.rows import Limits, Outcome, RefusedByHost, SessionRow, Summary
    from omo.state.runtime import Works
    from omo.stop.rules import Rule

LONGEST_REASON = 600
LONGEST_OPEN = 360
LONGEST_REFUSAL = 200
STOP = "/omo:stop-continuation"
LONGEST_TOLD = 1200
LONGEST_END = 700
LONGEST_QUESTION = 600
MOST_CHANGED = 3
NOTHING_HOLDS = "Nothing holds this session any more. A new `ulw` starts it again."
EVIDENCE = "/omo:report shows the evidence."
DETAILS = "/omo:report shows what was seen."
GO_ON = "Type `ulw` to go on."
FROM_A_TERMINAL = "user: omo stop-continuation"
STANDS_STILL = ("waiting", "paused")
WAITS = {"waiting": "waits for you", "paused": "is paused", "blocked": "is blocked"}
WAIT = {"waiting": "wait for you", "paused": "are paused", "blocked": "are blocked"}  # several
MORE = " There is more."


def says_so_again(kind: str, run: str) -> str:
    """What calls work done again whose files changed after it was."""
    return table.BY_KIND[kind].says_so_again.replace("GOAL", run) if kind in table.BY_KIND else "omo next"


def files_changed(changed: list[str]) -> str:
    """Anybody may have named a file, and the names come from a file that anybody can edit."""
    names = [clip(file_name(str(name)), 60) for name in changed[:MOST_CHANGED]]
    if len(changed) > MOST_CHANGED:
        names.append(f"{len(changed) - MOST_CHANGED} more")
    return f"files changed since it was called done: {', '.join(names)}"


def doubt(since: Since) -> str:
    """Why an end is told with a doubt: what became of its files, or that nobody could look at them."""
    if since.unknown:
        return f"the files could not be looked at again before this was told ({clip(since.unknown, 120)})"
    return files_changed(since.changed)


def to_be_begun(name: str) -> str:
    """For the agent that ended its turn though the user typed the command of a workflow."""
    missing = table.not_begun(name)
    return (
        f"The user typed /omo:{clip(name, 40)}, and {missing}. `omo next` names the command that begins "
        "it. If you need their answer first, ask them and end the turn: it is let through."
    )


def reason_to_go_on(row: SessionRow, active: Works, most: int, message: str = "") -> str:
    """Why the turn goes on: what is open, how many blocks are left, how to stop.
    From the second block in a row on it is what changed since, in a line: the user sees every one of them.

    With a `message` of the user's, which is asked about once: the agent can read what no table of words can.
    """
    on = what_is_on(active)
    until = "verification gates pass" if on == "Ultrawork" else "it is done"
    lead = f"{on} active: continuing until {until} or stop requested. "
    if message:
        lead += (
            f'You have changed no file since the user wrote "{_quotable(message)}". If they want you to stop, '
            "wait or only answer, tell them in one line and end the turn: it is let through. If not, go on. "
        )
        return lead + what_is_open(active, LONGEST_REASON - len(lead))
    if was_refused := row["ulw"].get("refused"):
        lead += (
            f"But {as_sentence(refused(was_refused))} Do without it; if that cannot be, say so and end the turn: "
            "the run then waits for the user. "
        )
    given = row["ulw"].get("stopBlocks", 0)
    left = f"Block {given} of {most}."
    if spent := budget.all_in_words(row):
        left += f" Budget: {spent}."
    way = way_out(active)
    if way:
        left += f" Cannot go on? {way}."
    if given > 1:
        what = what_is_open(active, LONGEST_OPEN)
        if what == row["ulw"].get("openSaid"):
            what = "Open as before: omo next says what."
        return f"{lead}{what} {left}"
    end = f" `omo next` says the rest. {left} The user stops this with {STOP}."
    return lead + what_is_open(active, LONGEST_REASON - len(lead) - len(end)) + end


def refused(calls: RefusedByHost) -> str:
    return f"the host refused {clip(', '.join(str(call) for call in calls.get('calls', [])), 160)}"


def way_to_allow(calls: RefusedByHost) -> str:
    """Which permission the user has to give, as the host spells it."""
    rules = [clip(str(rule), 80) for rule in calls.get("rules", [])]
    if not rules:
        return "A permission rule of yours denies it: take that away, or say what is to be done instead."
    return f'Allow {" and ".join(rules)} in the permissions of the host, and say "continue".'


def _quotable(message: str) -> str:
    """A quotation mark of the user's must not end the quotation."""
    return clip(message, 160).replace('"', "'")


def what_is_open(active: Works, longest: int) -> str:
    """Of each work, as far as there is room: a command is never cut."""
    text = ""
    for kind, summary in active:
        sentence = _open_work(kind, summary)
        if len(text) + len(sentence) + len(MORE) > longest:
            return (text or f"{work_name(kind, {})} is open.") + MORE
        text += f" {sentence}" if text else sentence
    return text


def _open_work(kind: str, summary: Summary) -> str:
    total, left, step = summary.get("total", 0), summary.get("open", 0), clip(str(summary.get("next") or ""), 160)
    changed = summary.get("changed")
    if isinstance(changed, list) and changed:
        again = says_so_again(kind, clip(str(summary.get("run")), 60))
        return f"{work_name(kind, {})}: {files_changed(changed)}; {again} says so again."
    if kind != session.KIND and not left and step:
        return f"{kind}: {as_sentence(step)}"
    if kind != session.KIND:
        return as_sentence(f"{kind}: {left} of {total} open when last looked at" + (f", next {step}" if step else ""))
    if said := summary.get("refused"):
        return as_sentence(done_was_refused(said, LONGEST_REFUSAL))
    if not total:
        if not step:
            on_word = 'or, where no test can show it, omo ulw done --because "why it is done".'
            return f"No verification gate is pinned yet: omo gate add NAME -- COMMAND, then omo ulw done; {on_word}"
        tests = "the project's tests" if step.endswith("…") else step
        return f"Nothing has shown the work yet: when it is complete, omo ulw done, which runs {tests}."
    if not left:
        return (
            "No gate was open when they last ran: if the task is complete, run omo ulw done, which looks at the files."
        )
    names = f": {step}" if step else ""  # a new run has not looked at them yet
    return f"Open gates, {left} of {total}{names}. When the work is complete: omo ulw done, which runs them."


def release(rule: Rule, before: SessionRow, after: SessionRow, limits: Limits, elsewhere: str = "") -> str:
    """One line for the user where the session is let go or waits for them: what, how, and what they can do; of another
    conversation than theirs also where that is, `elsewhere`.

    Of what ended or waits only what they were not shown before; nothing where the turn ends for another reason.
    """
    if not rule.tells:
        return ""
    said = rule.says(before, after, limits)
    news = _ends(rule, before, after, elsewhere)
    news += what_waits([(kind, summary) for kind, summary in work_in(after, *STANDS_STILL) if is_untold(summary)])
    paused = [(kind, summary) for kind, summary in work_in(after, "paused") if not is_untold(summary)]
    if news and paused and not elsewhere:
        news.append(f"Paused: {listed(paused)}. {way_back(*paused[-1])}")
    parts = [*([said] if said else []), *news]
    return in_one_message(parts) if parts else ""


def in_one_message(parts: list[str]) -> str:
    """Whole sentences, as many as a person reads: a command is never cut."""
    text = "omo:"
    for number, part in enumerate(parts):
        if number and len(text) + len(part) > LONGEST_TOLD:
            return f"{text} /omo:status shows the rest."
        text += f" {part}"
    return text


# What the user reads where the turn ends, and the run does not.


def not_begun(before: SessionRow, after: SessionRow, limits: Limits) -> str:
    name = clip(str(before.get("asked")), 40)
    why = table.not_begun(name, f"{name} is not begun")
    return f"{why} yet, so nothing holds this session. Answer the agent, or type /omo:{name} again."


def stopped_again(before: SessionRow, after: SessionRow, limits: Limits) -> str:
    """Say that the run stays on although the agent stopped within its cooldown."""
    why = f"the agent stopped again within {limits['cooldown_seconds']:g} s of being sent back"
    return f"{_held(before)} stays on, and this turn ends: {why}. It goes on with your next message."


def other_loop(before: SessionRow, after: SessionRow, limits: Limits) -> str:
    """Name the other loop that holds the session, once."""
    loop = after["ulw"].get("otherLoop", {})
    if loop == before["ulw"].get("otherLoop", {}):
        return ""
    name, about = clip(str(loop.get("name")), 40), clip(str(loop.get("about")), 120)
    ends = clip(str(loop.get("ends")), 60)
    yields = f"{_held(before)} stays on, and sends nothing back while {name} is on ({about})"
    return f"{yields}. It holds again when that is over; {ends} ends it now."


def changed_no_file(before: SessionRow, after: SessionRow, limits: Limits) -> str:
    """Quote the message of the user's since which the agent has changed no file, once."""
    message = before["ulw"].get("said", {})
    if message.get("told"):
        return ""
    why = f'since you wrote "{_quotable(str(message.get("text") or ""))}" the agent has changed no file'
    return f'{_held(before)} stays on, and this turn ends: {why}. Say "continue" to go on; {STOP} ends it.'


def _held(row: SessionRow) -> str:
    return listed(work_in(row, "active")) or ULTRAWORK


def _ends(rule: Rule, before: SessionRow, after: SessionRow, elsewhere: str) -> list[str]:
    """Everything that ended, in one sentence that is no better than the worst of it, and what can be done now."""
    questions = []
    ended = [(kind, summary) for kind, summary in over(after) if is_untold(summary)]
    for _, summary in ended:
        questions.append(clip(str(summary.get("question") or ""), LONGEST_QUESTION))
    if rule.ends_run:
        ended += let_go(after)
    if not ended:
        return []
    whole = whole_outcome(ended, after)
    parts = [as_sentence(clip(outcome.in_words(whole), LONGEST_END))]
    if rule.ends_run:
        left = listed(work_in(before, "active"))
        if left not in ("", ULTRAWORK):
            parts.append(f"Open: {left}.")
        parts.append(rule.way_on(before))
    elif elsewhere:
        parts.append(elsewhere)
    elif outcome.is_done(whole):
        parts.append(EVIDENCE)
    elif whole["verdict"] != outcome.ENDED:
        parts.append(DETAILS)
    return parts + [question for question in questions if question and not elsewhere]


def whole_outcome(ended: Works, row: SessionRow) -> Outcome:
    """Several ends as one that is no better than the worst of them, or than the gates beside them."""
    outcomes: list[Outcome] = []
    for kind, summary in ended:
        outcomes.append(_named_outcome(kind, summary, alone=len(ended) == 1))
        if "earlier" in summary:
            earlier = _named_outcome(kind, {"outcome": summary["earlier"]}, alone=False)
            if kind == session.KIND:  # its words name no run
                earlier = {**earlier, "why": f"before that, {earlier['why']}"}
            if outcome.is_worse(earlier, outcomes[-1]):
                outcomes.append(earlier)
    gates = row["work"].get(session.KIND, {})
    if gates.get("open") and not gates.get("state"):  # pinned while other work held the session
        not_run = [str(name) for name in gates.get("notRun") or ()]
        failing = [name for name in str(gates.get("next") or "?").split(", ") if name not in not_run]
        outcomes.append(outcome.beside(failing, not_run))
    return outcome.worst([*outcomes, *given_up(ended, outcomes, row)])


def given_up(ended: Works, outcomes: list[Outcome], row: SessionRow) -> list[Outcome]:
    """What the agent gave up before, in the same conversation, where what ended does not tell it itself."""
    told = [str(summary.get("run")) for _, summary in ended]
    for each in outcomes:
        told += [let_through["what"] for let_through in each["exceptions"]]
    parts = []
    for entry in row.get("givenUp", []):
        if not any(entry["run"] in words for words in told):
            parts.append(outcome.outcome(outcome.WAIVED, "", [entry]))
    return parts


def _named_outcome(kind: str, summary: Summary, *, alone: bool) -> Outcome:
    """An outcome whose words say of which work they are, where that is not plain."""
    ended = outcome.of(summary)
    why = ended["why"] + _as_of(kind, summary)
    name = work_name(kind, summary, why)
    is_plain = f" {name}" in f" {why}" or (alone and kind == session.KIND) or was_let_go(summary)
    return {**ended, "why": why if is_plain else f"{name}: {why}"}


def _as_of(kind: str, summary: Summary) -> str:
    """When the files were looked at, where the work says so: nothing looks at them again before the Stop."""
    moment = "" if summary.get("unvouched") else str(summary.get("at") or "")
    if times.number(moment) is None:
        return ""
    comma = "," if kind == session.KIND else ";"  # what others say last need not be about files
    return f"{comma} on the files as they were at {times.clock(moment)}"


def ceiling(row: SessionRow, limits: Limits) -> str:
    """Say which of the two limits of a run was reached."""
    most = limits["max_total_blocks"]
    if row["ulw"].get("totalBlocks", 0) < most:
        return f"the ceiling of {limits['max_hours']:g} hours in one run"
    return f"the ceiling of {counted(most, 'block')} in one run"


def way_back(kind: str, summary: Summary) -> str:
    """A plain "continue" sets going what is newest, and not what made way for it."""
    named = f" {table.name_of(kind)}" if summary.get("madeWayFor") else ""
    return f'It goes on when you say "continue{named}".'


def what_waits(work: Works) -> list[str]:
    """What is asked of several at once is asked in one sentence."""
    names: dict[tuple[str, str], list[str]] = {}
    for kind, summary in work:
        name = work_name(kind, summary, str(summary.get("why") or ""))
        names.setdefault((word_of(summary), _waits_for(kind, summary)), []).append(name)
    sentences = []
    for (state, what), together in names.items():
        verb = WAITS[state] if len(together) == 1 else WAIT[state]
        sentences.append(f"{' and '.join(together)} {verb}: {what}")
    return sentences


def _waits_for(kind: str, summary: Summary) -> str:
    state = str(summary.get("state"))
    why, question = clip(str(summary.get("why") or ""), 200), clip(str(summary.get("question") or ""), LONGEST_QUESTION)
    if not question and (summary.get("own") or state == "paused"):
        question = way_back(kind, summary)
    if command := allowing(summary):
        question = f"To let it through, type {command}."
    way_on = question or "It goes on with your next message."
    return f"{as_sentence(why or 'nothing says why')} {way_on}"


def allowing(summary: Summary) -> str:
    """What the user has to type to allow what they are asked about, in the words that omo gives the agent for it: a
    "yes" allows nothing. Empty where something else is asked."""
    question = clip(str(summary.get("question") or ""), LONGEST_QUESTION)
    return question.rstrip("?") if question.startswith("/omo:allow ") else ""


def cancelled(row: SessionRow) -> str:
    """For a session whose cancel the user saw somewhere else, or not at all."""
    is_from_terminal = row["stopContinuation"].get("disabledReason") == FROM_A_TERMINAL
    where = "in another terminal" if is_from_terminal else "with your message"
    why = f"{cancelled_work(row) or ULTRAWORK} was cancelled by you {where}"
    return f"omo: {as_sentence(outcome.in_words(outcome.not_proven(why)))} {NOTHING_HOLDS}"


def cancelled_work(row: SessionRow) -> str:
    kinds = row["stopContinuation"].get("ended")
    if not isinstance(kinds, list):
        return ""
    return listed([(str(kind), row["work"].get(str(kind), {})) for kind in kinds])


def unreadable(problem: str, kept: str) -> str:
    return (
        f"omo: let go, the state could not be read: {as_sentence(clip(problem, 300))} It is kept as {clip(kept, 300)}. "
        "Nothing is on in this project now, and what was is not proven. A new `ulw` starts it again."
    )


def state_was_removed(state: str, on: str) -> str:
    return f"the state of this project ({clip(state, 240)}) was removed while this was on: {clip(on, 120)}"


def what_is_on(work: Works) -> str:
    """Ultrawork, where that is on; else the workflow that comes first."""
    kinds = [kind for kind, _ in work]
    if session.KIND in kinds or not kinds:
        return "Ultrawork"
    return clip(kinds[0], 40).capitalize()


def work_names(work: Works) -> str:
    """ultrawork, verify G1"""
    return clip(", ".join(work_name(kind, summary) for kind, summary in work), 160)


def as_sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else text + "."
