"""`omo setup`: omo on your PATH and in the status line, a new environment, and all of it away again.

Every change is a step that can be shown before it is made. Like the doctor it runs on a bare interpreter.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from omo import options, table
from omo.context import Context, plugin_root
from omo.errors import BadInput, Refused, Unreadable, Unwritable
from omo.hosts import launcher, setups
from omo.hosts.setups import SET_HOME, HostSetup, read_object
from omo.result import Result
from omo.safe_open import regular_file
from omo.state import STATE_DIR, ownership, paths, records, runtime
from omo.text import block, clip

LONGEST_LINE = 1000
# Where a person's own programs are, the usual place first.
OWN_PROGRAMS = (os.path.join(".local", "bin"), "bin")
SHELL_FILES = {"bash": "~/.bashrc", "zsh": "~/.zshrc"}
# What omo writes into a home of environments; another file there is somebody else's.
MADE_IN_HOME = (
    *("env-*", "environment", "environment-*", "environment.*", "interpreter", "interpreter.*", "pycache"),
    *("root", "statusline.sh", "dev"),
)


@dataclass(frozen=True)
class Installation:
    """This omo on this machine."""

    context: Context
    plugin: Path

    @property
    def home(self) -> Path:
        """Where the Python of the hooks is kept, and the environment of the commands."""
        named = self.context.environ.get("OMO_ENV_HOME") or ""
        return Path(named if named and paths.may_name(named, self.context.root) else self.cache)

    @property
    def cache(self) -> str:
        """Where that is unless OMO_ENV_HOME says otherwise."""
        environ, root = self.context.environ, self.context.root
        named = environ.get("XDG_CACHE_HOME") or ""
        if named and paths.may_name(named, root):
            return os.path.join(named, "omo")
        home = paths.home_of(environ, root) or os.devnull  # below which nothing can be
        return os.path.join(home, ".cache", "omo")

    @property
    def homes(self) -> list[Path]:
        """This one, and where earlier versions had one."""
        homes = [self.home]
        for setup in self.hosts:
            homes += setup.data_directories()
        return list(dict.fromkeys([*homes, Path(self.cache)]))

    @cached_property
    def hosts(self) -> list[HostSetup]:
        return setups.every(self.context.environ, self.context.root)

    @property
    def hosts_in_use(self) -> list[HostSetup]:
        """Those that have the plugin; where none has it the first, of which it is said how to install it there."""
        return [setup for setup in self.hosts if setup.has_plugin()] or self.hosts[:1]

    @property
    def status_line_host(self) -> HostSetup:
        return next(setup for setup in self.hosts if setup.has_status_line)

    @property
    def user_home(self) -> Path:
        home = self.context.environ.get("HOME")
        if not home:
            raise BadInput("HOME is unset", fix=SET_HOME)
        return Path(home)

    @property
    def path(self) -> list[str]:
        return [entry.rstrip(os.sep) for entry in self.context.environ.get("PATH", "").split(os.pathsep)]

    def on_path(self) -> str | None:
        """Which omo the shell finds, aliases aside."""
        return shutil.which("omo", path=self.context.environ.get("PATH", ""))

    @property
    def is_on_path(self) -> bool:
        """Whether the omo that the shell finds is ours."""
        program = self.on_path()
        return program is not None and (is_launcher(Path(program)) or is_command(Path(program)))

    def command(self, *words: str) -> str:
        """As it can be typed: by its whole path where the shell would not find it."""
        return shlex.join(["omo" if self.is_on_path else str(self.plugin / "bin" / "omo"), *words])


@dataclass(frozen=True)
class SetupChange:
    """One change of what is the user's. `what` is the part of omo it belongs to, which can be removed alone."""

    what: str
    shown: str
    make: Callable[[], None]


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "setup")
    _changing(verbs, "path", "put omo on your PATH: a small script that finds the newest one installed", path)
    parts = ["path"]
    judged = ", ".join([row.name for row in table.ROWS if "omo:judge" in row.briefs])
    for kind in setups.kinds():
        if kind.has_status_line:
            parts.append("statusline")
            about = f"put omo into {kind.title}'s status line, after what you have there"
            _changing(verbs, "statusline", about, status_line)
        if kind.needs_agents:
            parts.append(kind.name)
            about = f"give {kind.title} the agents that {judged}, reviews and the critic send"
            _changing(verbs, kind.name, about, partial(agents, kind.name))
    options.command(verbs, "environment", "build the Python environment anew", environment, session=False)
    about = "take away all that omo put outside its plugin, and this project's state"
    parser = _changing(verbs, "remove", about, remove)
    only = f"only this: {', '.join(parts[:-1])} or {parts[-1]}"
    parser.add_argument("what", nargs="?", choices=parts, metavar="WHAT", help=only)


def _changing(verbs: options.Commands, name: str, about: str, run: options.Run) -> argparse.ArgumentParser:
    parser = options.command(verbs, name, f"{about}; shown first", run, session=False)
    parser.add_argument("--yes", action="store_true", help="do what is shown without asking")
    return parser


def path(arguments: argparse.Namespace, context: Context) -> Result:
    here = _for_the_user(context, "path")
    steps = path_steps(here)
    program = launcher_path(here)
    result = _show_and_make(steps, f"{program} is so already.", agreed=arguments.yes)
    if result.exit_code == 0:
        result.text = "\n".join([result.text, *path_advice(here)])
    result.data["file"] = str(program)
    return result


def status_line(arguments: argparse.Namespace, context: Context) -> Result:
    here = _for_the_user(context, "statusline")
    settings = here.status_line_host.status_line_file()
    result = _show_and_make(status_line_steps(here), f"{settings} is so already.", agreed=arguments.yes)
    if result.data["done"]:
        result.text += " It is shown with the next message."
    result.data["file"] = str(settings)
    return result


def agents(name: str, arguments: argparse.Namespace, context: Context) -> Result:
    here = _for_the_user(context, name)
    (setup,) = [setup for setup in here.hosts if setup.name == name]
    result = _show_and_make(agent_steps(here, setup), f"{setup.title} has the agents already.", agreed=arguments.yes)
    if result.data["done"]:
        result.text += f" Next, unless you did: {setup.after_agents}."
    return result


def environment(arguments: argparse.Namespace, context: Context) -> Result:
    """Only says so: bin/omo has built it before this is called, or has ended."""
    here = Installation(context, plugin_root())
    return Result({"home": str(here.home)}, f"The Python environment is ready in {here.home}.")


def remove(arguments: argparse.Namespace, context: Context) -> Result:
    here = _for_the_user(context, "remove")
    if arguments.what:
        steps = [step for step in removal_steps(here) if step.what == arguments.what]
        return _show_and_make(steps, f"There is no {arguments.what} of omo's to remove.", agreed=arguments.yes)
    first: list[str] = []
    if live := live_sessions():
        first = ["Work is on in these sessions, and nothing will hold them to it:", *(f"  {name}" for name in live)]
        first.append(f"Let go of them first with {here.command('stop-continuation', '--all')}, in each project.")
    result = _show_and_make(removal_steps(here), "There is nothing to remove.", agreed=arguments.yes, first=first)
    if result.exit_code == 0:
        result.text += "".join(f"\n{line}" for line in _left_behind(here))
        for setup in here.hosts_in_use:
            result.text += f"\nNow the plugin in {setup.title}: {setup.uninstall_command}"
        result.text += f"\nOther projects keep their own {STATE_DIR} until you remove it there."
    return result


def _left_behind(here: Installation) -> list[str]:
    """What stays because it is the project's or the user's own, though they may want to remove it too."""
    lines = []
    evidence = os.path.join(here.context.root, paths.EVIDENCE_DIR)
    if os.path.isdir(evidence):
        lines.append(f"{evidence} stays: evidence that this project's goals rest on, which git does not show.")
    if here.is_on_path:
        lines.append(f"{here.on_path()} stays: omo setup did not put it there.")
    return lines


def _for_the_user(context: Context, verb: str) -> Installation:
    """This installation, for a verb that changes what is the user's. Raises for an agent; a script of the user's, such
    as a Dockerfile, may add things, but removing them, and with them the state that holds a session, takes a person."""
    here = Installation(context, plugin_root())
    if context.is_agent and (verb == "remove" or context.may_come_from_agent):
        raise Refused(
            f"omo setup {verb} changes what is a person's own, so a person types it",
            fix=f"in a terminal of your own: {here.command('setup', verb)}",
        )
    return here


def _show_and_make(steps: list[SetupChange], nothing: str, *, agreed: bool, first: Sequence[str] = ()) -> Result:
    """Shows the steps, asks unless it is `agreed`, and makes them. It asks only where somebody can answer.

    `nothing` is said where there is no step, `first` is shown before them.
    """
    data = {"steps": [step.shown for step in steps], "done": False}
    if not steps:
        return Result(data, nothing)
    shown = "\n".join([*first, *(step.shown for step in steps)])
    if not agreed and not sys.stdin.isatty():
        return Result(data, f"{shown}\nNothing was done. With --yes it is.", 3)
    if not agreed:
        print(f"{shown}\nDo this? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            return Result(data, "Nothing was done.", 3)
    for step in steps:
        try:
            step.make()
        except OSError as error:
            raise Unwritable(f"{error.filename} cannot be changed: {error.strerror}", fix="make it writable") from None
    return Result({**data, "done": True}, f"{shown}\nDone." if agreed else "Done.")


# omo on the PATH


def is_launcher(program: Path) -> bool:
    """What `omo setup path` has written, or a link to the command of some clone or version."""
    if program.is_symlink():
        return is_command(program)
    try:
        with open(program, "rb", opener=regular_file) as file:
            return launcher.MARK.encode() in file.read(400)
    except OSError:
        return False


def is_command(program: Path) -> bool:
    return (program.resolve().parent.parent / "hooks" / "environment.sh").is_file()


def launcher_path(here: Installation) -> Path:
    """Among the directories for a person's own programs the one on PATH, else the usual one."""
    choices = [here.user_home / name for name in OWN_PROGRAMS]
    for directory in choices:
        if str(directory) in here.path:
            return directory / "omo"
    return choices[0] / "omo"


def path_steps(here: Installation) -> list[SetupChange]:
    path = launcher_path(here)
    text = launcher.script().replace("ROOT", shlex.quote(str(here.plugin)))
    shown = f"writes {path}, a small script that runs the newest omo installed"
    if os.path.lexists(path):
        if path.is_file() and path.read_bytes() == text.encode():
            return []
        if not is_launcher(path):
            shown = f"REPLACES {path}, which is not omo's, by a small script that runs the newest omo installed"
    return [SetupChange("path", shown, partial(write, path, text, 0o755))]


def path_advice(here: Installation) -> list[str]:
    """What is still to be done once the launcher is there."""
    directory = launcher_path(here).parent
    if str(directory) in here.path:
        return [] if here.is_on_path else [f"another omo comes first on your PATH: {here.on_path()}"]
    shell = os.path.basename(here.context.environ.get("SHELL", ""))
    if shell == "fish":
        line = f"fish_add_path {shlex.quote(str(directory))}"
    else:
        shown = str(directory).replace(str(here.user_home), "$HOME", 1)
        line = f"echo 'export PATH=\"{shown}:$PATH\"' >> {SHELL_FILES.get(shell, '~/.profile')}"
    return [f"{directory} is not on your PATH. Type this once, then open a new terminal:", f"  {line}"]


# The status line


def status_line_steps(here: Installation) -> list[SetupChange]:
    """The script first: what the host calls is there before it is called."""
    script = here.home / "statusline.sh"
    text = here.status_line_host.status_line_script(here.home)
    steps = []
    if not script.is_file() or script.read_text(encoding="utf-8") != text:

        def write_script() -> None:
            write(here.home / "root", f"{here.plugin}\n")
            write(script, text)

        steps.append(SetupChange("statusline", f"writes {script}", write_script))
    return steps + _settings_steps(here, remove=False)


def _settings_steps(here: Installation, *, remove: bool) -> list[SetupChange]:
    """The user's own settings with the line in them, or without."""
    setup = here.status_line_host
    path = setup.status_line_file()
    try:
        before = path.read_bytes() if path.exists() else None
        values = read_object(path) or {}
    except (Unreadable, OSError) as error:
        raise Refused(f"{path} cannot be read ({error}), so it is left alone", fix="mend it, then again") from None
    after = values
    for home in here.homes:
        after = setup.without_status_line(after, home)
    if not remove:
        after = setup.with_status_line(after, here.home)
    if after == values:
        return []
    text = json.dumps(after, indent=2, ensure_ascii=False) + "\n"

    def make() -> None:
        if (path.read_bytes() if path.exists() else None) != before:
            raise Refused(f"{path} was changed meanwhile, so nothing was written", fix="again, to see it anew")
        write(path, text)

    return [SetupChange("statusline", "\n".join(_diff(path, before, text)), make)]


def _diff(path: Path, before: bytes | None, after: str) -> list[str]:
    import difflib

    old = "" if before is None else before.decode("utf-8-sig", "replace")
    lines = difflib.unified_diff(old.splitlines(), after.splitlines(), str(path), str(path), n=1)
    return [block(line.rstrip("\n"), LONGEST_LINE).replace("\n", " ") for line in lines]


# Agents, for a host that does not take them from the plugin


def agent_steps(here: Installation, setup: HostSetup) -> list[SetupChange]:
    missing = setup.missing_agents(here.plugin)
    if not missing:
        return []

    def make() -> None:
        for agent in missing:
            write(agent.path, agent.text)

    return [SetupChange(setup.name, setups.in_words(missing), make)]


# Taking everything away


def removal_steps(here: Installation) -> list[SetupChange]:
    """What calls a thing goes before the thing itself."""
    steps = _settings_steps(here, remove=True)
    # Where `omo setup path` writes. An omo elsewhere on PATH is another user's, another installation's, or put by hand.
    for directory in OWN_PROGRAMS:
        program = here.user_home / directory / "omo"
        if is_launcher(program):
            steps.append(SetupChange("path", f"removes {program}", program.unlink))
    for setup in here.hosts:
        if agents := setup.agents_made():
            shown = f"removes the agents that {setup.title} was given: {', '.join(path.name for path in agents)}"
            steps.append(SetupChange(setup.name, shown, partial(_remove, agents)))
    own = here.context.own
    if own.is_ours and os.path.isdir(own.state):
        shown = f"removes {own.state}: this project's sessions, with their ledgers, evidence and reports"
        steps.append(SetupChange("project", shown, partial(_remove, [Path(own.state)])))
    for home in here.homes:
        made = [path for pattern in MADE_IN_HOME for path in sorted(home.glob(pattern))]
        if made:
            shown = f"removes what omo built in {home}: {', '.join(path.name for path in made)}"
            steps.append(SetupChange("environment", clip(shown, LONGEST_LINE), partial(_remove, made)))
    for place in map(Path, records.places(here.context.root)):
        kept = [path for path in (place, place.with_name("live")) if path.is_dir()]  # omo 0.1 noted sessions in `live`
        if kept:
            shown = f"removes {', '.join(map(str, kept))}: which state is yours, and which sessions are on"
            steps.append(SetupChange("state", shown, partial(_remove, kept)))
    return steps


def live_sessions() -> list[str]:
    """Those that would lose what they stand on, each with where it is."""
    lines = []
    for noted in ownership.every():
        if runtime.is_on_at(noted):
            project = noted.state.removesuffix(records.IN_PROJECT)
            lines.append(f"{clip(noted.session, 64)} in {clip(project, 200)}")
    return lines


def _remove(made: list[Path]) -> None:
    """Removes these, and the directory they are in unless something else is there too."""
    for path in made:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    try:
        made[0].parent.rmdir()
    except OSError:
        pass


def write(path: Path, text: str, mode: int = 0) -> None:
    """Writes the file aside and renames it into place, with `mode`, or else the rights that it had."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}.omo-{os.getpid()}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        if mode or path.exists():
            os.chmod(aside, mode or path.stat().st_mode & 0o777)
        os.replace(aside, path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
