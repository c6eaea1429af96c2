"""Limits and switches: the environment, then the plugin's options, then the project's file, then the defaults."""

from __future__ import annotations

import os

from omo import hosts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from omo.state.rows import Budget, Limits

ON = ("1", "true", "yes", "on")
OFF = ("0", "false", "no", "off")
FILE = ".sisyphus/omo.json"
MULTIPLES = {"k": 1_000, "m": 1_000_000, "b": 1_000_000_000}
MOST_SPENT = 10**15
# By the words that one types: the kind of budget, and how many of its units one of these is.
UNITS = {
    **dict.fromkeys(("token", "tokens"), ("tokens", 1)),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), ("minutes", 1)),
    **dict.fromkeys(("h", "hour", "hours"), ("minutes", 60)),
    **dict.fromkeys(("agent", "agents"), ("agents", 1)),
}


class BadSetting(ValueError):
    """Why a value cannot be used."""


def whole_number(value: object) -> int:
    try:
        number = int(str(value).strip())
    except ValueError:
        raise BadSetting("is not a whole number") from None
    if number < 1:
        raise BadSetting("must be 1 or more")
    return number


def positive_number(value: object) -> float:
    try:
        number = float(str(value).strip())
    except ValueError:
        raise BadSetting("is not a number") from None
    if not 0 < number < float("inf"):
        raise BadSetting("must be more than 0")
    return number


def one_of(*choices: str) -> Callable[[object], str]:
    def parse(value: object) -> str:
        choice = str(value).strip().lower()
        if choice not in choices:
            raise BadSetting(f"must be one of {', '.join(choices)}")
        return choice

    return parse


def switch(value: object) -> bool:
    text = str(value).strip().lower()
    if text not in ON + OFF:
        raise BadSetting("must be true or false, or on or off")
    return text in ON


def on_or_off(value: object) -> str:
    return "on" if switch(value) else "off"


def budget(value: object) -> dict[str, Any] | None:
    """Ceilings by kind, in the words of /omo:budget: `2M tokens, 90 min, 20 agents`; `1.5h` and `2 M tokens` do too.

    None for off.
    """
    rest = str(value).lower().replace(",", "").strip()
    if rest == "off":
        return None
    ceilings: dict[str, Any] = {}
    while rest or not ceilings:
        number, rest = _split(rest, "0123456789.")
        word, rest = _split(rest, "abcdefghijklmnopqrstuvwxyz")
        if word in MULTIPLES:
            number += word
            word, rest = _split(rest, "abcdefghijklmnopqrstuvwxyz")
        kind, size = UNITS.get(word, ("", 0))
        amount = amount_of(number) * size
        if not 0 < amount <= MOST_SPENT or (kind == "agents" and amount != int(amount)):
            raise BadSetting("is no budget such as 2M tokens, 90 minutes, 20 agents")
        ceilings[kind] = amount if kind == "minutes" else int(amount)
    return ceilings


def ceiling_of(kind: str) -> Callable[[object], float | None]:
    """Of one kind alone: 2000000, 2M or 500k; off for none."""

    def parse(value: object) -> float | None:
        try:
            ceilings = budget(value) if value == "off" else budget(f"{value} {kind}")
        except BadSetting:
            raise BadSetting("must be a number above 0, such as 2M or 90, or off") from None
        return ceilings[kind] if ceilings else None

    return parse


def _split(text: str, letters: str) -> tuple[str, str]:
    """The beginning of the text that consists of these letters, and the rest without its leading blanks."""
    rest = text.lstrip(letters)
    return text[: len(text) - len(rest)], rest.lstrip()


def amount_of(text: str) -> float:
    """2m, 2M and 2000000 are two million; 0 where it is no number."""
    size = MULTIPLES.get(text[-1:].lower(), 1)
    digits = text[:-1] if size > 1 else text
    whole, point, rest = digits.partition(".")
    if not (whole + rest).isdecimal() or len(digits) > 15 or (point and not rest):
        return 0
    return float(digits) * size


def project_globs(value: object) -> tuple[str, ...]:
    """Globs relative to the project's top. One that leads elsewhere would silently match nothing."""
    if not isinstance(value, list):
        raise BadSetting("must be a list of globs")
    for glob in value:
        if not isinstance(glob, str) or not glob.strip():
            raise BadSetting(f"must hold text only, not {glob!r}")
        if glob.startswith(("/", "~")) or "\\" in glob or ".." in glob.split("/"):
            raise BadSetting(f"must stay inside the project, written with /: {glob!r} does not")
    return tuple(value)


def gate_commands(value: object) -> dict[str, str]:
    """The project's gates: for each name the command as one types it."""
    if not isinstance(value, dict):
        raise BadSetting('must be names with commands, such as {"tests": "pytest -q"}')
    for name, command in value.items():
        if not isinstance(command, str) or not command.strip():
            raise BadSetting(f"must have a command for {name!r}")
    return value


class Knob:
    """One setting. The user sets `variable`; a host hands the plugin's options on in the others of `variables`."""

    def __init__(self, name: str, default: Any, parse: Callable[[object], Any]) -> None:
        self.name = name
        self.default = default
        self.parse = parse
        self.variable = f"OMO_{name.upper()}"
        self.variables = [self.variable, *(prefix + name.upper() for prefix in hosts.OPTION_PREFIXES)]


LIMITS = (
    Knob("max_stop_blocks", 8, whole_number),
    Knob("cooldown_seconds", 3.0, positive_number),
    Knob("max_total_blocks", 64, whole_number),
    Knob("max_hours", 8.0, positive_number),
)
KNOBS = (
    *LIMITS,
    Knob("keyword", "on", one_of("on", "explicit", "off")),
    Knob("attended", False, switch),
    Knob("notify", "on", on_or_off),
    Knob("budget", None, budget),
    Knob("budget_tokens", None, ceiling_of("tokens")),
    Knob("budget_minutes", None, ceiling_of("minutes")),
    Knob("budget_agents", None, ceiling_of("agents")),
    Knob("experiment", "on", on_or_off),
    Knob("proof_minutes", 10.0, positive_number),
)
# The host asks for these when the plugin is installed. It hands on what earlier versions had asked for all the same.
ASKED = ("keyword", "attended", "budget")
# What the project says about itself: in its file only, so that no shell can say otherwise.
COMPUTER_CONTROL = "computer_control"
GATES = "gates"
OF_THE_PROJECT = {COMPUTER_CONTROL: project_globs, GATES: gate_commands}


class Settings:
    """The values in force, where each comes from, and what was refused on the way."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {knob.name: knob.default for knob in KNOBS}
        self.origins: dict[str, str] = {knob.name: "default" for knob in KNOBS}
        self.problems: list[str] = []
        self.of_the_project: dict[str, Any] = {}

    @property
    def computer_control(self) -> tuple[str, ...]:
        globs: tuple[str, ...] = self.of_the_project.get(COMPUTER_CONTROL, ())
        return globs

    @property
    def attended(self) -> bool:
        return bool(self.values["attended"])

    @property
    def keyword(self) -> str:
        return str(self.values["keyword"])

    @property
    def notify(self) -> bool:
        return bool(self.values["notify"] == "on")

    @property
    def proof_minutes(self) -> float:
        """How long the runs of a proof may take; 0 where none are to be made."""
        return float(self.values["proof_minutes"]) if self.values["experiment"] == "on" else 0.0

    @property
    def budget(self) -> Budget:
        """The ceilings that are set, by kind. A setting for one kind alone counts before the line for all."""
        ceilings: Any = dict(self.values["budget"] or {})
        for kind in ("tokens", "minutes", "agents"):
            if self.origins[f"budget_{kind}"] != "default":
                ceilings[kind] = self.values[f"budget_{kind}"]
        for kind in [kind for kind, amount in ceilings.items() if not amount]:
            del ceilings[kind]
        budget: Budget = ceilings
        return budget

    @property
    def limits(self) -> Limits:
        return {
            "max_stop_blocks": self.values["max_stop_blocks"],
            "cooldown_seconds": self.values["cooldown_seconds"],
            "max_total_blocks": self.values["max_total_blocks"],
            "max_hours": self.values["max_hours"],
        }

    def take(self, knob: Knob, value: object, origin: str) -> bool:
        try:
            self.values[knob.name] = knob.parse(value)
        except BadSetting as why:
            self.problems.append(f"{origin}: {value!r} {why}; it is not used, the default is {knob.default or 'none'}")
            return False
        self.origins[knob.name] = origin
        return True


DEFAULT_LIMITS = Settings().limits


def load(environ: Mapping[str, str], root: str) -> Settings:
    file, problems = _project_file(root)
    settings = merged(environ, file)
    settings.problems[:0] = [*_ignored_places(environ, root), *problems]
    return settings


def _ignored_places(environ: Mapping[str, str], root: str) -> list[str]:
    from omo.state import paths

    ignored = paths.ignored_variables(environ, root)
    return [f"{name} names a place in the project, or a relative one; it is not used" for name in ignored]


def merged(environ: Mapping[str, str], file: dict[str, Any]) -> Settings:
    """The settings of the environment and of the project's file, whose contents these are."""
    settings = Settings()
    for knob in KNOBS:
        sources = [(environ.get(variable, ""), variable) for variable in knob.variables]
        if knob.name in file:
            sources.append((file[knob.name], f"{FILE}: {knob.name}"))
        for value, origin in sources:
            if value != "" and settings.take(knob, value, origin):
                break
    for name, parse in OF_THE_PROJECT.items():
        try:
            if name in file:
                settings.of_the_project[name] = parse(file[name])
        except BadSetting as why:
            settings.problems.append(f"{FILE}: {name} {why}; it is not used")
    return settings


def _project_file(root: str) -> tuple[dict[str, Any], list[str]]:
    """The contents of the project's file, and why it or parts of it are not used."""
    from omo.errors import Unreadable
    from omo.state import paths, store

    path = paths.settings_file(root)
    if not os.path.exists(path):
        return {}, []
    try:
        values = store.read(path) or {}
    except Unreadable as error:
        return {}, [f"{error.message}; its settings are not used"]
    known = {*(knob.name for knob in KNOBS), *OF_THE_PROJECT}
    there_are = ", ".join(sorted(known))
    return values, [f"{FILE}: {name!r} is no setting; there are {there_are}" for name in sorted(set(values) - known)]


def is_disabled(environ: Mapping[str, str]) -> bool:
    return environ.get("OMO_DISABLE", "").strip().lower() in ON


def is_skipped(environ: Mapping[str, str], event: str) -> bool:
    """By the script's name or the host's: `stop`, `Stop`, `user-prompt-submit`, `UserPromptSubmit`."""
    named = [name.strip().lower().replace("-", "") for name in environ.get("OMO_SKIP_HOOKS", "").split(",")]
    return event.replace("-", "") in named
