"""Turns that ended while omo's hooks did not run: switched off, killed, or timed out. The user is told of them, once.

A gap alone is no fault: a laptop sleeps, a client is closed. So the host's own record has to show a turn that ended by
itself after the last hook.
"""

from __future__ import annotations

import os

from omo import hosts, settings
from omo.state import beats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.hooks.main import World
    from omo.hosts import Event
    from omo.state.beats import Beat

GRACE = 3.0  # seconds by which two clocks may differ


def tell(event: Event, world: World) -> list[str]:
    """Say that hooks did not run, in this conversation or in another one that is on in the project."""
    record = world.own.record
    if record is None or settings.is_skipped(world.environ, "stop"):
        return []
    if hosts.is_in_an_agents_shell(event.host, world.environ):
        return []
    lines = []
    for session in record.live:
        beat = beats.read(record.file, session)
        if beat is None:
            continue
        is_own = session == event.session
        if is_own and event.transcript.path:
            beat.transcript = event.transcript.path
        end = _end_without_hooks(beat)
        if end is not None:
            from omo.hooks import messages

            beat.told = end
            beats.write(record.file, session, beat)
            lines.append(messages.hooks_did_not_run(beat.at, end, world.now, is_elsewhere=not is_own))
    return lines


def _end_without_hooks(beat: Beat) -> float | None:
    """Return when a turn ended after the last hook, in seconds; None if there was none, or it was told already."""
    known = max(beat.at, beat.told) + GRACE
    try:
        if os.stat(beat.transcript).st_mtime <= known:
            return None
    except (OSError, ValueError):
        return None
    end = hosts.named(beat.host).transcript(beat.transcript).last_turn_end()
    return end if end is not None and end > known else None
