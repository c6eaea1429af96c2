"""One line for the host's status line; nothing while nothing holds the session."""

from __future__ import annotations

from omo import settings
from omo.hosts import Answer
from omo.text import clip
from omo.views import session
from omo.work import outcome

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


def handle(event: Event, world: World) -> Answer:
    limits = settings.load(world.environ, world.root).limits
    view = session.session_view(world.state, event.session, limits, world.now, world.environ)
    line = text(view)
    if line and view.budget and event.cost is not None:
        line = f"{line} · ${event.cost:.2f} in this session"
    return Answer(line=coloured(line, view, world.environ) if line else "")


def text(view: session.View) -> str:
    """Which work, how far, what is next, and what a Stop would do where that is not to go on."""
    if view.now.unreadable:
        return "omo: the state cannot be read · omo doctor"
    if view.is_idle:
        has_fence = view.is_fenced and not view.now.disabled
        return "omo: the plan's fence is up · omo plan status" if has_fence else ""
    parts = [_work(view)]
    blocks = view.breakers["blocks"]
    if blocks.used:
        parts.append(f"block {blocks.used:g} of {blocks.most:g}")
    if spent := view.budget:
        parts.append(f"budget {spent.partition(':')[0]}")
    if view.decision == "allow":
        parts.append("next stop lets go")
    if work := view.leading:
        if work.state in session.WAITING:
            following = work.question or work.why
        else:
            following = f"next: {work.next}" if work.next else ""
        if following:
            parts.append(clip(following, LONGEST_NEXT))
    return clip(" · ".join(parts), LONGEST)


def _work(view: session.View) -> str:
    """omo ultragoal 2/5 +1; what has ended says how, in the opening words of its outcome."""
    work = view.leading
    if work is None:
        return f"omo {view.mode}"
    words = ["omo", work.kind]
    if work.total:
        words.append(f"{work.done}/{work.total}")
    if view.mode == "done" and (ended := view.outcome):
        words.append(outcome.OPENINGS[ended["verdict"]])
    elif work.state != "active":
        words.append(work.state)
    others = [other for other in view.work if other is not work and other.state in session.OPEN_WORDS]
    if others:
        words.append(f"+{len(others)}")
    return " ".join(words)


def coloured(line: str, view: session.View, environ: Mapping[str, str]) -> str:
    if environ.get("NO_COLOR"):
        return line
    colour = COLOURS.get(view.mode, NEEDS_YOU)
    if view.mode == "done" and (ended := view.outcome) and not outcome.is_done(ended):
        colour = NEEDS_YOU
    return f"\033[{colour}m{line}\033[0m"
