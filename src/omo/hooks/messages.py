"""What omo says between Stops: to prompts, to sessions that begin or come back. Facts first, every line bounded.

What is said at a Stop is in stop/sentences.py.
"""

from __future__ import annotations

from omo import table
from omo.clock import stamp
from omo.hosts import END_PROMPT, Answer
from omo.state.paths import file_name_of
from omo.state.runtime import can_be_resumed, is_live, left_open, word_of, work_in
from omo.stop.sentences import (
    LONGEST_END,
    LONGEST_OPEN,
    LONGEST_TOLD,
    NOTHING_HOLDS,
    STANDS_STILL,
    STOP,
    allowing,
    as_sentence,
    cancelled_work,
    in_one_message,
    state_was_removed,
    way_back,
    what_is_on,
    what_is_open,
    what_waits,
    work_names,
)
from omo.text import clip, counted
from omo.work import budget, outcome, session, times
from omo.work.naming import ULTRAWORK, listed, work_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import SessionRow, Summary
    from omo.state.runtime import Works

LONGEST_INSTRUCTIONS = 1950  # 500 tokens, with what the host writes before it
LONGEST_TASK = 1500
LONGEST_TASK_IN_SHORT = 300  # where a conversation comes back and may have it
LONGEST_TASK_OFFERED = 80

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

LET_GO = "Nothing will hold this session until you type ulw or the command of a workflow."
CANCELLED = f"omo: ultrawork is off. {LET_GO}"
STAYS_OFF = "omo: it stays off, as you cancelled it. ulw, or the command of a workflow, turns it on again."
CANCELLED_OTHER = f"omo: it is off. {LET_GO}"  # where ultrawork itself was not on
NOTHING_TO_CANCEL = "omo: nothing was on in this session. It stays off until you type ulw or the command of a workflow."
WITHDRAWN = (
    "omo: ultrawork is off: the prompt that turned it on was taken back before the agent had said a word. "
    "Type ulw to turn it on."
)
NOT_SENT_BACK = "omo: nothing goes on now, so the agent is not sent back."
NOTHING_AND_MORE = (
    "[omo] The user cancels what omo has on, and nothing is on in this session. Do what else the message asks."
)
CANCELLED_AND_MORE = (
    "[omo] The user cancelled ultrawork with this message: nothing continues by itself any more, and no further "
    "step of it is requested. Do only what else the message asks, and end the turn."
)
ON = f"on: a turn that ends too early is sent back. {STOP} ends it."
ESC = "The agent reads this at its next step; Esc stops it now."
ANSWERED_AT_WORK = (
    "[omo] The user typed this to omo, which has answered them: do nothing for it, whatever a skill says, and say "
    "nothing about it. Go on with what you were doing."
)
WAS_CANCELLED = (
    "[omo] Before this message the user cancelled ultrawork: nothing continues by itself any more, earlier ultrawork "
    "instructions no longer apply, and only what this message asks is requested."
)
AN_AGENTS_CLIENT = (
    "omo: this client was started in an agent's shell, so what is typed here is not taken for your word, and nothing "
    "was changed. Type it in the conversation itself, or in a terminal of your own."
)
FOR_NOW = "you asked to stop for now"
FOR_ULW = "you stopped it for what you asked of ultrawork"


def paused(work: Works) -> Answer:
    """When a prompt was understood as a stop."""
    names = work_names(work)
    verb = "is" if len(work) == 1 else "are"
    back = " ".join(dict.fromkeys(way_back(kind, summary) for kind, summary in work))
    line = f"omo: understood as a stop: {names} {verb} paused. {back} {STOP} ends it."
    context = f"[omo] The user asked to stop: {names} {verb} paused. Do no more of it, and answer what they said. "
    context += f"It resumes when they say so; {STOP} ends it for good. This turn may end."
    return Answer(context=context, message=line)


def not_wanted(name: str) -> Answer:
    """When a prompt was understood as a stop before anything of the workflow was begun that it is about."""
    why = table.not_begun(name, f"nothing of {name} was begun, and nothing will be")
    line = f"omo: understood as a stop: {why}. /omo:{name} asks for it again."
    return Answer(context=f"[omo] The user asked to stop: do nothing for /omo:{name}, and answer them.", message=line)


def goes_on(how: str, work: Works, more: str = "") -> Answer:
    """When the user has set going what stood still, and `how`; with what they read besides."""
    names = listed(work)
    line = " ".join(filter(None, [f"omo: {how}: {names} goes on.", more, f"{STOP} ends it."]))
    context = f"[omo] {how[:1].upper()}{how[1:]}: {names} goes on where it was. `omo next` says what to do; "
    return Answer(context=f"{context}only the user ends it early: {STOP}.", message=line)


def to_allow(asked: list[Summary]) -> str:
    """Where they were asked to allow something: their answer has not."""
    return " ".join(f"{command} lets it through." for command in filter(None, map(allowing, asked)))


def answered_end(work: Works) -> Answer:
    """When a prompt was the answer to an end that no word wakes: what it was is over, and the agent may begin anew."""
    if not work:
        return Answer()
    names = work_names(work)
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


def gives_way(paused: Works) -> str:
    """Name the run that is paused for another; empty if none is."""
    if not paused:
        return ""
    verb = "is" if len(paused) == 1 else "are"
    return f"{listed(paused)} {verb} paused. {' '.join(way_back(kind, summary) for kind, summary in paused)}"


def typed(name: str, woken: Works, let_go: Works, paused: Works, *, was_cancelled: bool) -> Answer:
    """For the user who typed the command of a workflow where something stood still, or was on and is `paused` for it;
    empty where nothing was. What they had `let_go` of the same workflow is none of what they ask for now."""
    command = f"/omo:{name}"
    if let_go:
        line = f"omo: {command} begins anew. {listed(let_go)} stays off; until the new one is begun, "
        line += f"{command} without a task goes on with it. {gives_way(paused)} {STOP} ends everything."
        context = (
            f"[omo] {listed(let_go)} stays off, for the user types {command} for something else: begin that anew, "
            "as `omo next` says, and do nothing for the other. It holds this session from its first command on."
        )
        return Answer(context=context, message=line.replace("  ", " "))
    if woken:
        return goes_on(f"with {command}", woken, gives_way(paused))
    if paused:
        line = f"omo: {command} begins another piece of work. {gives_way(paused)} {STOP} ends everything."
        context = (
            f"[omo] The user types {command}, so this is paused: {listed(paused)}. Do no more of it before they name "
            "it, and begin what they ask for now, as `omo next` says."
        )
        return Answer(context=context, message=line)
    if was_cancelled:
        line = f"omo: {command} takes your cancel back: what is begun with it holds this session. {STOP} ends it."
        context = (
            f"[omo] The user cancelled what was on before, and types {command} now: that is wanted, and holds this "
            "session from its first command on."
        )
        return Answer(context=context, message=line)
    return Answer()


def turned_on(instructions: str, woken: Works, row: SessionRow, problems: list[str]) -> Answer:
    """By the user's keyword; with it goes on what had been let go. `omo doctor` lists the settings not used."""
    line = f"omo: ultrawork is {ON}"
    if woken:
        is_ulw = bool(row["work"].get(session.KIND, {}).get("state"))
        again = goes_on("ultrawork is on. With it" if is_ulw else "with ulw", woken)
        instructions, line = f"{instructions}\n{again.context}".lstrip(), again.message
    if ceilings := budget.ceilings_in_words(row):
        line += f" Budget: {ceilings}."
    for problem in problems:
        line += f" A setting was not used: {as_sentence(clip(problem.partition('; ')[0], 160))} `omo doctor` says more."
    return Answer(context=instructions, message=clip(line, LONGEST_TOLD))


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
    names = " and ".join(work_name(kind, {}) for kind, _ in work)
    return Answer(message=f"omo: {names} {'is' if len(work) == 1 else 'are'} {ON}")


def not_turned_on(why: str) -> str:
    """The keyword was heard in what the user wrote, and was no use of it."""
    reason = why[:1].lower() + why[1:].rstrip(".")
    return f"omo: ultrawork was not turned on: {reason}. To turn it on type ulw and a task, or /omo:ulw."


def begun_by_its_command(name: str) -> str:
    """A workflow was named in what the user wrote, as something to be used."""
    return f"omo: {name} is not on: its command begins it, /omo:{name} and then what you want."


def could_not_turn_on(why: str, name: str = ULTRAWORK, fix: str = "") -> Answer:
    mend = f"{fix[:1].upper()}{clip(fix[1:], 300)}, and type it again." if fix else "`omo doctor` says more."
    reason = f"{name} could not be turned on: {clip(why, 300)}. {mend}"
    return Answer(context=f"[omo] {reason[:1].upper()}{reason[1:]}", message=f"omo: {reason}")


def where_things_stand(row: SessionRow, task: str = "") -> str:
    """For a session that comes back from a resume or a compaction: its work, what was asked, and what is next."""
    active = work_in(row, "active")
    still = work_in(row, *STANDS_STILL)
    what = what_is_open(active, LONGEST_OPEN)
    if not active:
        states = ", ".join(f"{work_name(kind, {})} is {word_of(summary)}" for kind, summary in still)
        what = f"{clip(states, 120)}: do not go on before the user says so."
    on = what_is_on(active or still)
    lead = f"[omo] {on} is still on in this session. {task} {what}".replace("  ", " ")
    return f"{lead} `omo next` says the rest. The user can end it with {STOP}."


def still_on(row: SessionRow) -> str:
    """For the user who comes back to a session; empty where all that is left is over."""
    active = listed(work_in(row, "active"))
    parts = []
    if active:
        parts.append(f"still on in this session: {active}. It goes on with your next message.")
    parts += what_waits(work_in(row, *STANDS_STILL))
    return f"{in_one_message(parts)} {STOP} ends it." if parts else ""


def resumed(work: Works, source: str, gates: list[str] | None, task: str = "") -> Answer:
    """For the user who typed /omo:resume, and the model that goes on with their `task`. `gates` come with the
    instructions of ultrawork, which a conversation that has them is not given again."""
    active = [(kind, summary) for kind, summary in work if summary.get("state") == "active"]
    how = f"taken up from session {clip(source, 64)}" if source else "with /omo:resume"
    context = "[omo] The user typed /omo:resume: "
    if source:
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
    return Answer(context=context, message=goes_on(how, active).message)


def needs_budget(row: SessionRow, source: str = "") -> str:
    """For the user who wants work to go on, maybe that of another session, which the budget let go."""
    taken = f"taken up from session {clip(source, 64)}: {listed(left_open(row))}. " if source else ""
    return f"omo: {taken}nothing goes on yet: {budget.cause(row)}. {budget.way_on(row)}"


def offer(others: list[tuple[str, SessionRow]], idle: float, task: str) -> str:
    """For the user who begins a conversation: what one that is over left open, the newest first, with what they typed
    for that."""
    name, row = others[0]
    works = listed(left_open(row))
    if task:
        works += f', for "{clip(task, LONGEST_TASK_OFFERED)}"'
    text = f"omo: left open in another conversation, {times.ago(idle)}: {works}. /omo:resume takes it up"
    if file_name_of(name) == name:  # as hosts name sessions, and not too odd to be typed
        text += f"; to let it go, in a terminal: omo stop-continuation --session {name}"
    more = len(others) - 1
    if more:
        text += f". {counted(more, 'more conversation')} left work open: omo status"
    return text


def elsewhere(name: str, idle: float) -> str:
    """Behind an end of another conversation."""
    text = f"That was in another conversation, {times.ago(idle)}"
    if file_name_of(name) == name:  # as hosts name sessions, and not too odd to be typed
        text += f"; in a terminal omo report --session {name} shows what was seen"
    return f"{text}."


def pins_kept(pins: list[str]) -> str:
    """For the user who begins a conversation; empty where they have pinned nothing in the project."""
    if not pins:
        return ""
    listed = clip("; ".join(pins), LONGEST_END)
    return in_one_message([f"pinned by you in this project: {as_sentence(listed)}", "/omo:unpin NAME takes one away."])


def cancel_answer(row: SessionRow, *, was_on: bool, passes_on: bool) -> Answer:
    """For the cancel that the user has just typed; by it, the row has lost what `ulw` had open."""
    text = CANCELLED if was_on else NOTHING_TO_CANCEL
    if was_on and (more := cancelled_work(row)) not in ("", ULTRAWORK):
        is_ulw = session.KIND in row["stopContinuation"].get("ended", ())
        text = f"{CANCELLED if is_ulw else CANCELLED_OTHER} Not proven: {more}."
    if not passes_on:
        return Answer(END_PROMPT, text)
    return Answer(context=of_cancelled(CANCELLED_AND_MORE, row) if was_on else NOTHING_AND_MORE, message=text)


def of_cancelled(text: str, row: SessionRow) -> str:
    """What the model is told of a cancel, with the names of what was on."""
    kinds = row["stopContinuation"].get("ended")
    names = " and ".join(table.name_of(str(kind)) for kind in kinds) if isinstance(kinds, list) else ""
    return text.replace(ULTRAWORK, clip(names, 80)) if names else text


def answered_at_work(text: str) -> Answer:
    """For a line that needs no model, typed while the agent works. Refused, it would end the turn without a Stop in one
    host, and come back into the input line in another."""
    return Answer(context=ANSWERED_AT_WORK, message=text)


def at_rest(row: SessionRow) -> str:
    """For a line that needs no model, typed while no turn runs, or held by the host until it was over: what is on does
    not go on by it. Empty where nothing is."""
    active = work_in(row, "active")
    if not active:
        return ""
    names, verbs = work_names(active), "is on, and goes" if len(active) == 1 else "are on, and go"
    return f"\n{names[:1].upper()}{names[1:]} {verbs} on with your next message."


def not_held(problem: Exception, *, is_prompt: bool) -> str:
    """Where state cannot be read or written: what is on is neither held nor ended by that. Of a prompt the ledger may
    have a row that the rest does not have."""
    lead, then = "this turn is not held, and nothing is proven", "What was on goes on once that is mended"
    if is_prompt:
        lead = "your prompt could not be recorded whole, and nothing is held or proven"
        then = "To be sure of a stop, type it again once that is mended"
    fix = getattr(problem, "fix", "") or "`omo doctor` says more"
    return f"omo: {lead}: {as_sentence(clip(str(problem), 300))} {then}: {clip(fix, 300)}."


def hooks_did_not_run(since: float, end: float, now: float, *, is_elsewhere: bool) -> str:
    """Tell the user of a turn that ended without omo's hooks. The times are in seconds."""
    where = " in another conversation of this project" if is_elsewhere else ""
    began, ended = times.hour(stamp(since)), times.hour(stamp(end))
    return (
        f"omo: omo's hooks did not run since {began} ({times.ago(now - since)}){where}. "
        f"A turn ended at {ended} unseen, and the agent was not sent back. "
        "In a terminal, `omo doctor` says whether the hooks run now."
    )


def state_removed(state: str, on: str, *, is_on_again: bool = False) -> str:
    """For a session that was held by a state that is not there any more."""
    ended = outcome.not_proven(state_was_removed(state, on))
    rest = "A new run is on." if is_on_again else NOTHING_HOLDS
    return f"omo: {as_sentence(outcome.in_words(ended))} {rest}"
