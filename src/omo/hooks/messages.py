"""What omo says. Facts first, one voice, every line bounded."""

from __future__ import annotations

from omo import table
from omo.hosts import END_PROMPT, Answer
from omo.state.paths import file_name_of
from omo.state.runtime import can_be_resumed, is_live, left_open, work_in
from omo.text import clip, counted
from omo.work import budget, outcome, session, times

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import Outcome, Refused, SessionRow, Summary
    from omo.state.runtime import Works
    from omo.work.session import Limits

LONGEST_REASON = 600
LONGEST_OPEN = 360
LONGEST_INSTRUCTIONS = 1950  # 500 tokens, with what the host writes before it
STOP = "/omo:stop-continuation"
LONGEST_TOLD = 1200
LONGEST_END = 700
LONGEST_QUESTION = 600
LONGEST_TASK = 1500
LONGEST_TASK_IN_SHORT = 300  # where a conversation comes back and may have it
MOST_CHANGED = 3
ULTRAWORK = "ultrawork"
NOTHING_HOLDS = "Nothing holds this session any more. A new `ulw` starts it again."
EVIDENCE = "/omo:report shows the evidence."
DETAILS = "/omo:report shows what was seen."
GO_ON = "Type `ulw` to go on."
FROM_A_TERMINAL = "user: omo stop-continuation"

# The rules of Stop that end the run, and those by which the user is told something: others go on by themselves.
LETS_GO = ("cap", "ceiling", "budget", "invalid-state")
TELLING = (
    *LETS_GO,
    "not-begun",
    "done",
    "waiting",
    "refused",
    "host-limit",
    "message-quoted",
    "cooldown",
    "other-loop",
)
WAITS = {"waiting": "waits for you", "paused": "is paused", "blocked": "is blocked"}

AFTER_GATES = "   Where no test can show the work"
INSTRUCTIONS = f"""\
[omo] The user turned ultrawork on for this session. The task is finished when it is shown to be, not when it looks \
finished. A turn that ends early is sent back. Fit the effort to the task: a one-line fix is change, verify, finish.

1. Explore, unless you know where to change what: 2 to 5 leaf workers at once with the Agent tool (omo:explorer), one \
question each. External documentation: omo:librarian, in the foreground. Workers cannot start workers.
2. Work in slices: 1 to 3 atomic changes, each with a test that fails without it. Keep a plan or checklist up to date.
3. When nothing is open: `omo ulw done`. It runs the project's tests and what is pinned, also without your work, puts \
your files back, and says what that proved. It may take several runs of the tests: give it a long time-out.
{AFTER_GATES} (refactoring, documentation, a question) end on your word, which the user is told: \
omo ulw done --because "why it is done"

- `omo next` says what to do now. `omo gate run` runs what is pinned, `omo gate add NAME -- COMMAND` pins more.
- Do not weaken, skip or delete a test or a gate, and do not edit .sisyphus/cc-omo.
- Stopped from outside (access, a decision of the user's)? Say so, and run
     omo ulw blocked --evidence "what is missing" [--question "what you need to know"]
- The user's latest words win. Only the user ends this early: {STOP}.
"""
ON_AGAIN = (
    "[omo] Ultrawork is on again, for what the user asks now. The instructions of before, in this conversation, hold. "
    f"`omo next` says what to do; only the user ends it early: {STOP}."
)

CANCELLED = "omo: ultrawork is off. Nothing will hold this session until you type ulw or the command of a workflow."
NOTHING_TO_CANCEL = "omo: nothing was on in this session. It stays off until you type ulw or the command of a workflow."
WITHDRAWN = (
    "omo: ultrawork is off: the prompt that turned it on was taken back before the agent had said a word. "
    "Type ulw to turn it on."
)
NOT_SENT_BACK = "omo: nothing is on any more, so the agent is not sent back."
NOTHING_AND_MORE = (
    "[omo] The user cancels what omo has on, and nothing is on in this session. Do what else the message asks."
)
CANCELLED_AND_MORE = (
    "[omo] The user cancelled ultrawork with this message: nothing continues by itself any more, and no further "
    "ultrawork step is requested. Do only what else the message asks, and end the turn."
)
ON = f"on: a turn that ends too early is sent back. {STOP} ends it."
ESC = "The agent reads this at its next step; Esc stops it now."
ANSWERED_AT_WORK = (
    "[omo] The user typed this to omo, which has answered them: do nothing for it, whatever a skill says, and say "
    "nothing about it. Go on with what you were doing."
)
WAS_CANCELLED = (
    "[omo] Before this message the user cancelled ultrawork: nothing continues by itself any more, earlier ultrawork "
    "instructions no longer apply, and no further step of that work is requested."
)
PAUSED = (
    "[omo] The user asked to stop for now: {work} is paused and this turn may end. Do not go on with the work, "
    'answer what they said. It resumes when they say "continue" or ulw; ' + STOP + " ends it for good."
)
CONTINUED = "[omo] {work} goes on where it was. `omo next` says what to do; " + STOP + " ends it."
AN_AGENTS_CLIENT = (
    "omo: this client was started in an agent's shell, so what is typed here is not taken for your word, and nothing "
    "was changed. Type it in the conversation itself, or in a terminal of your own."
)
FOR_NOW = "you asked to stop for now"
BY_NAME = "you stopped it by its name"
MORE = " There is more."
WAY_BACK = 'It goes on when you say "continue".'


def paused(work: Works, others: Works | None = None) -> Answer:
    """When a prompt was understood as a stop; of a workflow by its name, where `others` go on."""
    names = _names(work)
    if others:
        rest = _names(others)
        line = f"omo: understood as a stop of {names}: it is paused. {rest} goes on; {STOP} ends everything."
        context = (
            f"[omo] The user stopped {names} by its name: do no more of it. It resumes when they say so. {rest} goes "
            "on; this turn may not end before that is done."
        )
        return Answer(context=context, message=line)
    verb = "is" if len(work) == 1 else "are"
    line = f"omo: understood as a stop: {names} {verb} paused. {WAY_BACK} {STOP} ends it."
    return Answer(context=PAUSED.format(work=names), message=line)


def continued(work: Works) -> Answer:
    """When a prompt was understood as "continue"."""
    names = _names(work)
    lead = names[:1].upper() + names[1:]
    line = f"omo: understood as continue: {names} goes on. {STOP} ends it."
    return Answer(context=CONTINUED.format(work=lead), message=line)


def answered(work: Works) -> str:
    """When a prompt was the answer that work waited for, or may be."""
    return f"omo: {_names(work)} waited for you and goes on. {STOP} ends it."


def answered_end(work: Works) -> Answer:
    """When a prompt was the answer to an end that no word wakes: what it was is over, and the agent may begin anew."""
    if not work:
        return Answer()
    names = _names(work)
    line = f"omo: {names} is over, and holds nothing. The agent has your answer, and may begin again."
    context = (
        f"[omo] {names} ended before this message, and the user has read how: what they write now is their answer. "
        "If they want it again, `omo next` names the command that begins it."
    )
    return Answer(context=context, message=line)


def instructions(gates: list[str]) -> str:
    """The block, with the `gates` that are pinned, as far as the bound allows: a command is left out, never cut."""
    lines = ""
    for gate in gates:
        line = f"     {gate}\n"
        if len(INSTRUCTIONS) + len(lines) + len(line) < LONGEST_INSTRUCTIONS:
            lines += line
    return INSTRUCTIONS.replace(AFTER_GATES, lines + AFTER_GATES)


def typed(name: str, woken: Works, *, was_cancelled: bool) -> Answer:
    """For the user who typed the command of a workflow where something stood still; empty where nothing did."""
    command = f"/omo:{name}"
    if woken:
        line = f"omo: with {command} goes on: {listed(woken)}. {STOP} ends it."
        return Answer(context=_goes_on(command, woken), message=line)
    if was_cancelled:
        line = f"omo: {command} takes your cancel back: what is begun with it holds this session. {STOP} ends it."
        context = (
            f"[omo] The user cancelled what was on before, and types {command} now: that is wanted, and holds this "
            "session from its first command on."
        )
        return Answer(context=context, message=line)
    return Answer()


def _goes_on(typed: str, woken: Works) -> str:
    why = "what was paused, waited or had been let go"
    return f"[omo] The user typed {typed}: with it goes on {why}: {listed(woken)}. `omo next` says what to do."


def turned_on(instructions: str, woken: Works, row: SessionRow, problems: list[str]) -> Answer:
    """By the user's keyword; with it goes on what had been let go. `omo doctor` lists the settings not used."""
    line = f"omo: ultrawork is {ON}"
    if woken:
        is_ulw = bool(row["work"].get(session.KIND, {}).get("state"))
        instructions = f"{instructions}\n{_goes_on('ulw', woken)}".lstrip()
        begun = "ultrawork is on, and with it goes on" if is_ulw else "goes on"
        line = f"omo: {begun}: {listed(woken)}. {STOP} ends it."
    if ceilings := budget.ceilings_in_words(row):
        line += f" Budget: {ceilings}."
    for problem in problems:
        line += f" A setting was not used: {_sentence(clip(problem, 160))}"
    return Answer(context=instructions, message=clip(line, LONGEST_TOLD))


def budget_raised(work: Works, row: SessionRow) -> Answer:
    """When the user raised what had let work go."""
    names = _names(work)
    more = f"The user set the budget anew ({budget.all_in_words(row) or 'none'})"
    line = f"omo: {names} goes on. {budget_set(row)} {STOP} ends it."
    return Answer(context=f"[omo] {more}: {names} goes on where it was. `omo next` says what to do.", message=line)


def budget_set(row: SessionRow) -> str:
    """What holds from now on, and how much of it is spent. What the run before spent is none of the next one's."""
    if not budget.meters(row):
        return "Budget: none."
    ceilings = budget.ceilings_in_words(row)
    if not is_live(row) and not can_be_resumed(row):
        return f"Budget: {ceilings}, for the next run in this conversation; nothing of it is spent yet."
    return f"Budget: {ceilings}; spent: {budget.all_in_words(row)}."


def begun(work: Works) -> Answer:
    """When a command of the agent's turned work on."""
    names = " and ".join(_name(kind, {}) for kind, _ in work)
    return Answer(message=f"omo: {names} {'is' if len(work) == 1 else 'are'} {ON}")


def not_turned_on(why: str) -> str:
    """The keyword was heard in what the user wrote, and was no use of it."""
    reason = why[:1].lower() + why[1:].rstrip(".")
    return f"omo: ultrawork was not turned on: {reason}. To turn it on type ulw and a task, or /omo:ulw."


def begun_by_its_command(name: str) -> str:
    """A workflow was named in what the user wrote, as something to be used."""
    return f"omo: {name} is not on: its command begins it, /omo:{name} and then what you want."


def could_not_turn_on(why: str, name: str = ULTRAWORK) -> Answer:
    reason = f"{name} could not be turned on: {clip(why, 300)}. `omo doctor` says more."
    return Answer(context=f"[omo] {reason[:1].upper()}{reason[1:]}", message=f"omo: {reason}")


def where_things_stand(row: SessionRow, task: str = "") -> str:
    """For a session that comes back from a resume or a compaction: its work, what was asked, and what is next."""
    active = work_in(row, "active")
    if not row["work"]:
        active = [(session.KIND, {})]
    what = what_is_open(active, LONGEST_OPEN)
    if not active:
        states = ", ".join(f"{kind} is {summary['state']}" for kind, summary in work_in(row, *WAITS))
        what = f"{clip(states, 120)}: do not go on before the user answers."
    on = _what_is_on(active or work_in(row, *WAITS))
    lead = f"[omo] {on} is still on in this session. {task} {what}".replace("  ", " ")
    return f"{lead} `omo next` says the rest. The user can end it with {STOP}."


def still_on(row: SessionRow) -> str:
    """For the user who comes back to a session; empty where all that is left is over."""
    active = listed(work_in(row, "active"))
    if not active and not row["work"]:
        active = ULTRAWORK
    parts = []
    if active:
        parts.append(f"still on in this session: {active}. It goes on with your next message.")
    for kind, summary in work_in(row, *WAITS):
        if not summary.get("cleared"):
            parts.append(_wait(kind, summary))
    return f"{_told(parts)} {STOP} ends it." if parts else ""


def resumed(work: Works, source: str, gates: list[str] | None, task: str = "") -> Answer:
    """For the user who typed /omo:resume, and the model that goes on with their `task`. `gates` come with the
    instructions of ultrawork, which a conversation that has them is not given again."""
    active = [(kind, summary) for kind, summary in work if summary.get("state") == "active"]
    line = f"omo: goes on: {listed(active)}. {STOP} ends it."
    context = "[omo] The user typed /omo:resume: "
    if source:
        line = f"omo: taken up from session {clip(source, 64)}: {listed(active)}. {STOP} ends it."
        context += (
            "this conversation has taken up what another one left open, with all that was seen there. You were not "
            "there: look at the files before you change them. "
        )
    else:
        context += "the work of this conversation goes on where it was. "
    if task:
        context += f"{task} "
    context += (
        f"{what_is_open(active, LONGEST_OPEN)} `omo next` says what to do; a turn that ends early is sent back; "
        f"only the user ends it early: {STOP}."
    )
    for kind, _ in active:
        workflow = table.BY_KIND.get(kind)
        if workflow is not None and workflow.skill:
            context += f" The skill omo:{workflow.skill} has the rules of {kind}."
    if gates is not None:
        context += "\n" + instructions(gates)
    return Answer(context=context, message=line)


def taken_up_without_budget(row: SessionRow, source: str) -> str:
    """For the user who has to raise it first."""
    where = f"taken up from session {clip(source, 64)}: {listed(left_open(row))}"
    return f"omo: {where}. Nothing goes on yet: {budget.cause(row)}. {budget.way_on(row)}"


def needs_budget(row: SessionRow) -> str:
    """For the user who says "continue" where the budget let the work go."""
    return f"omo: nothing goes on yet: {budget.cause(row)}. {budget.way_on(row)}"


def offer(others: list[tuple[str, SessionRow]], idle: float) -> str:
    """For the user who begins a conversation: what one that is over left open, the newest first; empty without any."""
    if not others:
        return ""
    name, row = others[0]
    text = (
        f"omo: left open in another conversation, {times.ago(idle)}: {listed(left_open(row))}. /omo:resume takes it up"
    )
    if file_name_of(name) == name:  # as hosts name sessions, and not too odd to be typed
        text += f"; to let it go, in a terminal: omo stop-continuation --session {name}"
    more = len(others) - 1
    if more:
        text += f". {counted(more, 'more conversation')} left work open: omo status"
    return text


def pins_kept(pins: list[str]) -> str:
    """For the user who begins a conversation; empty where they have pinned nothing in the project."""
    if not pins:
        return ""
    listed = clip("; ".join(pins), LONGEST_END)
    return _told([f"pinned by you in this project: {_sentence(listed)}", "/omo:unpin NAME takes one away."])


def way_out(active: Works) -> str:
    """How the work says that it cannot go on; empty where nothing is left of it that could stand still."""
    for kind, summary in active:
        if "wayOut" in summary:
            return clip(str(summary["wayOut"]), 160)
        if cannot_go_on(kind):
            return cannot_go_on(kind)
    return "omo ulw blocked --evidence TEXT"


def cannot_go_on(kind: str) -> str:
    """Where work has a way of its own to say so, that: omo ulw blocked is not for it then."""
    return table.BY_KIND[kind].cannot_go_on if kind in table.BY_KIND else ""


def says_so_again(kind: str, run: str) -> str:
    """What calls work done again whose files changed after it was."""
    return table.BY_KIND[kind].says_so_again.replace("GOAL", run) if kind in table.BY_KIND else "omo next"


def files_changed(changed: list[str]) -> str:
    """Anybody may have named a file, and the names come from a file that anybody can edit."""
    names = [clip(str(name), 60) for name in changed[:MOST_CHANGED]]
    if len(changed) > MOST_CHANGED:
        names.append(f"{len(changed) - MOST_CHANGED} more")
    return f"files changed since it was called done: {', '.join(names)}"


def files_unknown(why: str) -> str:
    return f"the files could not be looked at again before this was told ({clip(why, 120)})"


def to_be_begun(name: str) -> str:
    """For the agent that ended its turn though the user typed the command of a workflow."""
    return (
        f"The user typed /omo:{clip(name, 40)}, and nothing of it was begun. `omo next` names the command that begins "
        "it. If you need their answer first, ask them and end the turn: it is let through."
    )


def reason_to_go_on(row: SessionRow, active: Works, most: int, message: str = "") -> str:
    """Why the turn goes on: what is open, how many blocks are left, how to stop.
    From the second block in a row on it is what changed since, in a line: the user sees every one of them.

    With a `message` of the user's, which is asked about once: the agent can read what no table of words can.
    """
    on = _what_is_on(active)
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
            f"But {_sentence(refused(was_refused))} Do without it; if that cannot be, say so and end the turn: "
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


def refused(calls: Refused) -> str:
    return f"the host refused {clip(', '.join(str(call) for call in calls.get('calls', [])), 160)}"


def way_to_allow(calls: Refused) -> str:
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
            return (text or f"{_name(kind, {})} is open.") + MORE
        text += f" {sentence}" if text else sentence
    return text


def _open_work(kind: str, summary: Summary) -> str:
    total, left, step = summary.get("total", 0), summary.get("open", 0), clip(str(summary.get("next") or ""), 160)
    changed = summary.get("changed")
    if isinstance(changed, list) and changed:
        again = says_so_again(kind, clip(str(summary.get("run")), 60))
        return f"{_name(kind, {})}: {files_changed(changed)}; {again} says so again."
    if kind != session.KIND and total and not left and step:
        return f"{kind}: {_sentence(step)}"
    if kind != session.KIND:
        return f"{kind}: {left} of {total} open when last looked at" + (f", next {step}." if step else ".")
    if not total:
        on_word = 'or, where no test can show it, omo ulw done --because "why it is done".'
        if not step:
            return f"No verification gate is pinned yet: omo gate add NAME -- COMMAND, then omo ulw done; {on_word}"
        tests = "the project's tests" if step.endswith("…") else step
        return f"Nothing has shown the work yet: when it is complete, omo ulw done, which runs {tests}; {on_word}"
    if not left:
        return (
            "No gate was open when they last ran: if the task is complete, run omo ulw done, which looks at the files."
        )
    names = f": {step}" if step else ""  # a new run has not looked at them yet
    return f"Open gates, {left} of {total}{names}. When the work is complete: omo ulw done, which runs them."


def release(rule: str, before: SessionRow, after: SessionRow, limits: Limits) -> str:
    """One line for the user where the session is let go or waits for them: what, how, and what they can do.

    Of what ended or waits only what they were not shown before; nothing where the turn ends for another reason.
    """
    if rule not in TELLING:
        return ""
    parts = [*_stays_on(rule, before, after, limits), *_ends(rule, before, after)]
    for kind, summary in work_in(after, *WAITS):
        if session.is_untold(summary) and not summary.get("cleared"):
            parts.append(_wait(kind, summary))
    return _told(parts) if parts else ""


def _told(parts: list[str]) -> str:
    """Whole sentences, as many as a person reads: a command is never cut."""
    text = "omo:"
    for number, part in enumerate(parts):
        if number and len(text) + len(part) > LONGEST_TOLD:
            return f"{text} /omo:status shows the rest."
        text += f" {part}"
    return text


def _stays_on(rule: str, before: SessionRow, after: SessionRow, limits: Limits) -> list[str]:
    """The turn ends, and the run does not."""
    message = before["ulw"].get("said", {})
    held = listed(work_in(before, "active")) or ULTRAWORK
    if rule == "not-begun":
        name = clip(str(before.get("asked")), 40)
        return [f"{name} is not begun yet, so nothing holds this session. Answer the agent, or type /omo:{name} again."]
    if rule == "cooldown":
        why = f"the agent stopped again within {limits['cooldown_seconds']:g} s of being sent back"
        return [f"{held} stays on, and this turn ends: {why}. It goes on with your next message."]
    loop = after["ulw"].get("otherLoop", {})
    if rule == "other-loop" and loop != before["ulw"].get("otherLoop", {}):
        name, about = clip(str(loop.get("name")), 40), clip(str(loop.get("about")), 120)
        ends = clip(str(loop.get("ends")), 60)
        yields = f"{held} stays on, and sends nothing back while {name} is on ({about})"
        return [f"{yields}. It holds again when that is over; {ends} ends it now."]
    if rule == "message-quoted" and not message.get("told"):
        why = f'since you wrote "{_quotable(str(message.get("text") or ""))}" the agent has changed no file'
        return [f'{held} stays on, and this turn ends: {why}. Say "continue" to go on; {STOP} ends it.']
    return []


def _ends(rule: str, before: SessionRow, after: SessionRow) -> list[str]:
    """Everything that ended, in one sentence that is no better than the worst of it, and what can be done now."""
    is_let_go = rule in LETS_GO
    questions = []
    ended = [(kind, summary) for kind, summary in work_in(after, "done") if session.is_untold(summary)]
    for kind, summary in work_in(after, *WAITS):
        if summary.get("cleared") and session.is_untold(summary):
            ended.append((kind, summary))
            questions.append(clip(str(summary.get("question") or ""), LONGEST_QUESTION))
    if is_let_go:
        ended += work_in(after, "exhausted")
    if not ended:
        return []
    whole = whole_outcome(ended, after)
    parts = [_sentence(clip(outcome.in_words(whole), LONGEST_END))]
    left = listed(work_in(before, "active"))
    if is_let_go and left not in ("", ULTRAWORK):
        parts.append(f"Open: {left}.")
    if is_let_go:
        parts.append(budget.way_on(before) if rule == "budget" else GO_ON)
    elif outcome.is_done(whole):
        parts.append(EVIDENCE)
    elif whole["verdict"] != outcome.ENDED:
        parts.append(DETAILS)
    return parts + [question for question in questions if question]


def whole_outcome(ended: Works, row: SessionRow) -> Outcome:
    """Several ends as one that is no better than the worst of them, or than the gates beside them."""
    outcomes: list[Outcome] = []
    for kind, summary in ended:
        outcomes.append(_named_outcome(kind, summary, alone=len(ended) == 1))
        if "earlier" in summary:
            earlier = _named_outcome(kind, {"outcome": summary["earlier"]}, alone=False)
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
    name = _name(kind, summary, why)
    is_plain = name in why or (alone and kind == session.KIND) or summary.get("state") == "exhausted"
    return {**ended, "why": why if is_plain else f"{name}: {why}"}


def _as_of(kind: str, summary: Summary) -> str:
    """When the files were looked at, where the work says so: nothing looks at them again before the Stop."""
    moment = "" if summary.get("unvouched") else str(summary.get("at") or "")
    if times.number(moment) is None:
        return ""
    comma = "," if kind == session.KIND else ";"  # what others say last need not be about files
    return f"{comma} on the files as they were at {times.clock(moment)}"


def cause(rule: str, row: SessionRow, limits: Limits) -> str:
    """Why a rule of LETS_GO ended the run."""
    if rule == "cap":
        return f"{counted(limits['max_stop_blocks'], 'block')} without verified progress"
    if rule == "budget":
        return budget.cause(row)
    if rule == "invalid-state":  # nothing of such a row can be compared or counted
        return "its state is unusable, somebody edited the counters into nonsense"
    most = limits["max_total_blocks"]
    if row["ulw"].get("totalBlocks", 0) < most:
        return f"the ceiling of {limits['max_hours']:g} hours in one run"
    return f"the ceiling of {counted(most, 'block')} in one run"


def _wait(kind: str, summary: Summary) -> str:
    state = str(summary.get("state"))
    why, question = clip(str(summary.get("why") or ""), 200), clip(str(summary.get("question") or ""), LONGEST_QUESTION)
    if not question and (summary.get("own") or state == "paused"):
        question = WAY_BACK
    name = _name(kind, summary, why)
    way_on = question or "It goes on with your next message."
    return f"{name} {WAITS[state]}: {_sentence(why or 'nothing says why')} {way_on}"


def cancelled(row: SessionRow) -> str:
    """For a session whose cancel the user saw somewhere else, or not at all."""
    is_from_terminal = row["stopContinuation"].get("disabledReason") == FROM_A_TERMINAL
    where = "in another terminal" if is_from_terminal else "with your message"
    why = f"{_cancelled_work(row) or ULTRAWORK} was cancelled by you {where}"
    return f"omo: {_sentence(outcome.in_words(outcome.outcome(outcome.ENDED, why)))} {NOTHING_HOLDS}"


def cancel_answer(row: SessionRow, *, was_on: bool, passes_on: bool) -> Answer:
    """For the cancel that the user has just typed; by it, the row has lost what `ulw` had open."""
    text = CANCELLED if was_on else NOTHING_TO_CANCEL
    if was_on and (more := _cancelled_work(row)) not in ("", ULTRAWORK):
        text += f" Not proven: {more}."
    if not passes_on:
        return Answer(END_PROMPT, text)
    return Answer(context=CANCELLED_AND_MORE if was_on else NOTHING_AND_MORE, message=text)


def answered_at_work(text: str) -> Answer:
    """For a line that needs no model, typed while the agent works. Refused, it would end the turn without a Stop in one
    host, and come back into the input line in another."""
    return Answer(context=ANSWERED_AT_WORK, message=text)


def _cancelled_work(row: SessionRow) -> str:
    kinds = row["stopContinuation"].get("ended")
    if not isinstance(kinds, list):
        return ""
    return listed([(str(kind), row["work"].get(str(kind), {})) for kind in kinds])


def unreadable(problem: str, kept: str) -> str:
    return (
        f"omo: let go, the state could not be read: {_sentence(clip(problem, 300))} It is kept as {clip(kept, 300)}. "
        "Nothing is on in this project now, and what was is not proven. A new `ulw` starts it again."
    )


def not_held(problem: Exception, *, is_prompt: bool) -> str:
    """Where state cannot be read or written: what is on is neither held nor ended by that. Of a prompt the ledger may
    have a row that the rest does not have."""
    lead, then = "this turn is not held, and nothing is proven", "What was on goes on once that is mended"
    if is_prompt:
        lead = "your prompt could not be recorded whole, and nothing is held or proven"
        then = "To be sure of a stop, type it again once that is mended"
    fix = getattr(problem, "fix", "") or "`omo doctor` says more"
    return f"omo: {lead}: {_sentence(clip(str(problem), 300))} {then}: {clip(fix, 300)}."


def state_removed(state: str, on: str, *, is_on_again: bool = False) -> str:
    """For a session that was held by a state that is not there any more."""
    ended = outcome.outcome(outcome.ENDED, state_was_removed(state, on))
    rest = "A new run is on." if is_on_again else NOTHING_HOLDS
    return f"omo: {_sentence(outcome.in_words(ended))} {rest}"


def state_was_removed(state: str, on: str) -> str:
    return f"the state of this project ({clip(state, 240)}) was removed while this was on: {clip(on, 120)}"


def _what_is_on(work: Works) -> str:
    """Ultrawork, where that is on; else the workflow that comes first."""
    kinds = [kind for kind, _ in work]
    if session.KIND in kinds or not kinds:
        return "Ultrawork"
    return clip(kinds[0], 40).capitalize()


def _names(work: Works) -> str:
    """ultrawork, ultragoal g17"""
    return clip(", ".join(_name(kind, summary) for kind, summary in work), 160)


def listed(work: Works) -> str:
    """ultrawork, ultragoal g17 (2 of 3 open)"""
    names = []
    for kind, summary in work:
        left, total = summary.get("open"), summary.get("total")
        is_known = isinstance(left, int) and left > 0 and isinstance(total, int)
        names.append(_name(kind, summary) + (f" ({left} of {total} open)" if is_known else ""))
    return clip(", ".join(names), 240)


def _name(kind: str, summary: Summary, said: str = "") -> str:
    """The workflow, and which run of it where the rest of the sentence does not say so."""
    run = clip(str(summary.get("run") or ""), 40)
    if kind == session.KIND:
        return ULTRAWORK
    return clip(kind, 40) if not run or run in said else f"{clip(kind, 40)} {run}"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else text + "."
