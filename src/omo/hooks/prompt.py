"""What the user types is read and acted on inside the hook, before and without the model.

Most prompts ask nothing of omo, so asked.py and messages.py are loaded only for those that do.
"""

from __future__ import annotations

import time

from omo import hosts, settings, table
from omo.hooks.keyword import HEARD, read_prompt, workflow_in_words
from omo.hooks.prose import is_machine_text
from omo.hosts import Answer
from omo.state import runtime
from omo.state.rows import EMPTY
from omo.work import budget, room, session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.hooks.main import World
    from omo.hooks.stop_words import Reading
    from omo.hosts import Event
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import SessionRow


def handle(event: Event, world: World) -> Answer:
    if event.host.sends_back_by_prompt and _is_last_block(event, world):
        return _sent_back(world)
    answer = act_on(event, world)
    ended = _end_of_a_turn_before(event, world)
    if answer.decision != hosts.END_PROMPT:
        answer.message = f"{ended}\n{answer.message}".strip()
        return answer
    from omo.hooks import messages

    answer.reason = f"{ended}\n{answer.reason}".strip()
    if event.shows_messages and event.is_typed_at_work:
        return messages.answered_at_work(answer.reason)
    if not hosts.is_in_an_agents_shell(event.host, world.environ):
        answer.reason += messages.at_rest(world.live_row() or EMPTY)
    return answer


def _end_of_a_turn_before(event: Event, world: World) -> str:
    """What ended in a turn that the user has interrupted, so that no Stop has told it. What they typed now may set it
    going again, or begin the next run, with whose end it is told."""
    row = world.row() or EMPTY
    if not runtime.has_untold_end(row) or row.get("asked") or event.is_machine_prompt or event.is_subagent:
        return ""
    is_seen = event.shows_messages and not hosts.is_in_an_agents_shell(event.host, world.environ)
    if not is_seen or is_machine_text(event.prompt) or event.is_typed_at_work:
        return ""
    from omo.hooks import untold

    return untold.of_this_one(world)


def act_on(event: Event, world: World) -> Answer:
    """What the prompt asks of omo is done."""
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
    before = world.row() or EMPTY
    is_withdrawn = _was_withdrawn(event, before)
    if is_withdrawn:
        world.change(
            lambda row: runtime.Change(None, row and session.withdraw(row), [{"kind": "withdrawn"}]), actor="user"
        )
    answer = _do_what_is_asked(event, world, reading)
    if answer is None:
        answer = _hear(event, world, reading)
    if is_withdrawn and not before.get("asked") and event.shows_messages and reading.action == "none":
        from omo.hooks import messages

        answer.message = messages.WITHDRAWN
    return _with_removal(event, world, answer)


def _is_last_block(event: Event, world: World) -> bool:
    """Whether the prompt is the reason with which our last Stop has sent the agent back."""
    from omo.state import ledger, paths

    for row in ledger.newest_first(paths.events_file(world.state, event.session)):
        if row.get("kind") == "blocked":
            return event.host.spell(str(row.get("reason"))) == event.prompt
    return False


def _sent_back(world: World) -> Answer:
    """It is let through, unless the user has let go while it was on its way, or has paused the work."""
    row = world.live_row()
    if row is not None and runtime.work_in(row, "active"):
        return Answer()
    from omo.hooks import messages

    return Answer(hosts.END_PROMPT, messages.NOT_SENT_BACK)


def _with_removal(event: Event, world: World, answer: Answer) -> Answer:
    """The answer also says that the state was removed, where the user reads it; elsewhere the next Stop says so."""
    if answer.decision == hosts.END_PROMPT:
        answer.reason = f"{answer.reason} {world.told_of_removal()}".strip()
    elif event.shows_messages:
        answer.message = f"{world.told_of_removal()} {answer.message}".strip()
    return answer


def _was_withdrawn(event: Event, row: SessionRow) -> bool:
    """Esc before the model's first word takes a prompt back, and the host tells nobody: the session was armed, the
    model never spoke, and this prompt was not typed during that turn (the host would have queued it)."""
    ulw = row["ulw"]
    if not ulw.get("armedFor") or ulw["armedFor"] == event.fingerprint or ulw.get("totalBlocks"):
        return False
    is_armed = ulw.get("enabled") or row.get("asked")
    if not is_armed or not event.transcript.is_silent_since(str(ulw.get("armedAt"))):
        return False
    for _ in range(hosts.QUEUE_LOOKS):
        if event.transcript.queued_prompts():
            return False
        time.sleep(hosts.QUEUE_LAG / hosts.QUEUE_LOOKS)
    return True


def _of_an_agent(event: Event, world: World, reading: Reading) -> Answer:
    """An agent may begin a run of its own in another client, but it does not speak for the user."""
    row = world.row() or EMPTY
    if reading.action == "activate" and not runtime.is_live(row) and not session.was_released(row):
        from omo.hooks import asked

        return asked.turn_on(event, world, reading, by="agent")
    if reading.action in ("cancel", "cancel-and-continue"):
        from omo.hooks import messages

        return Answer(hosts.END_PROMPT, messages.AN_AGENTS_CLIENT)
    return Answer()


def _do_what_is_asked(event: Event, world: World, reading: Reading) -> Answer | None:
    """None where the prompt asks nothing of omo, or nothing is there that it could be done to."""
    if reading.action == "none":
        return None
    if reading.action == "resume":
        return _resume(event, world, reading)
    from omo.hooks import asked

    return asked.ACTIONS[reading.action](event, world, reading)


def _resume(event: Event, world: World, reading: Reading) -> Answer | None:
    """What was paused, waits or was let go by a breaker goes on. A cancel ends only when the session is armed again."""
    from omo.hooks import messages

    named = reading.names[0] if reading.names else ""
    limits = settings.load(world.environ, world.root).limits

    def decide(row: SessionRow | None) -> runtime.Change:
        still = dict(runtime.standing(row or EMPTY))
        can_go_on = row is not None and (runtime.is_live(row) or runtime.left_open(row) or named in still)
        if row is None or session.is_cancelled(row) or not can_go_on:
            return runtime.Change(None)
        if any(runtime.was_let_go(still[kind]) for kind in ([named] if named in still else still)):
            after = session.resume_with_all_blocks(row, limits=limits, now=world.now, named=named)
        else:
            after = session.with_hours_left(session.resume(row, named=named), limits=limits, now=world.now)
        after = session.answered(_with_clock_running(event, after, world.now))
        woken = session.woken(row, after)
        if woken:
            answer = messages.goes_on("understood as continue", woken, messages.gives_way(room.made_way(row, after)))
            return runtime.Change(answer, session.shown_on(after), [{"kind": "resumed"}])
        if not runtime.work_in(after, "active") and budget.is_used_up(row):
            return runtime.Change(Answer(message=messages.needs_budget(row)))
        ended = session.newly_answered(row, after)
        # The work is on already. They said that it is to go on, so nothing that they wrote before is open.
        return runtime.Change(messages.answered_end(ended), after, [{"kind": "end-answered"}] if ended else [])

    answer: Answer | None = world.change(decide, actor="user") if world.row() else None
    return answer


def _hear(event: Event, world: World, reading: Reading) -> Answer:
    """A person spoke: what waited for them goes on, and their words are kept for the next Stop. A pause ends only
    when they say so."""

    def decide(row: SessionRow) -> runtime.Change:
        events: list[SessionEvent] = []
        if row["ulw"].get("unanswered"):  # we blocked, and then a person ended that turn
            row = session.note(row, {"unanswered": False})
            events.append({"kind": "overridden"})
        after = session.resume(row, states=("waiting",), own=False)
        after = session.answered(_with_clock_running(event, after, world.now))
        answer = Answer()
        woken, ended = session.woken(row, after), session.newly_answered(row, after)
        if woken or ended:
            from omo.hooks import messages

            events.append({"kind": "resumed" if woken else "end-answered"})
            answer = messages.answered_end(ended)
            if woken:
                asked = [row["work"].get(kind, {}) for kind, _ in woken]
                answer = Answer(message=messages.goes_on("with your answer", woken, messages.to_allow(asked)).message)
        if woken:
            limits = settings.load(world.environ, world.root).limits
            after = session.with_hours_left(session.shown_on(after), limits=limits, now=world.now)
        return runtime.Change(answer, session.note_message(after, event.prompt, now=world.now), events)

    answer: Answer | None = world.change_live(decide, actor="user")
    if answer is None:
        answer = Answer()
        if runtime.needs_hooks(world.row() or EMPTY):
            answer = _tell_of_cancel(world, reading)
        if reading.rule in HEARD:
            from omo.hooks import messages

            answer.message = messages.not_turned_on(HEARD[reading.rule])
    name = "" if answer.message else workflow_in_words(event.prompt)
    if name and table.BY_TYPED[name].kind not in dict(runtime.left_open(world.row() or EMPTY)):
        from omo.hooks import messages

        answer.message = messages.begun_by_its_command(name)
    if not event.shows_messages:
        answer.message = ""
    return answer


def _with_clock_running(event: Event, row: SessionRow, now: float) -> SessionRow:
    """A turn begins with this prompt, unless it joins one. The last turn may have ended without a Stop."""
    has_minutes = bool(row.get("budget", {}).get(budget.MINUTES))
    if has_minutes and not event.is_typed_at_work:
        from omo.work import spending

        row = spending.end_unseen_turn(row)
    return budget.start_clock(row, now)


def _tell_of_cancel(world: World, reading: Reading) -> Answer:
    """The prompt that cancelled never reached the model, which still has its instructions: say so, once."""
    from omo.hooks import messages

    def decide(row: SessionRow | None) -> runtime.Change:
        cancel = (row or EMPTY)["stopContinuation"]
        if row is None or cancel.get("told") is not False:
            return runtime.Change("")
        told: SessionRow = {**row, "stopContinuation": {**cancel, "told": True}}
        return runtime.Change(messages.of_cancelled(messages.WAS_CANCELLED, row), told, [{"kind": "cancel-told"}])

    told = world.change(decide, actor="user")
    return Answer(context=told, message=messages.STAYS_OFF if told and reading.action == "resume" else "")
