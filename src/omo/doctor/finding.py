"""What a check is given, and what it says."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from omo import settings
from omo.context import Context
from omo.doctor import host_files
from omo.evidence.run import Outcome, child_environment, run

OK, WARN, FAIL, UNKNOWN = "ok", "warn", "fail", "unknown"
PATIENCE = 10.0


@dataclass(frozen=True)
class Finding:
    """One line of what was seen, more lines where there is more to name, and unless all is well what mends it."""

    result: str
    seen: str
    fix: str = ""
    details: Sequence[str] = ()


def ok(seen: str, details: Sequence[str] = ()) -> Finding:
    return Finding(OK, seen, "", details)


def warn(seen: str, fix: str, details: Sequence[str] = ()) -> Finding:
    return Finding(WARN, seen, fix, details)


def fail(seen: str, fix: str, details: Sequence[str] = ()) -> Finding:
    return Finding(FAIL, seen, fix, details)


def unknown(seen: str, fix: str, details: Sequence[str] = ()) -> Finding:
    return Finding(UNKNOWN, seen, fix, details)


@dataclass(frozen=True)
class Probe:
    context: Context
    plugin: Path
    python: str

    @property
    def home(self) -> Path:
        """Where the Python environment of the hooks lives."""
        environ = self.context.environ
        named = environ.get("OMO_ENV_HOME") or environ.get("CLAUDE_PLUGIN_DATA") or str(self.plugin / ".venv")
        return Path(os.path.join(self.context.cwd, named))

    @property
    def requirements(self) -> Path:
        return self.plugin / "requirements.txt"

    @property
    def rebuild(self) -> str:
        script = self.plugin / "hooks" / "environment.sh"
        return shlex.join(["sh", str(script), "ensure", "--force", str(self.home), str(self.requirements)])

    @property
    def claude(self) -> Path | None:
        """The host's own directory; None where nothing says whose home this is."""
        environ = self.context.environ
        user = environ.get("HOME") or environ.get("USERPROFILE")
        if named := environ.get("CLAUDE_CONFIG_DIR"):
            return Path(named)
        return Path(user) / ".claude" if user else None

    @cached_property
    def host_files(self) -> list[host_files.HostFile]:
        return host_files.read_all(self.claude, Path(self.context.root))

    @cached_property
    def environ(self) -> Mapping[str, str]:
        """What a hook is given: this environment, under what the host's settings put over it."""
        return host_files.hook_environ(self.context.environ, self.host_files)

    @cached_property
    def settings(self) -> settings.Settings:
        return settings.load(self.environ, self.context.root)

    def run(self, *argv: str, cwd: Path | None = None, stdin: bytes = b"", **extra: str) -> Outcome:
        environ = child_environment(self.context.environ)
        return run(argv, cwd=cwd or self.plugin, timeout=PATIENCE, env=environ, extra_env=extra, stdin=stdin)


def why(outcome: Outcome) -> str:
    """How a command ended that should have ended well."""
    if outcome.not_found:
        return f"{outcome.argv[0]} cannot be started"
    if outcome.timed_out:
        return f"no end within {PATIENCE:g} s"
    said = (outcome.stderr.strip() or outcome.stdout.strip()).splitlines()
    ended = f"exit {outcome.exit_code}" if outcome.signal is None else f"signal {outcome.signal}"
    return f"{ended}: {said[-1]}" if said else ended
