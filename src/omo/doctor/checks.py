"""The checks, in the order they are shown, and the one place where a check that breaks is caught."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from omo.doctor import hooks, host, python, state, statusline, values
from omo.doctor.finding import Finding, Probe, unknown
from omo.errors import OmoError
from omo.shown import clip

LONGEST_SEEN = 400
LONGEST_FIX = 2000  # a command with paths: cut short it would be of no use
MOST_DETAILS = 20


class Check(NamedTuple):
    name: str
    look: Callable[[Probe], Finding]


CHECKS = (
    Check("interpreter", python.interpreter),
    Check("environment", python.environment),
    Check("packages", python.packages),
    Check("hook-files", hooks.files),
    Check("idle-stop", hooks.idle_stop),
    Check("held-stop", hooks.held_stop),
    Check("plugin", host.plugin),
    Check("hooks-allowed", host.hooks_allowed),
    Check("switches", hooks.switches),
    Check("host-version", host.version),
    Check("block-cap", host.block_cap),
    Check("state-directory", state.directory),
    Check("runtime-file", state.runtime_file),
    Check("ledgers", state.ledgers),
    Check("other-stop-hooks", host.other_stop_hooks),
    Check("statusline", statusline.look),
    Check("settings", values.in_force),
    Check("hook-errors", state.log),
    Check("keyword", values.keyword),
)


def examine(check: Check, probe: Probe) -> Finding:
    """Fit to be shown: whatever stood in a file is on one line, without control characters, and cut."""
    try:
        found = check.look(probe)
    except OmoError as error:
        found = unknown(error.message, error.fix or "mend what the checks above name, then look again")
    except Exception as error:
        found = unknown(f"the check itself failed: {type(error).__name__}: {error}", "please report this")
    details = [clip(line, LONGEST_SEEN) for line in found.details[:MOST_DETAILS]]
    if len(found.details) > MOST_DETAILS:
        details.append(f"… {len(found.details) - MOST_DETAILS} more")
    return Finding(found.result, clip(found.seen, LONGEST_SEEN), clip(found.fix, LONGEST_FIX), details)
