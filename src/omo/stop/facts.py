"""For `omo explain stop`: which facts a rule of rules.py looks at, and what would make it answer otherwise, with the
numbers of the situation to be filled in. What only a host's event can meet decides no Stop that is asked about."""

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
    "begin": ("asked", ("the agent begins it, as omo next says", AFTER_IT)),
    "not-begun": ("asked", ("the agent begins it, as omo next says", "leave the command out")),
    "not-active": ("ulw.enabled work", (TYPE_ULW, f"start a workflow in this session: {', '.join(BEGIN)}")),
    "cancelled": ("stopContinuation.disabled stopContinuation.disabledReason stopContinuation.disabledAt", (TYPE_ULW,)),
    "unreadable-state": ("unreadable", (f"the next Stop keeps the unreadable file aside; then {TYPE_ULW}",)),
    "invalid-state": (
        "ulw.enabled ulw.stopBlocks ulw.totalBlocks ulw.shellExcuses ulw.lastStopAt ulw.armedAt",
        (f"{TYPE_ULW}, which writes them anew",),
    ),
    "waiting": ("work", ("your answer, where it waits or is blocked", "you say continue, where it is paused")),
    "done": ("work", (f"{TYPE_ULW}; with a task behind it that is a new run",)),
    "cap": (CAP, ("before that Stop, a gate that newly passes on a changed tree: omo gate run", TYPE_ULW)),
    "ceiling": (CEILING, (f"{TYPE_ULW}, which begins a new budget",)),
    "budget": ("budget spent", ("{raise_budget}", f"{budget.COMMAND} off")),
    "other-loop": ("ulw.otherLoop", ("the other loop ends: {ends_the_loop}",)),
    "cooldown": (COOLDOWN, ("{cooldown_left:.1f} s later the cooldown is over", "a smaller cooldown_seconds")),
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
