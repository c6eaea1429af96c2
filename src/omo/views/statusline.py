"""One line for the host's status line; nothing while nothing holds the session."""

from __future__ import annotations

from omo import settings
from omo.hosts import Answer
from omo.shown import clip
from omo.state.runtime import OPEN_STATES
from omo.views import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from omo.hooks.main import World
    from omo.hosts import Event

LONGEST = 120
LONGEST_NEXT = 60
# What a person reads at a glance: it works, it needs them, it is over, something is wrong.
COLOURS = {"active": "36", "done": "32", "unreadable": "31"}
NEEDS_YOU = "33"
NOT_PROVEN = "done, not proven"


def handle(event: Event, world: World) -> Answer:
    limits = settings.load(world.environ, world.root).limits
    seen = session.look(world.state, event.session, limits, world.now, world.environ)
    line = text(seen)
    return Answer(line=coloured(line, seen, world.environ) if line else "")


def text(seen: session.View) -> str:
    """Which work, how far, what is next, and what a Stop would do where that is not to go on."""
    if seen.now.unreadable:
        return "omo: the state cannot be read · omo doctor"
    if seen.is_idle:
        return "omo: the plan's fence is up · omo plan status" if seen.is_fenced and not seen.now.disabled else ""
    work = seen.leading
    parts = ["omo", *_work(work)] if work else ["omo", seen.mode]
    others = sum(one.state in OPEN_STATES for one in seen.work) - (work is not None and work.state in OPEN_STATES)
    line = " ".join(parts) + (f" +{others}" if others else "")
    return clip(" · ".join([line, *_more(seen, work)]), LONGEST)


def _work(work: session.Work) -> list[str]:
    progress = [f"{work.done}/{work.total}"] if work.total else []
    return [work.kind, *progress, *([] if work.state == "active" else [_state(work)])]


def _state(work: session.Work) -> str:
    return NOT_PROVEN if work.state == "done" and not work.is_proven else work.state


def _more(seen: session.View, work: session.Work | None) -> list[str]:
    blocks = seen.breakers[0]
    told = [f"block {blocks.used:g} of {blocks.most:g}"] if blocks.used else []
    if seen.decision == "allow":
        told.append(f"next stop lets go ({seen.rule.name})")
    if work and (said := work.question or work.why if work.state in session.WAITING else work.next):
        told.append(clip(said if work.state in session.WAITING else f"next: {said}", LONGEST_NEXT))
    return told


def coloured(line: str, seen: session.View, environ: Mapping[str, str]) -> str:
    if environ.get("NO_COLOR"):
        return line
    is_proven = seen.leading is not None and seen.leading.is_proven
    colour = NEEDS_YOU if seen.mode == "done" and not is_proven else COLOURS.get(seen.mode, NEEDS_YOU)
    return f"\033[{colour}m{line}\033[0m"
