"""What the user types: arm, cancel, pause and resume, all inside the hook, before and without the model."""

from __future__ import annotations

import time

from omo import hosts, settings, table
from omo.clock import seconds
from omo.errors import OmoError
from omo.hooks import messages
from omo.hooks.keyword import HEARD, RULES, read_prompt, workflow_in_words
from omo.hosts import Answer
from omo.state import paths, runtime
from omo.state.rows import EMPTY
from omo.text import block, clip
from omo.work import budget, session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from omo.hooks.keyword import Reading
    from omo.hooks.main import World
    from omo.hosts import Event
    from omo.state.rows import SessionRow
    from omo.workflows.ultrawork.gates import Gate

    Json = dict[str, Any]

MOST_GATES = 3  # that the model is told of
CANCEL_WAIT = 2.0  # a cancel is worth waiting for; anything else gives up early
LONGEST_TASK = 2000  # characters of the prompt that armed a run, kept for its report
SAME_EVENT = 3.0  # seconds in which the same cancel can only be one event, delivered twice


def handle(event: Event, world: World) -> Answer:
    if event.is_machine_prompt or event.is_subagent:
        return Answer()
    is_agents = hosts.is_in_an_agents_shell(event.host, world.environ)
    if event.prompt.lstrip().startswith("/"):
        from omo.hooks import user_commands

        if (answer := user_commands.answer(event, world, is_agents=is_agents)) is not None:
            return answer
    reading = read_prompt(event.prompt, mode=settings.load(world.environ, world.root).keyword)
    if reading.rule == "machine-text":
        return Answer()
    if is_agents:
        return _of_an_agent(event, world, reading)
    is_withdrawn = _was_withdrawn(event, world.row())
    if is_withdrawn:
        world.change(
            lambda row: runtime.Change(None, row and session.withdraw(row), [{"kind": "withdrawn"}]), actor="user"
        )
    answer = ACTIONS[reading.action](event, world, reading)
    if is_withdrawn and event.shows_messages and reading.action == "none":
        answer.message = messages.WITHDRAWN
    return _with_removal(event, world, answer)


def _with_removal(event: Event, world: World, answer: Answer) -> Answer:
    """Where the user reads an answer, also that the state was removed; elsewhere they read it at the next Stop."""
    if answer.decision == hosts.END_PROMPT:
        answer.reason = f"{answer.reason} {world.told_of_removal()}".strip()
    elif event.shows_messages:
        answer.message = f"{world.told_of_removal()} {answer.message}".strip()
    return answer


def _was_withdrawn(event: Event, row: SessionRow | None) -> bool:
    """Esc before the model's first word takes a prompt back, and the host tells nobody: the session was armed, the
    model never spoke, and this prompt was not typed during that turn (the host would have queued it)."""
    ulw = (row or EMPTY)["ulw"]
    if not ulw.get("armedFor") or ulw["armedFor"] == event.fingerprint or ulw.get("totalBlocks"):
        return False
    if not ulw.get("enabled") or not event.transcript.is_silent_since(str(ulw.get("armedAt"))):
        return False
    for _ in range(hosts.QUEUE_LOOKS):
        if event.transcript.queued_prompts():
            return False
        time.sleep(hosts.QUEUE_LAG / hosts.QUEUE_LOOKS)
    return True


def _of_an_agent(event: Event, world: World, reading: Reading) -> Answer:
    """An agent may begin a run in another client, which is then its own, and speak for nobody else."""
    row = world.row() or EMPTY
    if reading.action == "activate" and not runtime.is_live(row) and not session.was_released(row):
        return _activate(event, world, reading, by="agent")
    if reading.action in ("cancel", "cancel-and-continue"):
        return Answer(hosts.END_PROMPT, messages.AN_AGENTS_CLIENT)
    return Answer()


def _activate(event: Event, world: World, reading: Reading, by: str = "user") -> Answer:
    if not event.session:
        return messages.could_not_turn_on("the host gave no session id")
    from omo.proof import base

    tree = {**base.take(world.root, world.environ, world.state), "by": by}

    def decide(row: SessionRow | None) -> runtime.Change:
        return _armed(event, world, reading, by, row, tree)

    try:
        answer: Answer = world.change(decide, actor=by)
    except OmoError as error:
        return messages.could_not_turn_on(error.message)
    return answer


def _armed(event: Event, world: World, reading: Reading, by: str, row: SessionRow | None, tree: Json) -> runtime.Change:
    """The run begins or goes on, on the files in `tree`; whatever stood still goes on with it."""
    from omo.workflows.ultrawork import gates

    is_on = row is not None and bool(runtime.work_in(row, "active")) and not session.is_cancelled(row)
    if row is not None and is_on and row["ulw"].get("armedFor") == event.fingerprint:
        return runtime.Change(Answer())  # the same prompt, delivered twice
    in_force = settings.load(world.environ, world.root)
    pinned = list(gates.current(world.state, event.session, row))
    armed = session.arm(
        row,
        by=by,
        limits=in_force.limits,
        now=world.now,
        ceilings=in_force.budget if by == "user" else None,
        pinned=len(pinned),
        names_task=_names_task(event.prompt, reading),
    )
    armed = session.note(_counting(event, world, row, armed), {"armedFor": event.fingerprint})
    is_ulw = bool(armed["work"].get(session.KIND, {}).get("state"))
    knows_instructions = row is not None and row.get("instructed") is True
    next_step, lines = ("", []) if is_on else _gates(event, world, pinned, tree)
    if is_ulw:
        armed = {**session.with_next(armed, next_step), "instructed": True}
    armed = session.shown_on(armed)
    woken = [(name, work) for name, work in session.woken(row, armed) if name != session.KIND]
    noted: Json = {"kind": "rearmed" if is_on else "activated", "rule": reading.rule, **gates.begun(row, armed, tree)}
    noted["text"] = block(event.prompt, LONGEST_TASK)
    if woken:
        noted["woke"] = [name for name, _ in woken]
    text = ""
    if is_ulw and not knows_instructions:
        text = messages.instructions(lines)
    elif is_ulw and not is_on:
        text = messages.ON_AGAIN
    answer = messages.turned_on(text, woken, armed, in_force.problems) if text or woken else Answer()
    return runtime.Change(answer, armed, [noted])


def _names_task(prompt: str, reading: Reading) -> bool:
    """Whether it says anything beside the word and a "go on"."""
    from omo.hooks.stop_words import clauses_of

    start, end = reading.span
    rest = f"{prompt[:start]} {prompt[end:]}"
    return any(clause.words and clause.kind not in ("go", "filler") for clause in clauses_of(rest))


def _counting(event: Event, world: World, before: SessionRow | None, armed: SessionRow) -> SessionRow:
    """What is spent counts from here, or goes on; a turn begins."""
    from omo.work import spending

    if before is None or not runtime.is_live(before):
        armed = spending.begin(armed, event)
    else:
        armed = spending.follow(armed, event, world.now)
    return budget.runs(armed, world.now)


def _workflow(event: Event, world: World, reading: Reading) -> Answer:
    """A workflow that the user types arms as the keyword does. Where it goes on, or a cancel was in its way, both are
    told; a new run is told when the agent's first command begins it, or at the end of a turn that did not."""
    name = reading.names[0]
    workflow = table.BY_TYPED[name]
    kind = workflow.kind
    if not event.session:
        return messages.could_not_turn_on("the host gave no session id", name)
    from omo.hooks import user_commands

    in_force = settings.load(world.environ, world.root)

    def decide(row: SessionRow | None) -> runtime.Change:
        armed = session.arm(row, by="user", limits=in_force.limits, now=world.now, ceilings=in_force.budget, named=kind)
        woken = session.woken(row, armed)
        if runtime.work_in(armed, "active"):
            armed = session.shown_on(_counting(event, world, row, armed))
        if kind not in dict(runtime.left_open(armed)) and name not in workflow.without_run:
            armed["asked"] = name
        if woken:
            noted["woke"] = [each for each, _ in woken]
        return runtime.Change(messages.typed(name, woken, was_cancelled=session.is_cancelled(row)), armed, [noted])

    try:
        noted = user_commands.request(event, world, name)
        answer: Answer = world.change(decide, actor="user")
    except OmoError as error:
        return messages.could_not_turn_on(error.message, name)
    return answer


def _gates(event: Event, world: World, pinned: list[Gate], tree: Json) -> tuple[str, list[str]]:
    """What shows the work, and lines for the model: the gates that are pinned, or the test command that the project's
    files name. A file that differs from the commit is left out: what it names may be the agent's own."""
    from omo.proof import project_checks, project_files
    from omo.proof.typed_commands import typed
    from omo.workflows.ultrawork import gates

    if pinned:
        names = ", ".join(gate.name for gate in pinned[:MOST_GATES])
        return names, [f"(pinned: {gate.name}: {gates.in_words(gate)})" for gate in pinned[:MOST_GATES]]
    is_known = tree["head"] and not tree["unknown"]
    files = project_files.Disk(world.root, tree["files"] if is_known else None)
    cwd = paths.session_directory(world.environ, event.project)
    checks = project_checks.suggest(files, world.root, cwd)
    tests = [clip(typed(check.argv), 120) for check in checks if check.kind in ("", project_checks.TESTS)]
    return "".join(tests[:1]), [f"(the project's tests: {command})" for command in tests[:1]]


def _cancel(event: Event, world: World, reading: Reading) -> Answer:
    """Ends the prompt without the model, unless it says more. One typed while the agent works would come back into the
    input line, so it is passed on, and the model is told. Of the same prompt delivered twice nothing is said again."""
    is_alone = reading.action == "cancel"
    passes_on = not is_alone or (event.shows_messages and event.is_typed_at_work)

    def decide(row: SessionRow | None) -> runtime.Change:
        before = (row or EMPTY)["stopContinuation"]
        is_same = bool(before.get("disabled")) and before.get("cancelledFor") == event.fingerprint
        if is_same and world.now - seconds(before["disabledAt"]) < SAME_EVENT:
            return runtime.Change(Answer())
        was_on = row is not None and runtime.is_live(row)
        cancelled = session.cancel(
            row,
            reason=f"user: {reading.rule}",
            now=world.now,
            told=passes_on or not was_on,
            shown=event.shows_messages or not (passes_on and was_on),  # else the user reads it at the next Stop
            event=event.fingerprint,
        )
        answer = messages.cancel_answer(cancelled, was_on=was_on, passes_on=passes_on)
        return runtime.Change(answer, cancelled, [{"kind": "cancelled", "rule": reading.rule}])

    try:
        return _with_way_out(event, world.change(decide, actor="user", wait=CANCEL_WAIT))
    except OmoError as error:
        if not is_alone:
            raise
        text = f"omo: the cancel could not be recorded: {error.message}. Type it again, or start with OMO_DISABLE=1."
        return Answer(hosts.END_PROMPT, text)


def _with_way_out(event: Event, answer: Answer) -> Answer:
    """A stop is heard at once, and the turn it was typed into goes on."""
    if not event.shows_messages:
        answer.message = ""
    elif answer.message and event.is_typed_at_work:
        answer.message = f"{answer.message} {messages.ESC}"
    return answer


def _pause(event: Event, world: World, reading: Reading) -> Answer:
    """All that is on, or the workflows that were named, while others go on."""
    told = event.shows_messages  # elsewhere the user reads it at the next Stop

    def decide(row: SessionRow) -> runtime.Change:
        named = [(kind, summary) for kind, summary in session.not_given_up(row) if kind in reading.names]
        noted: Json = {"kind": "paused", "rule": reading.rule}
        if named:
            noted["named"] = [kind for kind, _ in named]
            for kind, _ in named:
                row = session.shown_on(session.stop_by_name(row, kind, why=messages.BY_NAME, told=told))
            return runtime.Change(messages.paused(named, runtime.work_in(row, "active")), row, [noted])
        work = session.can_be_paused(row)
        if not work and session.bound_ends(row):
            return runtime.Change(Answer(), session.pause(row, why=messages.FOR_NOW, told=told), [noted])
        if not work:
            return runtime.Change(None)
        after = session.shown_on(session.pause(row, why=messages.FOR_NOW, told=told))
        return runtime.Change(messages.paused(work), after, [noted])

    answer: Answer | None = world.change_live(decide, actor="user")
    return _with_way_out(event, answer) if answer else _none(event, world, reading)


def _resume(event: Event, world: World, reading: Reading) -> Answer:
    """What was paused or waits goes on, and what a breaker let go. A cancel ends only by a new arming."""
    named = reading.names[0] if reading.names else ""
    limits = settings.load(world.environ, world.root).limits

    def decide(row: SessionRow | None) -> runtime.Change:
        if row is None or session.is_cancelled(row) or not (runtime.is_live(row) or runtime.left_open(row)):
            return runtime.Change(None)
        if runtime.work_in(row, "exhausted"):
            after = session.go_on(row, limits=limits, now=world.now, named=named)
        else:
            after = session.resume(row, named=named)
        after = session.answered(_runs(event, after, world.now))
        woken = session.woken(row, after)
        if woken:
            return runtime.Change(messages.continued(woken), session.shown_on(after), [{"kind": "resumed"}])
        if not runtime.work_in(after, "active") and budget.is_used_up(row):
            return runtime.Change(Answer(message=messages.needs_budget(row)))
        ended = session.newly_answered(row, after)
        # Else it is on already, and they said so: nothing they wrote before is open.
        return runtime.Change(messages.answered_end(ended), after, [{"kind": "end-answered"}] if ended else [])

    answer: Answer | None = world.change(decide, actor="user") if world.row() else None
    return answer or _none(event, world, reading)


def _none(event: Event, world: World, reading: Reading) -> Answer:
    """A person spoke: what waited for them goes on, and their words are kept for the next Stop. A pause ends only
    when they say so."""

    def decide(row: SessionRow) -> runtime.Change:
        events = []
        if row["ulw"].get("unanswered"):  # we blocked, and then a person ended that turn
            row = session.note(row, {"unanswered": False})
            events.append({"kind": "overridden"})
        after = session.resume(row, states=("waiting", "blocked"), own=False)
        after = session.answered(_runs(event, after, world.now))
        answer = Answer()
        if woken := session.woken(row, after):
            events.append({"kind": "resumed"})
            after = session.shown_on(after)
            answer.message = messages.answered(woken)
        elif ended := session.newly_answered(row, after):
            events.append({"kind": "end-answered"})
            answer = messages.answered_end(ended)
        if not event.shows_messages:
            answer.message = ""
        return runtime.Change(answer, session.note_message(after, event.prompt, now=world.now), events)

    answer: Answer | None = world.change_live(decide, actor="user")
    if answer is None:
        answer = Answer()
        if runtime.needs_hooks(world.row() or EMPTY):
            answer = _tell_of_cancel(world)
        elif reading.rule in HEARD:
            answer.message = messages.not_turned_on(RULES[reading.rule][0])
    name = "" if answer.message else workflow_in_words(event.prompt)
    if name and table.BY_TYPED[name].kind not in dict(runtime.left_open(world.row() or EMPTY)):
        answer.message = messages.begun_by_its_command(name)
    if not event.shows_messages:
        answer.message = ""
    return answer


def _runs(event: Event, row: SessionRow, now: float) -> SessionRow:
    """A turn begins with this prompt, unless it joins one. After a server's error no Stop has told of the last."""
    has_minutes = bool(row.get("budget", {}).get(budget.MINUTES))
    if has_minutes and not event.is_typed_at_work:
        from omo.work import spending

        row = spending.rested(row)
    return budget.runs(row, now)


def _tell_of_cancel(world: World) -> Answer:
    """The prompt that cancelled never reached the model, which still has its instructions: say so, once."""

    def decide(row: SessionRow | None) -> runtime.Change:
        cancel = (row or EMPTY)["stopContinuation"]
        if row is None or cancel.get("told") is not False:
            return runtime.Change("")
        told: SessionRow = {**row, "stopContinuation": {**cancel, "told": True}}
        return runtime.Change(messages.WAS_CANCELLED, told, [{"kind": "cancel-told"}])

    return Answer(context=world.change(decide, actor="user"))


ACTIONS = {
    "activate": _activate,
    "workflow": _workflow,
    "cancel": _cancel,
    "cancel-and-continue": _cancel,
    "pause": _pause,
    "resume": _resume,
    "none": _none,
}
