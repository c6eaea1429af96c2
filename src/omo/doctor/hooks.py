"""The hooks as registered: their files, and what they do when they are run for real in an empty project."""

from __future__ import annotations

import json
import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from omo import settings
from omo.doctor.finding import Finding, Probe, fail, ok, unknown, warn, why
from omo.doctor.host_files import Json, handlers, part, read_object, tail
from omo.errors import Unreadable
from omo.evidence.run import Outcome
from omo.hooks import session
from omo.state import paths, runtime, store

SESSION = "omo-doctor"
REINSTALL = "reinstall the plugin: claude plugin uninstall omo@omo && claude plugin install omo@omo"
SOURCED = ("hooks/launch.sh", "hooks/session-start.sh", "hooks/environment.sh")
NAMED_FILE = re.compile(r"\$\{?CLAUDE_PLUGIN_ROOT\}?/([\w./-]+)")
NAMED_EVENT = re.compile(r"\bevent=([\w-]+)")


def files(probe: Probe) -> Finding:
    try:
        registered = _registered(probe)
    except Unreadable as error:
        return fail(error.message, REINSTALL)
    commands = [
        str(one.get("command", "")) for event in part(registered, "hooks") for one in handlers(registered, event)
    ]
    needed = {*SOURCED, *(name for command in commands for name in _files_of(command))}
    missing = [f"{name} is missing" for name in sorted(needed) if not os.access(probe.plugin / name, os.R_OK)]
    if missing:
        return fail(f"{len(missing)} of {len(needed)} hook files are missing", REINSTALL, missing)
    broken = [line for name in SOURCED if (line := _syntax_error(probe, name))]
    if broken:
        return fail("sh cannot read the hooks (a checkout with CRLF line ends?)", REINSTALL, broken)
    if not any(handlers(registered, "Stop")):
        return fail("hooks.json registers nothing for Stop", REINSTALL)
    return ok(f"{len(commands)} hooks registered, {len(needed)} files present")


def idle_stop(probe: Probe) -> Finding:
    """Nothing is on: a Stop must pass in silence."""
    with _project() as project:
        done = _stop(probe, project)
    if done.not_found:
        return unknown("sh is not on PATH, so no hook was run", "put a POSIX sh on PATH")
    if not done.ok:
        return fail(f"an idle Stop did not end well ({why(done)})", REINSTALL)
    if said := (done.stdout + done.stderr).strip():
        return fail(f"an idle Stop should say nothing, but said: {said}", "look for a BASH_ENV or profile that prints")
    return ok(f"an idle Stop passes in silence, {done.duration * 1000:.0f} ms")


def held_stop(probe: Probe) -> Finding:
    """Ultrawork is on: a Stop must be blocked. Hooks fail open, so a broken one looks just like an idle one."""
    with _project() as project:
        _arm(project)
        done = _stop(probe, project)
        log = tail(Path(paths.log_file(_state(project))), 1)
    if done.not_found:
        return unknown("sh is not on PATH, so no hook was run", "put a POSIX sh on PATH")
    if done.ok and _is_block(done.stdout):
        return ok(f"a Stop with open work is blocked, {done.duration * 1000:.0f} ms")
    details = [f"the hook's log: {line}" for line in log]
    return fail(f"a Stop with open work is not blocked ({why(done)}): ultrawork has no effect", probe.rebuild, details)


def switches(probe: Probe) -> Finding:
    """The ways to switch hooks off with a variable."""
    if settings.is_disabled(probe.environ):
        return warn("OMO_DISABLE is set: every hook of omo leaves at once", "unset OMO_DISABLE")
    if skipped := probe.environ.get("OMO_SKIP_HOOKS", "").strip():
        return warn(f"OMO_SKIP_HOOKS is set: {skipped}", "unset OMO_SKIP_HOOKS")
    return ok("neither OMO_DISABLE nor OMO_SKIP_HOOKS is set")


def _registered(probe: Probe) -> Json:
    path = probe.plugin / "hooks" / "hooks.json"
    values = read_object(path)
    if values is None:
        raise Unreadable(f"{path} is missing")
    if not part(values, "hooks"):
        raise Unreadable(f"{path} registers no hooks")
    return values


def _files_of(command: str) -> list[str]:
    return NAMED_FILE.findall(command) + [f"hooks/{event}.py" for event in NAMED_EVENT.findall(command)]


def _syntax_error(probe: Probe, name: str) -> str:
    read = probe.run("sh", "-n", str(probe.plugin / name))
    return "" if read.ok or read.not_found else f"{name}: {why(read)}"


@contextmanager
def _project() -> Iterator[Path]:
    """An empty project. Its own state directory keeps the hooks from finding one further up."""
    with tempfile.TemporaryDirectory(prefix="omo-doctor-", ignore_cleanup_errors=True) as directory:
        os.makedirs(_state(Path(directory)))
        yield Path(directory)


def _state(project: Path) -> str:
    return paths.state_dir(str(project), {})


def _arm(project: Path) -> None:
    now = time.time()  # the hook asks the clock too
    limits = settings.Settings().limits

    def decide(row: Json | None) -> runtime.Change:
        return runtime.Change(None, session.arm(row, by="user", limits=limits, now=now), [{"kind": "activated"}])

    runtime.change_session(_state(project), SESSION, decide, actor="user", now=now, wait=store.CLI_WAIT)


def _stop(probe: Probe, project: Path) -> Outcome:
    """As the host runs it: the command string in sh, the event on stdin."""
    command = next((str(one.get("command", "")) for one in handlers(_registered(probe), "Stop")), "")
    event = {"session_id": SESSION, "cwd": str(project), "hook_event_name": "Stop", "stop_hook_active": False}
    extra = {
        "CLAUDE_PLUGIN_ROOT": str(probe.plugin),
        "CLAUDE_PLUGIN_DATA": str(probe.home),
        "CLAUDE_PROJECT_DIR": str(project),
    }
    return probe.run("sh", "-c", command, cwd=project, stdin=json.dumps(event).encode() + b"\n", **extra)


def _is_block(stdout: str) -> bool:
    try:
        answer = json.loads(stdout)
    except ValueError:
        return False
    return isinstance(answer, dict) and answer.get("decision") == "block"
