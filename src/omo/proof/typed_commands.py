"""A command as a person types it: what is run for it, what it is called, whether its program is there."""

from __future__ import annotations

import os

from omo.digest import sha256
from omo.errors import BadInput
from omo.json_text import dumps
from omo.text import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LONGEST_NAME = 60
LONGEST_COMMAND = 8000
LONGEST_TIMEOUT = 24 * 3600.0
UNITS = {"s": 1, "m": 60, "h": 3600}
NAME_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
PLAIN_LETTERS = NAME_LETTERS.union("/:=,@%+")
PIN_FORM = "for example: /omo:pin pytest -q, or /omo:pin --timeout 30m --sealed GLOB tests -- pytest -q"
SHELL_SIGNS = "|&;<>()$`*?[~"
# Words of a shell that begin a command and are no program.
OF_THE_SHELL = frozenset(
    ("cd", "export", "set", "unset", "source", ".", "eval", "exec", "command", "if", "for", "while", "case", "!", "{")
)


class TypedPin:
    """`[--timeout TIME] [--sealed GLOB]… [NAME --] COMMAND …` as a person types it. Without a name that is empty."""

    def __init__(self, text: str) -> None:
        if len(text) > 2 * LONGEST_COMMAND:
            raise BadInput("the command is too long", fix="put it into a script, and pin the script")
        self.timeout: float | None = None
        self.sealed: list[str] = []
        self.name = ""
        word, rest = _first_word(text)
        while word in ("--timeout", "--sealed"):
            value, text = _first_word(rest)
            if word == "--timeout":
                self.timeout = parse_timeout(value)
            else:
                self.sealed.append(value)
            word, rest = _first_word(text)
        if word == "--":  # no name before it
            text = rest
        elif rest.split()[:1] == ["--"]:
            self.name, text = word, rest.partition("--")[2]
        elif word[-1:] == ":" and NAME_LETTERS.issuperset(word[:-1]):
            self.name, text = word[:-1], rest
        self.read(without_backquotes(text))

    def read(self, command: str) -> None:
        if len(command.replace("\\\n", "").splitlines()) > 1:
            raise BadInput("a command is one line", fix="several: /omo:pin NAME -- make lint && make test")
        self.needs_shell = needs_shell(command)
        self.argv = argv_of(command)
        if not self.argv:
            raise BadInput(f"{command!r} names no command", fix=PIN_FORM)


def without_backquotes(text: str) -> str:
    """Those around all of it are how one writes a command in prose; to a shell they are another command."""
    inner = text.strip().strip("`")
    return inner if text.strip() in (f"`{inner}`", f"```{inner}```") else text.strip()


def _first_word(text: str) -> tuple[str, str]:
    """The first word, without its quotes, and the rest as it was typed."""
    import io
    import shlex

    typed = io.StringIO(text)
    words = shlex.shlex(typed, posix=True)
    words.whitespace_split = True
    words.commenters = ""
    try:
        word = words.get_token() or ""
    except ValueError as error:
        raise _unclosed(error) from None
    return word, typed.read()


def _unclosed(error: ValueError) -> BadInput:
    return BadInput(f"the command cannot be split into words: {error}", fix="close the quote")


def name_for(argv: list[str], taken: Mapping[str, Sequence[str]]) -> str:
    """A name that says what the command is, and that none of those `taken` for other commands has."""
    words = argv[2].split() if is_shell(argv) else argv
    parts: list[str] = []
    for word in words:
        plain = "".join(letter if letter in NAME_LETTERS else "-" for letter in os.path.basename(word)).strip("-.")
        if set(word) & set("|&;"):
            break
        if plain and not word.startswith("-") and "=" not in word:
            parts.append(plain)
    name = "-".join(parts[:3])[: LONGEST_NAME - 4] or "gate"
    number = 1
    while list(taken.get(_numbered(name, number), argv)) != argv:
        number += 1
    return _numbered(name, number)


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}-{number}"


def is_shell(argv: Sequence[str]) -> bool:
    return list(argv[:2]) == ["sh", "-c"] and len(argv) == 3


def program_of(argv: Sequence[str]) -> str:
    """The program that a command starts with, as far as one can tell of a shell's."""
    if not is_shell(argv):
        return argv[0]
    program = "".join(argv[2].split()[:1])
    is_plain = program not in OF_THE_SHELL and NAME_LETTERS.union("/").issuperset(program)
    return program if is_plain else ""


def parse_timeout(text: str) -> float:
    """Seconds from 90, 90s, 30m or 2h."""
    number, unit = (text[:-1], text[-1:]) if text[-1:] in UNITS else (text, "s")
    try:
        seconds = float(number) * UNITS[unit]
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= LONGEST_TIMEOUT:
        raise BadInput(f"--timeout {clip(text, 20)!r} is no time up to 24h", fix="for example --timeout 90s, 30m or 2h")
    return seconds


def argv_of(command: str) -> list[str]:
    """What to run for a command as a person writes it: through a shell only where it has a shell's syntax."""
    if needs_shell(command):
        return ["sh", "-c", command]
    if not set(command) & set("'\"\\"):
        return command.split()
    import shlex

    try:
        return shlex.split(command)
    except ValueError as error:
        raise _unclosed(error) from None


def needs_shell(command: str) -> bool:
    """Operators, expansions and patterns outside of quotes, expansions inside double ones, assignments in front."""
    quote, is_escaped = "", False
    for letter in command:
        if is_escaped:
            is_escaped = False
        elif letter == "\\" and quote != "'":
            is_escaped = True
        elif quote:
            if letter == quote:
                quote = ""
            elif quote == '"' and letter in "$`":
                return True
        elif letter in "'\"":
            quote = letter
        elif letter in SHELL_SIGNS:
            return True
    name, equals, _ = "".join(command.split()[:1]).partition("=")
    return bool(equals) and name.isidentifier()


def command_id(argv: Sequence[str], cwd: str) -> str:
    """The same for the same words in the same directory: results belong to it, whatever a gate is called."""
    return sha256(dumps([list(argv), cwd]).encode("utf-8", "backslashreplace"))[:16]


def typed(argv: Sequence[str]) -> str:
    """The words as a person would type them for a shell."""
    line = " ".join(argv)
    if all(argv) and PLAIN_LETTERS.issuperset(line.replace(" ", "")) and len(line.split()) == len(argv):
        return line
    from shlex import join

    return join(argv)


def resolve(program: str, cwd: str, path: str) -> str | None:
    """The file that a program's name stands for. Written here because a hook pins too, and shutil is slow to load."""
    if os.path.dirname(program):
        candidates = [os.path.join(cwd, program)]
    else:
        candidates = [os.path.join(cwd, directory or ".", program) for directory in path.split(os.pathsep)]
    for candidate in candidates:
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return os.path.abspath(candidate)
    return None


def is_newer(program: str, than: float) -> bool:
    """Of a link, whichever of the two is newer: a new link to an old program is a new program."""
    try:
        return max(os.lstat(program).st_ctime, os.stat(program).st_ctime) > than
    except OSError:
        return True
