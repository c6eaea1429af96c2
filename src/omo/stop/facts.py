"""For `omo explain stop`: which facts each rule of rules.py looks at, and what would make it answer otherwise, with the
numbers of the situation to be filled in."""

from __future__ import annotations

from omo import table
from omo.stop.sentences import STOP
from omo.work import budget

TYPE_ULW = "type ulw in a prompt"
AFTER_IT = "the Stop after that is decided anew"
CAP = "ulw.stopBlocks limits.max_stop_blocks"
COOLDOWN = "ulw.lastStopAt limits.cooldown_seconds"
CEILING = "ulw.totalBlocks limits.max_total_blocks ulw.armedAt limits.max_hours"
BEGIN = [f"omo {next(iter(row.commands))}" for row in table.offered()]
FACTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "switched-off": ("OMO_DISABLE", ("start the session without OMO_DISABLE",)),
    "subagent": ("event.agent_id", ("the Stop of the session itself is decided by the rules below",)),
    "begin": ("asked", ("the agent begins it, as omo next says", AFTER_IT)),
    "not-begun": ("asked", ("the agent begins it, as omo next says", "leave the command out")),
    "not-active": ("ulw.enabled work", (TYPE_ULW, f"start a workflow in this session: {', '.join(BEGIN)}")),
    "cancelled": ("stopContinuation.disabled stopContinuation.disabledReason stopContinuation.disabledAt", (TYPE_ULW,)),
    "unreadable-state": ("unreadable", (f"the next Stop keeps the unreadable file aside; then {TYPE_ULW}",)),
    "invalid-state": (
        "ulw.enabled ulw.stopBlocks ulw.totalBlocks ulw.shellExcuses ulw.lastStopAt ulw.armedAt",
        (f"{TYPE_ULW}, which writes them anew",),
    ),
    "plan-mode": ("event.plan_mode", ("leave plan mode",)),
    "host-limit": (
        "event.last_message",
        ("the host goes on by itself, or your next message sets the run going again",),
    ),
    "background-agent": ("event.running", (f"the agent ends, which wakes the session; {AFTER_IT}",)),
    "wake-up": ("event.wakeups", (f"the wake-up comes; {AFTER_IT}",)),
    "background-shell": (
        "event.running ulw.shellExcuses",
        ("the shell ends", "{excuses_left}, and its excuses are used up"),
    ),
    "prompt-queued": ("event.queued", ("the prompt is taken back from the queue",)),
    "waiting": ("work", ("your answer, where it waits or is blocked", "you say continue, where it is paused")),
    "done": ("work", (f"{TYPE_ULW}; with a task behind it that is a new run",)),
    "duplicate": (
        f"{COOLDOWN} ulw.lastStop event.fingerprint event.continues",
        ("register the hook once: omo doctor says where it is registered twice",),
    ),
    "message-quoted": ("ulw.said event.tools", ("the agent changes a file", f"you say continue, or {TYPE_ULW}")),
    "refused": ("ulw.refused event.tools", ("you allow it, and say continue", "the agent changes a file")),
    "cap": (CAP, ("before that Stop, a gate that newly passes on a changed tree: omo gate run", TYPE_ULW)),
    "ceiling": (CEILING, (f"{TYPE_ULW}, which begins a new budget",)),
    "budget": ("budget spent", ("{raise_budget}", f"{budget.COMMAND} off")),
    "other-loop": ("ulw.otherLoop", ("the other loop ends: {ends_the_loop}",)),
    "cooldown": (COOLDOWN, ("{cooldown_left:.1f} s later the cooldown is over", "a smaller cooldown_seconds")),
    "quote-message": (
        "ulw.said event.tools",
        ("the next Stop is let through, unless the agent changes a file before it", STOP),
    ),
    "block": (
        f"work {CAP} {COOLDOWN} {CEILING}",
        (
            "{open}",
            "{blocks_left} without verified progress, and the cap lets go",
            "a Stop within {cooldown:g} s of a block waits for the rest of them, and is then decided anew",
            "{total_left} or {hours_left:.1f} more hours, and the ceiling lets go",
            STOP,
        ),
    ),
}
