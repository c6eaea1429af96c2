"""The gates of PreToolUse: each looks at one call and says why it is refused, or nothing."""

from __future__ import annotations

import os

from omo.errors import Unreadable
from omo.shown import clip
from omo.state import paths, runtime
from omo.ultrawork import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from omo.host import Event
    from omo.ultrawork.hook import World

    Json = dict[str, Any]

PATCHED = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")
WRITERS = ("Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch")
ASKER = "AskUserQuestion"
SHELL = "Bash"
POWERSHELL = "PowerShell"
MOST_REASONS = 3
RUN = "ultragoal"
LONGEST_REASON = 1000
INSTEAD = {
    "runtime.local.json": "omo ulw status shows it, omo ulw done finishes the run",
    "events.jsonl": "omo alone writes the ledger: omo gate add, run and record add to it, omo ledger show reads it",
    "goals.json": "omo ultragoal status shows the plan, omo ultragoal steer changes it",
    "ledger.jsonl": "omo alone writes the ledger: omo ultragoal checkpoint and steer add to it, status shows it",
}

OWN_STATE = "own-state"
# Where the state is, or how git takes it along with all that is ignored; the launcher looks for the same.
STATE_HINTS = ("sisyphus", "cc-omo", "clean", "stash")
# `omo GROUP VERB` that only the leader of open work may call: each changes the work or ends it.
LEADERS = {
    "ulw": ("start", "done", "blocked", "resume"),
    "ultragoal": (
        *("create-goals", "create", "complete-goals", "checkpoint", "steer", "classify-blocker"),
        *("record-review-blockers", "repair", "adopt"),
    ),
    "goal": ("create", "complete", "pause", "resume", "drop"),
    "state": ("clear", "ultraplan", "ultragoal", "ralph", "verify"),
    "plan": ("start", "skip", "recover", "finish"),
    "ralph": ("start", "exec", "phase", "brief", "judge", "abandon"),
}
REVIEW_THAT_WRITES = "review-start"
OF_GOAL = ("pause", "complete")  # of `omo goal`: refused to the leader too, while the run says so
HINTS = {False: OF_GOAL, True: (REVIEW_THAT_WRITES, *(verb for verbs in LEADERS.values() for verb in verbs))}


class Denial:
    """`gate` names who refuses, `reason` is for the model, `question` for the user when the run comes to wait."""

    __slots__ = ("gate", "question", "reason")

    def __init__(self, gate: str, reason: str, question: str = "") -> None:
        self.gate = gate
        self.reason = reason
        self.question = question


def guards_own_state(event: Event, world: World) -> Denial | None:
    """Direct edits of our state: what is there counts only because omo wrote it."""
    for path in written_paths(event) if event.tool in WRITERS else []:
        if _is_inside(os.path.join(event.cwd or world.root, path), world.state):
            instead = INSTEAD.get(os.path.basename(path), "omo --help lists the commands that change it")
            return Denial(OWN_STATE, f"{path} is omo's own state and is not edited by hand: {instead}.")
        if _is_inside(os.path.join(event.cwd or world.root, path), paths.settings_file(world.root)):
            return _guards_settings(path, event, world)
    return _guards_from_shell(event, world) if event.tool == SHELL else None


def _guards_from_shell(event: Event, world: World) -> Denial | None:
    """A command that removes or overwrites our state, by name or with all that git ignores, while work is open."""
    text = shell_text(event)
    if not any(hint in text.lower() for hint in STATE_HINTS) or not _is_live(event, world):
        return None
    from omo.ultrawork import shell_fence
    from omo.ultrawork.fence import StateFence

    fence = StateFence([world.state, paths.settings_file(world.root)], world.root, world.environ)
    reasons = shell_fence.state_writes(text, fence, event.cwd or world.root)
    return Denial(OWN_STATE, clip(f"{reasons[0]}.", LONGEST_REASON), text) if reasons else None


def _is_live(event: Event, world: World) -> bool:
    try:
        row = runtime.session(world.state, event.session)
    except Unreadable:
        return False
    return row is not None and runtime.is_live(row)


def _guards_settings(path: str, event: Event, world: World) -> Denial | None:
    """What the user set for a run holds until it ends: the agent does not set its own limits."""
    if not _open_work(event, world):
        return None
    reason = f"{path} holds the user's settings, and work is open: the user changes them, or you when it is done."
    return Denial(OWN_STATE, reason)


def keeps_inside_the_fence(event: Event, world: World) -> Denial | None:
    """What a plan session may not change or run, until it ends: cancelled or not, leader or subagent."""
    if event.tool not in (*WRITERS, SHELL, POWERSHELL):
        return None
    try:
        row = runtime.session(world.state, event.session)
    except Unreadable:
        return None
    if row is None or not runtime.is_fenced(row):
        return None
    reasons = _fence_reasons(event, world, row)
    if not reasons:
        return None
    more = f" (and {len(reasons) - MOST_REASONS} more)" if len(reasons) > MOST_REASONS else ""
    reason = clip(" ".join(reasons[:MOST_REASONS]) + more, LONGEST_REASON)
    return Denial("fence", reason, shell_text(event) or ", ".join(written_paths(event)))


def _fence_reasons(event: Event, world: World, row: Json) -> list[str]:
    from omo.ultrawork.fence import POSIX_ONLY, open_fence

    fence = open_fence(row, world.environ)
    directory = event.cwd or world.root
    if fence is None:
        return []
    if event.tool == SHELL:
        from omo.ultrawork import shell_fence

        return shell_fence.refusals(shell_text(event), fence, directory)
    if event.tool == POWERSHELL:
        return [POSIX_ONLY]
    return [reason for path in written_paths(event) if (reason := fence.refusal(path, directory))]


def keeps_questions_in_the_plan(event: Event, world: World) -> Denial | None:
    """With goals open, a question is a decision to record or a blocker to classify, not a reason to wait."""
    if event.tool != ASKER:
        return None
    run = _open_run(event, world)
    reason = _refusal(run, "ask")
    return Denial("ask", reason, _questions(event)) if reason and not _is_attended(run, world) else None


def _is_attended(run: Json, world: World) -> bool:
    """By the hook's own environment, which is the user's; else as the project was committed where the run began.

    The agent's shell and its edits of the project's file have no say in it.
    """
    from omo import settings

    return settings.of(world.environ, {"attended": run.get("attended") is True}).attended


def keeps_the_run_with_its_leader(event: Event, world: World) -> Denial | None:
    """`omo` called in a shell: pausing or completing before the run allows it, and the plan changed by a subagent."""
    text = shell_text(event) if event.tool == SHELL else ""
    if "omo" not in text or not any(hint in text for hint in HINTS[event.is_subagent]):
        return None
    work = _open_work(event, world)
    if not work:
        return None
    run = runtime.part(work, RUN)
    for words in omo_calls(text):
        group, verb = ([word for word in words if not word.startswith("-")] + ["", ""])[:2]
        is_leaders = _is_leaders(group, verb, words)
        if is_leaders and event.is_subagent:
            return _for_the_leader(group, verb)
        if reason := _refusal(run, verb) if group == "goal" and verb in OF_GOAL else "":
            return Denial(verb, reason, _values(words[words.index(verb) + 1 :]))
        if is_leaders:
            return None  # changes the plan before what follows: how that stands then, only the command itself knows
    return None


def _open_run(event: Event, world: World) -> Json:
    """The summary of this session's own run while it is open; empty when there is none or nothing can be known."""
    return runtime.part(_open_work(event, world), RUN)


def _open_work(event: Event, world: World) -> Json:
    try:
        row = runtime.session(world.state, event.session)
    except Unreadable:
        return {}
    if row is None or session.is_cancelled(row):
        return {}
    return dict(runtime.work_in(row, *runtime.OPEN_STATES))


def _refusal(run: Json, what: str) -> str:
    """The sentence the CLI left for this; nothing where it left none: then it is allowed."""
    said = runtime.part(run, "deny").get(what)
    return clip(said, LONGEST_REASON) if isinstance(said, str) else ""


def _for_the_leader(group: str, verb: str) -> Denial:
    reason = (
        f"omo {group} {verb} belongs to the leader of this run, who alone changes or ends it. "
        "Return your evidence (files, commands and their output) to the leader, who records it."
    )
    return Denial("subagent", reason, f"omo {group} {verb}")


def _is_leaders(group: str, verb: str, words: list[str]) -> bool:
    if (group, verb) == (RUN, "review"):
        return any(REVIEW_THAT_WRITES in word for word in words)
    return verb in LEADERS.get(group, ())


def omo_calls(text: str) -> list[list[str]]:
    """What follows `omo` in each command that runs it, except where it only prints its help."""
    from omo import shell

    calls = [shell.program(words) for words in shell.commands(text)]
    # A program that only the running shell can name may be omo; its arguments tell.
    found = [words[1:] for words in calls if words and (shell.name(words) == "omo" or words[0].startswith(("$", "`")))]
    return [words for words in found if not _asks_for_help(words)]


def _asks_for_help(words: list[str]) -> bool:
    options = words[: words.index("--")] if "--" in words else words
    return "-h" in options or "--help" in options


def shell_text(event: Event) -> str:
    command = event.tool_input.get("command")
    if isinstance(command, list):  # a host that passes words
        from shlex import join

        return join(word for word in command if isinstance(word, str))
    return command if isinstance(command, str) else ""


def _questions(event: Event) -> str:
    asked = event.tool_input.get("questions")
    texts = [one.get("question") for one in asked if isinstance(one, dict)] if isinstance(asked, list) else []
    return " ".join(text for text in texts if isinstance(text, str))


def _values(words: list[str]) -> str:
    """The values of options, as written: `--reason "no key"` and `--reason="no key"` both say no key."""
    values = [word.partition("=")[2] if word.startswith("-") else word for word in words]
    return " ".join(value for value in values if value)


def written_paths(event: Event) -> list[str]:
    named = [event.tool_input.get(key) for key in ("file_path", "notebook_path", "path")]
    found = [one for one in named if isinstance(one, str) and one]
    patch = event.tool_input.get("command") or event.tool_input.get("input")
    if isinstance(patch, list):
        patch = "\n".join(word for word in patch if isinstance(word, str))
    if event.tool == "apply_patch" and isinstance(patch, str):
        found += [line[len(mark) :].strip() for line in patch.splitlines() for mark in PATCHED if line.startswith(mark)]
    return found


def _is_inside(path: str, directory: str) -> bool:
    """By name and by where links lead; case is ignored, as some file systems do."""
    if "\0" in path:
        return False  # no file can be called so
    for resolve in (os.path.abspath, os.path.realpath):
        if os.path.join(resolve(path), "").lower().startswith(os.path.join(resolve(directory), "").lower()):
            return True
    return False
