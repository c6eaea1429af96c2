"""The interpreter and the packages that hooks and CLI run with."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from omo.doctor.finding import Finding, Probe, fail, ok, unknown, why
from omo.doctor.host_files import tail
from omo.errors import Unreadable

OLDEST = (3, 10)
MODULES = (
    "pydantic",
    "filelock",
    "orjson",
    "markdown_it",
    "yaml",
    "regex",
    "PIL",
    "tree_sitter",
    "tree_sitter_bash",
    "rich",
    "jinja2",
    "shtab",
)
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)\s*(;)?", re.MULTILINE)

VERSION = "import sys; print('%d.%d.%d' % sys.version_info[:3])"
INVENTORY = """
import importlib.metadata, json, sys
sys.path.append(sys.argv[1])
versions, broken = {}, {}
for name in sys.argv[2].split():
    try:
        versions[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
for name in sys.argv[3].split():
    try:
        __import__(name)
    except Exception as error:
        broken[name] = "%s: %s" % (type(error).__name__, error)
print(json.dumps([versions, broken]))
"""


def interpreter(probe: Probe) -> Finding:
    pointed = _pointer(probe.home)
    python, whose = (pointed[0], "of the hooks") if pointed else (probe.python, "of this command")
    if not (os.path.isabs(python) and os.access(python, os.X_OK)):
        return fail(f"the interpreter {whose} is gone: {python}", probe.rebuild)
    answer = probe.run(python, "-I", "-S", "-c", VERSION)
    version = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", answer.stdout.strip())
    if not answer.ok or version is None:
        return fail(f"{python} does not start ({why(answer)})", probe.rebuild)
    if (int(version[1]), int(version[2])) < OLDEST:
        return fail(
            f"{python} is Python {version[0]}, older than 3.10", f"install Python 3.10 or newer; {probe.rebuild}"
        )
    return ok(f"Python {version[0]} {whose}, {python}")


def environment(probe: Probe) -> Finding:
    script = str(probe.plugin / "hooks" / "environment.sh")
    found = probe.run("sh", script, "find", str(probe.home), str(probe.requirements))
    if found.ok:
        return ok(f"{probe.home} fits requirements.txt")
    if found.not_found:
        return unknown("sh is not on PATH, so the environment was not looked at", "put a POSIX sh on PATH")
    return fail(f"no Python environment for this requirements.txt in {probe.home}", probe.rebuild, _last_of_log(probe))


def packages(probe: Probe) -> Finding:
    pointed = _pointer(probe.home)
    if pointed is None:
        return unknown("no environment to look into", probe.rebuild)
    try:
        pins = _pins(probe.requirements.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        return fail(f"{probe.requirements} cannot be read: {error.strerror}", "reinstall the plugin")
    python, site = pointed
    asked = probe.run(python, "-I", "-S", "-B", "-X", "utf8", "-c", INVENTORY, site, " ".join(pins), " ".join(MODULES))
    try:
        versions, broken = json.loads(asked.stdout)
    except ValueError:
        return fail(f"the packages in {site} could not be listed ({why(asked)})", probe.rebuild)
    wrong = [f"{name} does not import: {error}" for name, error in broken.items()]
    wrong += [line for name, pin in pins.items() if (line := pin.mismatch(name, versions.get(name)))]
    if wrong:
        return fail(f"{len(wrong)} things are wrong with the packages in {site}", probe.rebuild, wrong)
    return ok(f"{len(versions)} packages as pinned; {', '.join(MODULES)} import")


class _Pin:
    """The versions pinned for one package. Where every line has a marker, the package may rightly be absent."""

    def __init__(self) -> None:
        self.versions: list[str] = []
        self.always = False

    def mismatch(self, name: str, installed: str | None) -> str:
        pinned = " or ".join(self.versions)
        if installed is None:
            return f"{name} is missing, {pinned} is pinned" if self.always else ""
        return "" if installed in self.versions else f"{name} is {installed}, {pinned} is pinned"


def _pins(requirements: str) -> dict[str, _Pin]:
    pins: dict[str, _Pin] = {}
    for name, version, marker in PIN.findall(requirements):
        pin = pins.setdefault(name, _Pin())
        pin.versions.append(version)
        pin.always |= not marker
    return pins


def _pointer(home: Path) -> tuple[str, str] | None:
    """Interpreter and site-packages, as the launcher reads them."""
    try:
        lines = tail(home / "environment", 4)
    except Unreadable:
        return None
    return (lines[0], lines[1]) if len(lines) == 4 and "\0" not in "".join(lines) else None


def _last_of_log(probe: Probe) -> list[str]:
    log = probe.home / "environment.log"
    try:
        return [f"{log}: {line}" for line in tail(log, 1)]
    except Unreadable as error:
        return [error.message]
