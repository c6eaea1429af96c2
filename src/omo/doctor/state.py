"""Our own files in this project: can they be written, read and trusted, and what did the hooks complain about."""

from __future__ import annotations

import os
import shlex
import tempfile
from pathlib import Path

from omo.doctor.finding import Finding, Probe, fail, ok, unknown, warn
from omo.doctor.host_files import tail
from omo.errors import Newer, OmoError, Unreadable
from omo.state import paths, runtime, store


def directory(probe: Probe) -> Finding:
    state = probe.context.state
    try:
        if not os.path.lexists(state):
            return _parent(state)
        with tempfile.NamedTemporaryFile(prefix=".doctor-", dir=state):
            return ok(f"{state} is writable")
    except OSError as error:
        refusal = store.unwritable(os.path.join(state, "a file"), error)
        return fail(f"{state} cannot be written: {error.strerror}", refusal.fix)


def runtime_file(probe: Probe) -> Finding:
    path = paths.runtime_file(probe.context.state)
    try:
        sessions = runtime.read(probe.context.state)["sessions"]
    except Newer as error:
        return fail(f"{error.message}; it is kept as it is, and the hooks let every Stop pass", error.fix)
    except Unreadable as error:
        return fail(error.message, _what_becomes_of(path))
    wrong = [f"session {name} is not an object" for name, row in sessions.items() if not isinstance(row, dict)]
    if wrong:
        return fail(f"{path} has sessions that cannot be read", _what_becomes_of(path), wrong)
    live = sum(runtime.is_live(row) for row in sessions.values())
    return ok(f"{len(sessions)} sessions, {live} live")


def ledgers(probe: Probe) -> Finding:
    try:
        live = probe.context.live_sessions()
    except Unreadable:
        return unknown("which sessions are live is not known", "mend the runtime file first")
    damaged = {name: problems for name in live if (problems := _problems(probe.context.state, name))}
    if not damaged:
        return ok(f"the ledgers of {len(live)} live sessions are whole")
    fixes = [shlex.join(["omo", "ledger", "repair", "--session", name]) for name in damaged]
    details = [f"{name}: {problem}" for name, problems in damaged.items() for problem in problems[:3]]
    return fail(f"{len(damaged)} of {len(live)} ledgers are damaged; omo ulw done refuses", "; ".join(fixes), details)


def log(probe: Probe) -> Finding:
    path = Path(paths.log_file(probe.context.state))
    try:
        lines = tail(path, 3)
    except Unreadable as error:
        return warn(error.message, f"remove {path}")
    if not lines:
        return ok("the hooks logged no error")
    ages = [_age(line, probe.context.now) for line in lines]
    last = next((age for age in reversed(ages) if age), "at an unknown time")
    fix = f"an error of a hook never holds you up, but is worth a report; then remove {shlex.quote(str(path))}"
    details = [f"{age}: {line.partition(' ')[2]}" if age else line for age, line in zip(ages, lines, strict=True)]
    return warn(f"a hook failed, last {last}", fix, details)


def _parent(state: str) -> Finding:
    """Nothing is created here just to look."""
    above = os.path.dirname(state)
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    if os.path.isdir(above) and os.access(above, os.W_OK | os.X_OK):
        return ok(f"{state} is not there yet; {above} is writable")
    refusal = f"make {above} a writable directory, or set OMO_STATE_DIR to one"
    return fail(f"{state} cannot be made: {above} is not a writable directory", refusal)


def _what_becomes_of(path: str) -> str:
    return (
        f"nothing to do: the next Stop lets go and keeps the file as {os.path.basename(path)}.corrupt-TIME; "
        "what was on is off then, type ulw to start again"
    )


def _problems(state: str, session: str) -> list[str]:
    """A mark or a row edited into nonsense is damage too."""
    try:
        return runtime.ledger_problems(state, session)
    except OmoError as error:
        return [error.message]
    except (OSError, TypeError, RecursionError) as error:
        return [f"cannot be verified: {error}"]


def _age(line: str, now: float) -> str:
    """How long ago, from the seconds a log line begins with; empty for a line that does not."""
    first = line.partition(" ")[0]
    if not (first.isascii() and first.isdigit()) or len(first) > 12:
        return ""
    age = max(0.0, now - int(first))
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if age >= size:
            return f"{age / size:.0f} {unit} ago"
    return f"{age:.0f} s ago"
