"""What a prompt asks of omo is done: a run is armed, cancelled or paused. prompt.py has read what it asks."""

from __future__ import annotations

from omo import hosts, settings, table
from omo.clock import seconds
from omo.errors import OmoError
from omo.hooks import messages
from omo.hosts import Answer
from omo.state import ownership, paths, runtime
from omo.state.rows import EMPTY
from omo.text import block, clip
from omo.work import budget, left_open, room, session
from omo.work.naming import ULTRAWORK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from omo.hooks.main import World
    from omo.hooks.stop_words import Clause, Reading
    from omo.hosts import Event
    from omo.state.ledger_rows import NamedFile, SessionEvent
    from omo.state.rows import Base, SessionRow
    from omo.work.gates import Gate


MOST_GATES = 3  # that the model is told of
LONGEST_TASK = 2000  # characters of the prompt that armed a run, kept for its report
# Seconds in which the same cancel can only be one event, delivered twice: tests/hooks/test_telling.py,
# test_a_cancel_delivered_twice_is_answered_once.
SAME_EVENT = 3.0


def turn_on(event: Event, world: World, reading: Reading, by: str = "user") -> Answer:
    """By the keyword, or by the command of a workflow. `session.arm` says what goes on with it, and what does not."""
    is_workflow = reading.action == "workflow"
    name = reading.names[0] if is_workflow else ULTRAWORK
    if not event.session:
        return messages.could_not_turn_on("the host gave no session id", name)
    try:
        if by == "user":  # an agent's client moves no state aside
            world.take_place()
        if is_workflow:
            return _workflow(event, world, reading)
        return _ultrawork(event, world, reading, by)
    except OmoError as error:
        return messages.could_not_turn_on(error.message, name, error.fix)


def _ultrawork(event: Event, world: World, reading: Reading, by: str) -> Answer:
    is_first = by == "user" and not (world.row() or EMPTY)["work"] and not event.transcript.last_word_at()
    is_bare = is_first and event.transcript.answers() is not None and not _clauses(event.prompt, reading)
    if is_bare and left_open.offered(runtime.sessions(world.state), event.session, event.client, world.now):
        from omo.hooks import resume

        return resume.handle(event, world, "")  # nothing was talked of yet but what is left open
    # Before the lock, because what the files weigh takes its time.
    taken = None if session.is_ultrawork_on(world.row()) else _files_now(event, world, by)
    documents = _documents(event, world, reading) if by == "user" else []

    def decide(row: SessionRow | None) -> runtime.Change:
        base = taken
        if base is None and not session.is_ultrawork_on(row):  # it ended meanwhile
            base = _files_now(event, world, by)
        return _with_ulw(event, world, reading, by, row, base, documents)

    answer: Answer = world.change(decide, actor=by)
    return answer


def _documents(event: Event, world: World, reading: Reading) -> list[NamedFile]:
    """The documents that the prompt names as what to do. Most prompts hold no name of a file."""
    start, end = reading.span
    rest = f"{event.prompt[:start]} {event.prompt[end:]}"
    if "." not in rest and not any(map(str.isupper, rest.split())):
        return []
    from omo.hooks import named_documents

    return named_documents.kept(event, world, rest)


def _files_now(event: Event, world: World, by: str) -> Base:
    from omo.proof import base

    directory = paths.session_directory(world.environ, event.project)
    return {**base.take(world.root, world.environ, world.state), "by": by, "directory": directory}


def _with_ulw(
    event: Event,
    world: World,
    reading: Reading,
    by: str,
    row: SessionRow | None,
    base: Base | None,
    documents: list[NamedFile],
) -> runtime.Change:
    """The run begins on the files of `base`, or goes on where there is none."""
    from omo import variables

    clauses = _clauses(event.prompt, reading)
    before = row or EMPTY
    if row is not None:
        for kind in _named(clauses, "stop", "wait") & dict(room.runs(row, *room.GOING)).keys():
            row = session.pause_run(row, kind, why=messages.FOR_ULW)
    was_on = bool(runtime.work_in(before, "active")) and not session.is_cancelled(before)
    if was_on and before["ulw"].get("armedFor") == event.fingerprint:
        return runtime.Change(Answer())  # the same prompt, delivered twice
    pinned: list[Gate] = []
    next_step = ""
    lines: list[str] = []
    if base is not None:  # else the run goes on as it is, and its ledger need not be read
        from omo.work import gates

        pinned = list(gates.current(world.state, event.session, row))
        if not was_on:
            next_step, lines = _gates(event, world, pinned, base)
    typed: SessionEvent = {"rule": reading.rule, "text": block(event.prompt, LONGEST_TASK)}
    if documents:
        typed["documents"] = documents
    task = _task(event, world, row, clauses, session.KIND, typed)
    meant = _named(clauses, "go") & dict(runtime.standing(before)).keys()
    wanted = session.Wanted(session.KIND, task, next(iter(meant), ""))
    in_force = settings.load(world.environ, world.root)
    armed = _arm(event, world, row, wanted, in_force, by, len(pinned))
    armed = session.note(armed, {"armedFor": event.fingerprint})
    text = ""
    if armed["work"].get(session.KIND, {}).get("state"):
        if before.get("instructed") is not True:
            text = messages.instructions(lines)
        elif not session.is_ultrawork_on(before):
            text = messages.ON_AGAIN
        armed = {**session.with_next(armed, next_step), "instructed": True}
    noted: SessionEvent = {
        **session.run_and_base(row, armed, base),
        "kind": "rearmed" if was_on else "activated",
        **typed,
        "variables": variables.marks(world.environ),
    }
    woken = [(kind, work) for kind, work in session.woken(row, armed) if kind != session.KIND]
    answer = messages.turned_on(text, woken, armed, in_force.problems) if text or woken else Answer()
    if paused := messages.gives_way(room.made_way(before, armed)):
        answer.message = f"{answer.message or 'omo:'} {paused}"
    return runtime.Change(answer, armed, [noted])


def _workflow(event: Event, world: World, reading: Reading) -> Answer:
    """Where it goes on, or a cancel was in its way, the user is told now; of a new run when the agent's first command
    begins it, or at the end of a turn that did not."""
    from omo.hooks import user_commands

    name = reading.names[0]
    kind = table.BY_TYPED[name].kind
    clauses = _clauses(event.prompt, reading)
    noted = user_commands.request(event, world, name)
    in_force = settings.load(world.environ, world.root)

    def decide(row: SessionRow | None) -> runtime.Change:
        wanted = session.Wanted(kind, _task(event, world, row, clauses, kind, noted))
        armed = _arm(event, world, row, wanted, in_force)
        let_go = [(each, work) for each, work in armed["work"].items() if each == kind and runtime.was_cancelled(work)]
        if let_go or not dict(session.open_work(armed)).get(kind):
            armed = {**session.note(armed, {"armedFor": event.fingerprint}), "asked": name}
        if let_go:
            noted["anew"] = True
        woken, paused = session.woken(row, armed), room.made_way(row or EMPTY, armed)
        answer = messages.typed(name, woken, let_go, paused, was_cancelled=session.is_cancelled(row))
        return runtime.Change(answer, armed, [noted])

    answer: Answer = world.change(decide, actor="user")
    return answer


def _arm(
    event: Event,
    world: World,
    before: SessionRow | None,
    wanted: session.Wanted,
    in_force: settings.Settings,
    by: str = "user",
    pinned: int = 0,
) -> SessionRow:
    """What is spent counts from here, or goes on; a turn begins, and the user is shown all that is on."""
    ceilings = in_force.budget if by == "user" else None
    armed = session.arm(
        before, by=by, limits=in_force.limits, now=world.now, wanted=wanted, ceilings=ceilings, pinned=pinned
    )
    if not runtime.work_in(armed, "active"):
        return armed
    from omo.work import spending

    if before is None or not runtime.is_live(before):
        armed = spending.begin(armed, event)
    else:
        armed = spending.follow(armed, event, world.now)
    return session.shown_on(budget.start_clock(armed, world.now))


def _task(
    event: Event, world: World, row: SessionRow | None, clauses: list[Clause], kind: str, typed: SessionEvent
) -> str:
    """Whether a task is beside the word. It is that of before after a "go on", or with the file of the plan that is
    under way; where that run was let go or cancelled, also if the same words are typed once more."""
    if all(clause.kind == "go" for clause in clauses):
        return session.NO_TASK
    before = (row or EMPTY)["work"].get(kind, {})
    run = session.last_run(row, kind)
    names_plan = any(file["path"] == before.get("fence", {}).get("spec") for file in typed.get("files") or ())
    if names_plan or (run and clauses[0].kind == "go"):
        return session.SAME_TASK
    is_let_go = session.is_cancelled(row) or runtime.was_let_go(before)
    if not run or not is_let_go or runtime.has_ended(before):
        return session.NEW_TASK  # "ulw do the next item" is another item every time
    from omo.work import requests

    texts = requests.of_run(runtime.vouched_rows(world.state, event.session, row), kind, run)
    return session.SAME_TASK if typed.get("text") in texts else session.NEW_TASK


def _named(clauses: list[Clause], *kinds: str) -> set[str]:
    """The workflows of which they say that in the same breath: "forget the plan, ulw fix total" in tests/hooks."""
    names: set[str] = set()
    for clause in clauses:
        if clause.kind in kinds:
            names.update(clause.names)
    return names


def _clauses(prompt: str, reading: Reading) -> list[Clause]:
    """Those beside the word, as far as a prompt is read: a clause is read in the square of its words."""
    from omo.hooks.stop_words import LONGEST_READ, clauses_of

    start, end = reading.span
    rest = f"{prompt[:start]} {prompt[end:]}"[:LONGEST_READ]
    return [clause for clause in clauses_of(rest) if clause.words and clause.kind != "filler"]


def _gates(event: Event, world: World, pinned: list[Gate], tree: Base) -> tuple[str, list[str]]:
    """What shows the work, and lines for the model: the gates that are pinned, or the test command that the project's
    files name. A file that differs from the commit is left out: what it names may be the agent's own."""
    from omo.proof import kept_commands, project_checks, project_files
    from omo.proof.typed_commands import typed
    from omo.work import gates

    if pinned:
        names = ", ".join(gate.name for gate in pinned[:MOST_GATES])
        return names, [f"(pinned: {gate.name}: {gates.in_words(gate)})" for gate in pinned[:MOST_GATES]]
    is_known = tree["head"] and not tree["unknown"]
    files = project_files.DiskFiles(world.root, tree["files"] if is_known else None)
    cwd = paths.session_directory(world.environ, event.project)
    checks = kept_commands.answered(world.state, project_checks.suggest(files, cwd))
    tests = [clip(typed(check.argv), 120) for check in checks if check.kind in ("", project_checks.TESTS)]
    if not tree["head"]:  # nothing says which files were there before: "no git at all, and nothing pinned"
        from omo.proof import base

        why = base.why_no_commit(tree)
        return "", [f"({why}, so pin them first: omo gate add tests -- {tests[0]})"] if tests else []
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
        # What a breaker let go could have gone on: a cancel ends that too.
        was_on = row is not None and (runtime.is_live(row) or runtime.can_be_resumed(row))
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
        if not world.own.is_ours and world.own.standing != ownership.ABSENT:
            nothing: Answer = decide(None).answer  # and nothing is written into what is not the user's
            return nothing
        return _with_way_out(event, world.change(decide, actor="user"))
    except OmoError as error:
        if not is_alone:
            raise
        mend = f"{error.fix[:1].upper()}{error.fix[1:]}, and type it again" if error.fix else "Type it again"
        text = f"omo: the cancel could not be recorded: {error.message}. {mend}, or start with OMO_DISABLE=1."
        return Answer(hosts.END_PROMPT, text)


def _with_way_out(event: Event, answer: Answer) -> Answer:
    """A stop is heard at once, and the turn it was typed into goes on."""
    if not event.shows_messages:
        answer.message = ""
    elif answer.message and event.is_typed_at_work:
        answer.message = f"{answer.message} {messages.ESC}"
    return answer


def _pause(event: Event, world: World, reading: Reading) -> Answer | None:
    """All that is on. A run that they name and that stands still already is left as it is, and so is the rest. What
    they asked for, and nothing was begun of, they do not want any more."""
    told = event.shows_messages  # elsewhere the user reads it at the next Stop

    def decide(row: SessionRow | None) -> runtime.Change:
        if row is None or session.is_cancelled(row) or _is_a_yes(event, reading, row):
            return runtime.Change(None)
        asked = str(row.get("asked") or "")
        is_named = asked in table.BY_TYPED and table.BY_TYPED[asked].kind in reading.names
        noted: SessionEvent = {"kind": "paused", "rule": reading.rule}
        if asked and (is_named or not runtime.is_live(row)):
            noted["named"] = [asked]
            return runtime.Change(messages.not_wanted(asked), session.without_request(row), [noted])
        work = session.can_be_paused(row, reading.names)
        still = {kind for kind, _ in runtime.standing(row)} - dict(work).keys()
        is_still = not still.isdisjoint(reading.names)
        is_on = runtime.is_live(row) or bool(dict(work).keys() & set(reading.names))
        if is_still or not is_on or not (work or session.bound_ends(row)):
            return runtime.Change(None)
        paused = session.pause(row, why=messages.FOR_NOW, told=told, named=reading.names)
        answer = messages.paused([(kind, paused["work"][kind]) for kind, _ in work]) if work else Answer()
        return runtime.Change(answer, session.shown_on(paused), [noted])

    answer: Answer | None = world.change(decide, actor="user") if world.row() else None
    return _with_way_out(event, answer) if answer else None


def _is_a_yes(event: Event, reading: Reading, row: SessionRow) -> bool:
    """ "yes, leave it as it is" answers what was asked, and only a stop would be one:
    tests/hooks/test_users_word.py, test_a_yes_answers_a_question_whatever_follows_it."""
    from omo.hooks import stop_words, wordlists

    is_asked = reading.rule == "live-wait" and runtime.work_in(row, "waiting")
    return bool(is_asked) and not wordlists.YES.isdisjoint(stop_words.words_in(event.prompt)[:1])


ACTIONS: dict[str, Callable[[Event, World, Reading], Answer | None]] = {
    "activate": turn_on,
    "workflow": turn_on,
    "cancel": _cancel,
    "cancel-and-continue": _cancel,
    "pause": _pause,
}
