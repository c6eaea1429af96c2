"""`omo doctor`: what could keep omo from working here, looked at one thing at a time.

It runs on a bare interpreter: what it looks for may be the packages themselves.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path

from omo import options, progress, safe_open, settings
from omo.cli import setup
from omo.context import Context, plugin_root
from omo.errors import OmoError, Unreadable, Unwritable
from omo.hosts import KEEP_GOING, rehearsal
from omo.hosts.setups import FAIL, OK, DoctorFinding, Installed, Look, fail, ok, unknown, warn
from omo.proof.run import CommandOutcome, child_environment, run
from omo.proof.typed_commands import resolve
from omo.result import Result
from omo.state import ownership, paths, runtime, store
from omo.text import clip, counted
from omo.work import session

PATIENCE = 10.0
LONGEST_SEEN = 400
LONGEST_FIX = 2000  # a command with paths: cut short it would be of no use
LARGEST_LOG = 4 * 1024 * 1024
MOST_DETAILS = 20
INDENT = " " * 9
MODULES = (
    *("pydantic", "filelock", "orjson", "markdown_it", "yaml", "regex"),
    *("PIL", "rich", "jinja2"),
)
IMPORTS = """
import json, sys
sys.path.append(sys.argv[1])
broken = {}
for name in sys.argv[2:]:
    try:
        __import__(name)
    except Exception as error:
        broken[name] = "%s: %s" % (type(error).__name__, error)
print(json.dumps(broken))
"""
HOOK_FILES = (
    *("hooks/launch.sh", "hooks/session-start.sh", "hooks/not-ready.sh", "hooks/around.sh", "hooks/home.sh"),
    *("hooks/environment.sh", "hooks/event.py", "hooks/build_environment.py"),
)
SESSION = "omo-doctor"
NO_SHELL = "put a POSIX sh on PATH"


@dataclass(frozen=True)
class Probe(setup.Installation):
    """This installation, as a check is given it."""

    @property
    def rebuild(self) -> str:
        return self.command("setup", "environment")

    @property
    def reinstall(self) -> str:
        return f"reinstall the plugin: {self.hosts_in_use[0].reinstall_command}"

    @cached_property
    def environ(self) -> Mapping[str, str]:
        """The environment that a hook is given."""
        return self.hosts_in_use[0].hook_environ()

    @cached_property
    def settings(self) -> settings.Settings:
        return settings.load(self.environ, self.context.root)

    def run(
        self, *argv: str, cwd: Path | None = None, stdin: bytes = b"", extra: Mapping[str, str] | None = None
    ) -> CommandOutcome:
        environ = child_environment(self.context.environ)
        for name in paths.ignored_variables(environ, self.context.root):
            del environ[name]  # seen from a directory elsewhere it would be taken for the user's
        return run(argv, cwd=cwd or self.plugin, timeout=PATIENCE, env={**environ, **(extra or {})}, stdin=stdin)

    def ask(self, command: Sequence[str], stdin: bytes, extra: Mapping[str, str]) -> str:
        return self.run(*command, stdin=stdin, extra=extra).stdout


Check = Callable[[Probe], DoctorFinding]


def register(commands: options.Commands) -> None:
    options.top_command(commands, "doctor", doctor, session=False)


def doctor(arguments: argparse.Namespace, context: Context) -> Result:
    return diagnose(Probe(context, plugin_root()))


def diagnose(probe: Probe) -> Result:
    checks, lines = [], []
    counts: dict[str, int] = {}
    every = checks_for(probe)
    with progress.doing("looking") as doing:
        for number, (name, check) in enumerate(every.items(), 1):
            doing.text = f"looking at {name}, {number} of {len(every)}"
            finding = examine(check, probe)
            checks.append({"name": name, **asdict(finding)})
            counts[finding.result] = counts.get(finding.result, 0) + 1
            for line in (f"{finding.result:8} {name}: {finding.seen}", *(INDENT + line for line in finding.details)):
                lines.append(progress.folded(line, sys.stdout))
            if finding.result != OK:
                lines.append(f"{INDENT}fix: {finding.fix}")  # whole, to be typed
    lines.append(", ".join(f"{count} {result}" for result, count in counts.items()))
    return Result({"checks": checks, "counts": counts}, "\n".join(lines), 3 if FAIL in counts else 0)


def checks_for(probe: Probe) -> dict[str, Check]:
    """By name, in their order: those of our hooks, of the hosts in use, and of our files."""
    checks = dict(OF_HOOKS)
    for host in probe.hosts_in_use:
        for name, look in host.looks().items():
            checks[name] = partial(of_host, look)
    return checks | OF_FILES


def examine(check: Check, probe: Probe) -> DoctorFinding:
    """The check's finding, fit to be shown: whatever stood in a file is on one line, without control characters, and
    cut."""
    try:
        finding = check(probe)
    except OmoError as error:
        finding = unknown(error.message, error.fix or "mend what the checks above name, then look again")
    except Exception as error:
        finding = unknown(f"the check itself failed: {type(error).__name__}: {error}", "please report this")
    details = [clip(line, LONGEST_SEEN) for line in finding.details[:MOST_DETAILS]]
    if len(finding.details) > MOST_DETAILS:
        details.append(f"… {len(finding.details) - MOST_DETAILS} more")
    return DoctorFinding(finding.result, clip(finding.seen, LONGEST_SEEN), clip(finding.fix, LONGEST_FIX), details)


def why(outcome: CommandOutcome) -> str:
    """How a command ended that should have ended well."""
    if outcome.not_found:
        return f"{outcome.argv[0]} cannot be started"
    if outcome.timed_out:
        return f"no end within {PATIENCE:g} s"
    output = (outcome.stderr.strip() or outcome.stdout.strip()).splitlines()
    ended = f"exit {outcome.exit_code}" if outcome.signal is None else f"signal {outcome.signal}"
    return f"{ended}: {output[-1]}" if output else ended


def tail(path: Path, count: int) -> list[str]:
    """The last lines that say something; none if there is no file."""
    try:
        raw = safe_open.read_file(path, LARGEST_LOG, follow_link=True)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}") from None
    lines = raw.decode("utf-8", "replace").splitlines()
    return [line for line in lines if line.strip()][-count:]


# Python


def environment(probe: Probe) -> DoctorFinding:
    """Is there one that fits, and does it hold what it should?"""
    script = str(probe.plugin / "hooks" / "environment.sh")
    answer = probe.run("sh", script, "find", str(probe.home), str(probe.plugin / "requirements.txt"))
    if answer.not_found:
        return unknown("sh is not on PATH, so the environment was not looked at", NO_SHELL)
    if not answer.ok:
        log = probe.home / "environment.log"
        try:
            details = [f"{log}: {line}" for line in tail(log, 1)]
        except Unreadable as error:
            details = [error.message]
        return fail(f"no Python environment for this requirements.txt in {probe.home}", probe.rebuild, details)
    python, site = answer.stdout.splitlines()
    answer = probe.run(python, "-I", "-S", "-B", "-X", "utf8", "-c", IMPORTS, site, *MODULES)
    try:
        broken = json.loads(answer.stdout)
    except ValueError:
        return fail(f"the packages in {site} could not be tried ({why(answer)})", probe.rebuild)
    if broken:
        details = [f"{name} does not import: {error}" for name, error in broken.items()]
        return fail(f"{len(broken)} of {len(MODULES)} packages in {site} do not import", probe.rebuild, details)
    return ok(f"{python} has all it needs")


# The hooks as registered: their files, and what they do when they are run for real in an empty project


def hook_files(probe: Probe) -> DoctorFinding:
    try:
        commands = rehearsal.registered_commands(probe.plugin)
    except Unreadable as error:
        return fail(error.message, probe.reinstall)
    needed = {*HOOK_FILES}
    for command in commands:
        needed.update(rehearsal.files_of(command))
    missing = [f"{name} is missing" for name in sorted(needed) if not os.access(probe.plugin / name, os.R_OK)]
    if missing:
        return fail(f"{len(missing)} of {len(needed)} hook files are missing", probe.reinstall, missing)
    if not rehearsal.registered_commands(probe.plugin, rehearsal.STOP):
        return fail("hooks.json registers nothing for Stop", probe.reinstall)
    return ok(f"{len(commands)} hooks registered, {len(needed)} files present")


def stop_hook(probe: Probe) -> DoctorFinding:
    """A Stop must pass in silence while nothing is on, and be blocked while ultrawork is. Both are tried: hooks fail
    open, so a broken one looks just like an idle one."""
    with _project(probe) as project:
        idle = _stop(probe, project)
        if idle.not_found:
            return unknown("sh is not on PATH, so no hook was run", NO_SHELL)
        if not idle.ok:
            return fail(f"an idle Stop did not end well ({why(idle)})", probe.reinstall)
        if output := (idle.stdout + idle.stderr).strip():
            seen = f"an idle Stop should say nothing, but said: {output}"
            return fail(seen, "look for a BASH_ENV or profile that prints")
        now = time.time()  # the hook asks the clock too
        armed = session.arm(None, by="user", limits=settings.Settings().limits, now=now)
        change = runtime.Change(None, armed, [{"kind": "activated"}])
        state = paths.state_dir(str(project), {})
        runtime.change_session(state, SESSION, lambda row: change, actor="user", now=now, wait=store.CLI_WAIT)
        held = _stop(probe, project)
        log = tail(Path(paths.log_file(state)), 1)
    if held.ok and rehearsal.read_answer(held.stdout).decision == KEEP_GOING:
        times = f"{idle.duration * 1000:.0f} and {held.duration * 1000:.0f} ms"
        return ok(f"an idle Stop passes in silence, one with open work is blocked, {times}")
    details = [f"the hook's log: {line}" for line in log]
    return fail(f"a Stop with open work is not blocked ({why(held)}): ultrawork has no effect", probe.rebuild, details)


@contextmanager
def _project(probe: Probe) -> Iterator[Path]:
    """An empty project. Its own state directory keeps the hooks from finding one further up."""
    for name in paths.ignored_variables(os.environ, probe.context.root):
        del os.environ[name]
    with tempfile.TemporaryDirectory(prefix="omo-doctor-", ignore_cleanup_errors=True) as directory:
        state = paths.state_dir(directory, {})
        os.makedirs(state)
        try:
            yield Path(directory)
        finally:
            ownership.forget(state)


def _stop(probe: Probe, project: Path) -> CommandOutcome:
    """As the host runs it: the command string in sh, the event on stdin."""
    command = "".join(rehearsal.registered_commands(probe.plugin, rehearsal.STOP)[:1])
    variables = rehearsal.hook_variables(probe.plugin, probe.home, project)
    return probe.run("sh", "-c", command, cwd=project, stdin=rehearsal.stop_event(SESSION, project), extra=variables)


# What the hosts make of us


def switches(probe: Probe) -> DoctorFinding:
    """The ways to switch hooks off."""
    problems = []
    for host in probe.hosts_in_use:
        if off := host.switch_hooks_off():
            return fail(f"{host.hooks_switch} is true in {', '.join(off)}", f"remove {host.hooks_switch} there")
        problems += host.problems()
    if settings.is_disabled(probe.environ):
        return warn("OMO_DISABLE is set: every hook of omo leaves at once", "unset OMO_DISABLE")
    if skipped := probe.environ.get("OMO_SKIP_HOOKS", "").strip():
        return warn(f"OMO_SKIP_HOOKS is set: {skipped}", "unset OMO_SKIP_HOOKS")
    if problems:
        return unknown("whether a settings file switches hooks off is not known", "mend its JSON", problems)
    return ok("nothing switches hooks off")


def of_host(look: Look, probe: Probe) -> DoctorFinding:
    most_blocks = int(probe.settings.values["max_stop_blocks"])
    finding = look(Installed(probe.plugin, probe.home, most_blocks, probe.ask))
    words = finding.fix.split()
    if words[:1] == ["omo"]:
        return replace(finding, fix=probe.command(*words[1:]))
    return finding


# Our own files in this project: can they be written and read, and what did the hooks complain about


def state_directory(probe: Probe) -> DoctorFinding:
    state = probe.context.own.state
    if (link := store.link_to_state(os.path.join(state, "a file"))) is not None:
        return fail(f"{link} is a link, and omo neither reads nor writes behind it", store.NO_LINK)
    try:
        ownership.require(probe.context.state)
    except Unwritable as error:
        if probe.context.own.standing != ownership.NOT_FOR_AGENTS:
            return fail(error.message, error.fix)
    try:
        if os.path.lexists(state):
            with tempfile.NamedTemporaryFile(prefix=".doctor-", dir=state, buffering=0) as file:
                file.write(b"\n")  # on a full disk a file can be made, and nothing written into it
                return ok(f"{state} is writable")
    except OSError as error:
        refusal = store.unwritable(os.path.join(state, "a file"), error)
        return fail(f"{state} cannot be written: {error.strerror}", refusal.fix)
    above = os.path.dirname(state)  # nothing is created just to look
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    if os.path.isdir(above) and os.access(above, os.W_OK | os.X_OK):
        return ok(f"{state} is not there yet; {above} is writable")
    remedy = f"make {above} a writable directory, or set OMO_STATE_DIR to one"
    return fail(f"{state} cannot be made: {above} is not a writable directory", remedy)


def runtime_file(probe: Probe) -> DoctorFinding:
    try:
        stored = runtime.read(probe.context.state)
    except Unreadable as error:
        return fail(error.message, error.fix)
    sessions = stored["sessions"]
    wrong = [f"session {name} is not an object" for name, row in sessions.items() if not isinstance(row, dict)]
    if wrong:
        path = paths.runtime_file(probe.context.state)
        return fail(f"{path} has sessions that cannot be read", store.MOVE_AWAY, wrong)
    live = sum(runtime.is_held(row) for row in runtime.rows_of(stored).values())
    return ok(f"{counted(len(sessions), 'session')}, {live} live")


def hook_errors(probe: Probe) -> DoctorFinding:
    path = Path(paths.log_file(probe.context.state))
    try:
        lines = tail(path, 3)
    except Unreadable as error:
        return warn(error.message, f"remove {path}")
    if not lines:
        return ok("the hooks logged no error")
    remedy = f"an error of a hook never holds you up, but is worth a report; then remove {shlex.quote(str(path))}"
    return warn("a hook failed", remedy, lines)


# Settings: what is in force, and from where


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def settings_in_force(probe: Probe) -> DoctorFinding:
    in_force = probe.settings
    values = [f"{name} = {_shown(value)} ({in_force.origins[name]})" for name, value in in_force.values.items()]
    if in_force.problems:
        seen = f"refused: {counted(len(in_force.problems), 'setting')}"
        return warn(seen, "correct or remove them where they are set", [*in_force.problems, *values])
    return ok("every setting is usable", details=values)


# What `omo setup` puts outside the project


def on_path(probe: Probe) -> DoctorFinding:
    program = probe.on_path()
    remedy = probe.command("setup", "path")
    if program is None:
        return warn("your shell does not find omo", remedy)
    if not probe.is_on_path:
        return warn(f"the omo your shell finds is another program: {program}", remedy)
    return ok(program)


def git_program(probe: Probe) -> DoctorFinding:
    if program := resolve("git", probe.context.cwd, probe.context.environ.get("PATH", "")):
        return ok(program)
    return warn("git is not on PATH, and without it only what you pin can prove anything", "install git")


OF_HOOKS: dict[str, Check] = {
    "environment": environment,
    "hook-files": hook_files,
    "stop": stop_hook,
    "switches": switches,
}
OF_FILES: dict[str, Check] = {
    "state-directory": state_directory,
    "runtime-file": runtime_file,
    "path": on_path,
    "git": git_program,
    "settings": settings_in_force,
    "hook-errors": hook_errors,
}
