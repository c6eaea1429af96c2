"""Before a tool call: what is denied, and what is permitted without asking. All else is none of our business."""

from __future__ import annotations

import os

from omo import hosts, table
from omo.hosts import Answer
from omo.json_text import Json
from omo.state import ownership, paths, runtime
from omo.state.rows import EMPTY
from omo.text import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from omo.hooks.main import World
    from omo.hosts import Event
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import SessionRow


PATIENCE = 3  # an identical call that is refused so often is no longer a matter between omo and the model
# Different refused calls; an older one is counted from the start again. tests/hooks/test_tool_gates.py,
# test_the_memory_of_refusals_is_bounded_and_survives_edits.
REMEMBERED = 64
COUNT_WAIT = 2.0  # the refusal itself must not come too late for the host, so its count may be lost
LONGEST_QUESTION = 500
LONGEST_REASON = 1000
MOST_REASONS = 3
PERMITTED = "omo: it only looks, or runs what is pinned."
OWN_STATE = "own-state"
SWAPPED = "swapped"
# What the user is told when the run comes to wait. These gates stay shut: only the Stop is let go.
# A completion or a subagent's call that is refused waits for nobody: the leader goes on.
WAITS = {
    OWN_STATE: f"the agent was refused {PATIENCE} times when it wanted to change omo's state or your settings",
    "fence": f"the agent was refused {PATIENCE} times when it wanted to leave the plan's fence",
    "ask": f"the agent was refused {PATIENCE} times when it wanted to ask you this",
    "pause": f"the agent was refused {PATIENCE} times when it wanted to pause the goal",
}
INSTEAD = {
    "runtime.local.json": "omo ulw status shows it, omo ulw done finishes the run",
    "events.jsonl": "omo alone writes the ledger: omo gate add, run and record add to it",
}
# Where the state is, or how git takes it along with all that is ignored; the launcher looks for the same.
STATE_HINTS = ("sisyphus", "cc-omo", "clean", "stash")
# `omo GROUP VERB` that only the leader of open work may call: each changes the work or ends it.
LEADERS: dict[str, tuple[str, ...]] = {}
LEADERS_WITH: dict[tuple[str, str], str] = {}  # those that are the leader's only with this word behind them
BRIEFS: list[str] = []  # the commands that print a brief
for workflow in table.ROWS:
    INSTEAD |= workflow.instead
    LEADERS |= workflow.leaders
    LEADERS_WITH |= workflow.leaders_with
    BRIEFS += dict.fromkeys([" ".join(line.split()[:3]) for line in workflow.briefs.values()])
RESUME = "resume"  # a command without verbs
OF_GOAL = ("pause", "complete")  # of `omo goal`: refused to the leader too, while the run says so


class Denial:
    """`gate` names who refuses, `reason` is for the model, `question` for the user when the run comes to wait."""

    def __init__(self, gate: str, reason: str, question: str = "", message: str = "") -> None:
        self.gate = gate
        self.reason = clip(reason, LONGEST_REASON)
        self.question = question
        self.message = message  # shown to the user at once


def handle(event: Event, world: World) -> Answer:
    for gate in GATES:
        if denial := gate.asks(event, world):
            # Swapped files come back by themselves, for whoever was held off: tests/hooks/test_swapped.py,
            # test_what_can_write_is_refused_to_every_session.
            if denial.gate != SWAPPED:
                _count_denial(event, world, denial)
            return Answer(hosts.DENY, denial.reason, message=denial.message)
    if event.tool == hosts.START_AGENT:
        return Answer(message=_count_agent(event, world))
    _make_state_for(event, world)
    notice = _tells_of_experiment(event, world)
    if permits(event, world):
        return Answer(hosts.PERMIT, PERMITTED, message=notice)
    if notice:
        return Answer(message=notice)
    if what := _swapped_files(world):
        return Answer(context=f"[omo] {what}: what you read of its files now may be the old version.")
    return Answer()


def _make_state_for(event: Event, world: World) -> None:
    """Make the state that an `omo` call of the agent's is going to need. Its shell may be a sandbox in which it cannot,
    and what an agent makes by itself is nobody's."""
    if event.tool != hosts.SHELL or "omo" not in event.command or world.own.standing != ownership.ABSENT:
        return
    from omo import shell
    from omo.hooks import own_calls

    for words in shell.commands(event.command):
        if words[:1] == ["omo"] and not own_calls.only_looks(words[1:]):
            world.take_place()
            return


def _tells_of_experiment(event: Event, world: World) -> str:
    """Once in a run, before files are swapped for the first time: what is going to happen, and how to switch it off."""
    if "omo ulw done" not in event.command or event.tool != hosts.SHELL:
        return ""
    from omo import settings, shell
    from omo.hooks import own_calls
    from omo.work import gates, session

    row = world.live_row()
    if row is None or row["ulw"].get("toldOfRuns") or not any(map(own_calls.is_done, shell.commands(event.command))):
        return ""
    has_pinned = len(gates.current(world.state, event.session, row)) > 0  # also by the user, in another conversation
    runs = own_calls.runs_found_tests(event, world) or ("the pinned gates" if has_pinned else "")
    if not runs or not settings.load(world.environ, world.root).proof_minutes:
        return ""
    world.change_live(lambda row: runtime.Change(None, session.note(row, {"toldOfRuns": True})))
    return (
        f"omo: to see what proves the work, omo ulw done runs {clip(runs, 120)}, also with the changed files as they "
        "were before the work, and puts them back. To switch that off, set `experiment` to off."
    )


def waits_for_swapped_files(event: Event, world: World) -> Denial | None:
    """What is written into swapped files is lost to the work: an agent went on to edit the old version when the host
    had moved the command to the background. This holds in any session, at work or not."""
    if event.tool not in (hosts.WRITE, hosts.SHELL, hosts.POWERSHELL):
        return None
    what = _swapped_files(world)
    if not what:
        return None
    from omo.hooks import own_calls

    words = own_calls.words_of(event.command)
    if event.tool == hosts.SHELL and words[:1] == ["omo"] and own_calls.only_looks(words[1:]):
        return None
    return Denial(SWAPPED, f"{what}. Wait for it: until then files can be read, and nothing can be written or run.")


def _swapped_files(world: World) -> str:
    """What is going on, where a process that still runs has swapped files of this project."""
    if not os.path.lexists(paths.swap_journal(world.state)):
        return ""
    from omo.proof import swap

    return swap.UNDER_WAY if swap.is_under_way(world.state) else ""


def permits(event: Event, world: World) -> bool:
    """An `omo` call that looks or runs what is pinned, while a run is on, and that no gate refuses."""
    if not event.can_permit or event.in_plan_mode or "omo" not in event.command or not _open_work(world):
        return False
    from omo.hooks import own_calls

    return own_calls.may_run(event, world)


def _count_agent(event: Event, world: World) -> str:
    """Count an agent that is about to start; the answer is what the user is told of the budget."""
    from omo.work import budget

    def decide(row: SessionRow) -> runtime.Change:
        after = budget.agent_asked(_counted(event, world, row))
        if not budget.due_mark(after):
            return runtime.Change("", after)
        return runtime.Change(budget.notice(after), budget.note_told(after))

    return str(world.change_live(decide) or "")


def _counted(event: Event, world: World, row: SessionRow) -> SessionRow:
    from omo import settings
    from omo.work import budget, spending

    row = budget.with_settings(row, settings.load(world.environ, world.root).budget)
    return spending.Counter(world.state, event.session).counted(spending.follow(row, event, world.now), world.now)


def keeps_within_the_budget(event: Event, world: World) -> Denial | None:
    """No agent is started once the budget is spent."""
    row = world.live_row() if event.tool == hosts.START_AGENT else None
    if row is None:
        return None
    from omo.work import budget

    row = budget.with_agents_asked(_counted(event, world, row))
    if not budget.is_reached(row):
        return None
    spent = f"the budget is spent ({budget.all_in_words(row)}), and no more agents are started"
    reason = f"[omo] {spent}. Bring what is open to a good place yourself, and say what is left."
    return Denial("budget", reason, message=f"omo: {spent}. {budget.way_on(row)}")


def asks_judges_in_our_words(event: Event, world: World) -> Denial | None:
    """Whoever judges or reviews for an open workflow reads its brief, and nothing that the leader would add or has said
    before. Where the host hides what an agent is told, nobody could ever be started in the right words."""
    if event.tool != hosts.START_AGENT:
        return None
    from omo.work import briefs

    row = world.row()
    agent, lacks = event.started_agent, event.lacks_for_fresh_agent
    if row is None or row["stopContinuation"].get("disabled") or not briefs.asking(row, agent):
        return None
    reason = ""
    if lacks:
        reason = f"{agent} begins with its brief, and not with this conversation: start it with {lacks}"
    elif not event.hides_agent_prompt:
        reason = briefs.refusal(row, agent, event.agent_prompt)
    return Denial("brief", f"[omo] {reason}") if reason else None


def leaves_commands_to_the_user(event: Event, world: World) -> Denial | None:
    """What a timer types comes to the prompt hook as if the user had typed it: an agent allowed itself the test that it
    had cut ("cut and allowed by a timer"). What only looks may be typed so."""
    if event.tool != hosts.SCHEDULE or not event.agent_prompt.lstrip().startswith("/") or not _open_work(world):
        return None
    from omo.hooks import user_commands

    name = user_commands.command_of(event.agent_prompt)
    is_ours = name is not None or event.agent_prompt.lstrip().startswith("/omo:")
    if not is_ours or name in user_commands.LOOKS:
        return None
    command = clip(event.agent_prompt.split()[0], 40)
    return Denial("schedule", f"[omo] {command} counts only when the user types it, and no timer does that for them.")


def _count_denial(event: Event, world: World, denial: Denial) -> None:
    """A refusal that is repeated and repeated is a question for the user, not for a loop: the run comes to wait."""

    def decide(row: SessionRow | None) -> runtime.Change:
        before = row or EMPTY
        denials, times = counted(before.get("denials", {}), event.call_digest)
        after: SessionRow = {**before, "denials": denials}
        if denial.gate in WAITS and times % PATIENCE == 0 and runtime.work_in(after, "active"):
            from omo.work import session

            question = clip(denial.question, LONGEST_QUESTION)
            after = session.suspend(after, why=WAITS[denial.gate], question=question)
        noted: SessionEvent = {"kind": "denied", "gate": denial.gate, "tool": event.tool_title}
        noted |= {"reason": denial.reason, "times": times}
        return runtime.Change(None, after, [noted])

    try:
        world.change(decide, wait=COUNT_WAIT)
    except OSError:
        pass  # it is refused all the same


def counted(denials: Json, key: str) -> tuple[Json, int]:
    """The counts with this call, by its digest, as the newest, and how often it was refused, this time included."""
    before = denials.get(key)
    times = before + 1 if isinstance(before, int) else 1
    others = [item for item in denials.items() if item[0] != key]
    return dict([*others[1 - REMEMBERED :], (key, times)]), times


def guards_own_state(event: Event, world: World) -> Denial | None:
    """Our state is not edited directly: what is there counts only because omo wrote it."""
    directory = event.directory or world.root
    settings_file = paths.settings_file(world.root)
    for path in event.written_paths:
        if _is_inside(os.path.join(directory, path), world.own.state):
            instead = INSTEAD.get(os.path.basename(path), "omo --help lists the commands that change it")
            return Denial(OWN_STATE, f"{path} is omo's own state and is not edited by hand: {instead}.", path)
        if _is_inside(os.path.join(directory, path), settings_file):
            if not _open_work(world):
                return None
            # What the user set for a run holds until it ends: the agent does not set its own limits.
            who = "the user changes them, or you when it is done"
            message = (
                f"omo: the agent tried to change your settings while work is open, and was refused: {clip(path, 80)}"
            )
            return Denial(OWN_STATE, f"{path} holds the user's settings, and work is open: {who}.", path, message)
    if event.tool != hosts.SHELL:
        return None
    is_named = any(hint in event.command.lower() for hint in STATE_HINTS)
    if not (is_named or _is_inside(directory, world.own.state)) or not world.live_row():
        return None
    from omo.fence import StateFence, commands

    fence = StateFence([world.own.state, settings_file], world.root, world.environ)
    reasons = commands.refusals(event.command, fence, directory)
    return Denial(OWN_STATE, f"{reasons[0]}.", event.command) if reasons else None


def keeps_inside_the_fence(event: Event, world: World) -> Denial | None:
    """What a plan session may not change or run, be it the leader or a subagent, until it ends or is cancelled."""
    if event.tool not in (hosts.WRITE, hosts.SHELL, hosts.POWERSHELL):
        return None
    row = world.row()
    if row is None or not runtime.is_fenced(row):
        return None
    reasons = _fence_reasons(event, world, row)
    if not reasons:
        return None
    return Denial("fence", " ".join(reasons[:MOST_REASONS]), event.command or ", ".join(event.written_paths))


def _fence_reasons(event: Event, world: World, row: SessionRow) -> list[str]:
    from omo.fence import POSIX_ONLY, open_fence

    fence = open_fence(row, world.environ)
    directory = event.directory or world.root
    if fence is None:
        return []
    if event.tool == hosts.SHELL:
        from omo.fence import commands

        return commands.refusals(event.command, fence, directory)
    if event.tool == hosts.POWERSHELL:
        return [POSIX_ONLY]
    return list(filter(None, [fence.refusal(path, directory) for path in event.written_paths]))


def keeps_questions_in_the_plan(event: Event, world: World) -> Denial | None:
    """With goals open, a question is a decision to record or a blocker to classify, not a reason to wait. While the
    user has paused them, the agent does something else for a person who sits there."""
    if event.tool != hosts.ASK:
        return None
    work = _open_work(world)
    work = {kind: summary for kind, summary in work.items() if not runtime.is_paused_by_user(summary)}
    reason = _refusal(work, "ask")
    if not reason:
        return None
    from omo import settings

    # By the hook's own environment, which is the user's; else as the project was committed where the run began.
    # The agent's shell and its edits of the project's file have no say in it.
    committed = any(summary.get("attended") is True for summary in work.values())
    is_attended = settings.merged(world.environ, {"attended": committed}).attended
    return None if is_attended else Denial("ask", reason, event.question)


def keeps_the_run_with_its_leader(event: Event, world: World) -> Denial | None:
    """A subagent does not change the plan by `omo` in a shell, and the leader does not pause or complete a goal before
    the run allows it, nor the goal that the host itself keeps."""
    if event.tool == hosts.COMPLETE:
        reason = _refusal(_open_work(world), "complete")
        return Denial("complete", reason) if reason else None
    hints = list(OF_GOAL)
    if event.is_subagent:
        hints += [*LEADERS_WITH.values(), RESUME]
        for verbs in LEADERS.values():
            hints += verbs
    text = event.command if event.tool == hosts.SHELL else ""
    if "omo" not in text or not any(hint in text for hint in hints):
        return None
    work = _open_work(world)
    if not work:
        return None
    for words in omo_calls(text):
        names = [word for word in words if not word.startswith("-")]
        group, verb = (*names, "", "")[:2]
        is_leaders = group == RESUME or verb in LEADERS.get(group, ())
        if with_word := LEADERS_WITH.get((group, verb)):
            is_leaders = any(with_word in word for word in words)
        if is_leaders and event.is_subagent:
            reason = (
                f"omo {group} {verb} belongs to the leader of this run, who alone changes or ends it. "
                "Return your evidence (files, commands and their output) to the leader, who records it."
            )
            return Denial("subagent", reason, f"omo {group} {verb}")
        if group == "goal" and verb in OF_GOAL and (reason := _refusal(work, verb)):
            return Denial(verb, reason, _values(words[words.index(verb) + 1 :]))
        if is_leaders:
            # It changes the plan, so only the commands behind it know whether they may run then:
            # `classify-blocker … && omo goal pause` in tests/hooks/test_tool_gates.py.
            return None
    return None


def _open_work(world: World) -> Json:
    """This session's own work while it is open; empty when there is none or nothing can be known."""
    row = world.row()
    if row is None or row["stopContinuation"].get("disabled"):
        return {}
    return dict(runtime.work_in(row, *runtime.OPEN_STATES))


def _refusal(work: Json, what: str) -> str:
    """The sentence with which the CLI left word that this is refused; empty where it is allowed."""
    for summary in work.values():
        reason = runtime.part(summary, "deny").get(what)
        if reason and isinstance(reason, str):
            return reason
    return ""


def omo_calls(text: str) -> list[list[str]]:
    """What follows `omo` in each command that runs it, except where it only prints its help."""
    from omo import shell

    calls = []
    for command in shell.commands(text):
        words = shell.program(command)
        # A program that only the running shell can name may be omo; its arguments tell. `OMO=omo; $OMO goal pause`:
        # test_a_call_is_refused_however_it_is_written in tests/hooks/test_tool_gates.py.
        if not words or not (shell.name(words) == "omo" or words[0].startswith(("$", "`"))):
            continue
        options = words[: words.index("--")] if "--" in words else words
        if "-h" not in options and "--help" not in options:
            calls.append(words[1:])
    return calls


def _values(words: list[str]) -> str:
    """The values of options, as written: `--reason "no key"` and `--reason="no key"` both say no key."""
    values = []
    for word in words:
        value = word.partition("=")[2] if word.startswith("-") else word
        if value:
            values.append(value)
    return " ".join(values)


def _is_inside(path: str, directory: str) -> bool:
    """By name and by where links lead; case is ignored, as some file systems do."""
    if "\0" in path:
        return False  # no file can be called so
    for resolve in (os.path.abspath, os.path.realpath):
        if os.path.join(resolve(path), "").lower().startswith(os.path.join(resolve(directory), "").lower()):
            return True
    return False


class ToolGate:
    """`asks` looks at one call, and denies it under one of the `names`."""

    def __init__(self, asks: Callable[[Event, World], Denial | None], *names: str) -> None:
        self.asks = asks
        self.names = names


GATES = (
    ToolGate(guards_own_state, OWN_STATE),
    ToolGate(keeps_inside_the_fence, "fence"),
    ToolGate(keeps_within_the_budget, "budget"),
    ToolGate(asks_judges_in_our_words, "brief"),
    ToolGate(leaves_commands_to_the_user, "schedule"),
    ToolGate(keeps_questions_in_the_plan, "ask"),
    ToolGate(keeps_the_run_with_its_leader, *OF_GOAL, "subagent"),
    ToolGate(waits_for_swapped_files, SWAPPED),
)
