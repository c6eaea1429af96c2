"""Which commands are in a shell text: read as a shell reads it, so that a mention is not a call.

What only the running shell knows stays unknown: variables, functions, aliases, scripts, text piped into a shell.
"""

from __future__ import annotations

import os
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from tree_sitter import Node

LONGEST = 256 * 1024  # Linux starts no program with a single argument of more than half of this
DEEPEST = 4  # sh -c "sh -c '…'"
SHELLS = ("sh", "bash", "dash", "zsh", "ksh")

# Programs that run another one: short options that take a value, long ones that do, and operands before its name.
WRAPPERS: dict[str, tuple[str, tuple[str, ...], int]] = {
    "builtin": ("", (), 0),
    "command": ("", (), 0),
    "coproc": ("", (), 0),
    "doas": ("uC", (), 0),
    "env": ("uCS", ("--unset", "--chdir", "--split-string"), 0),
    "exec": ("a", (), 0),
    "ionice": ("cn", ("--class", "--classdata"), 0),
    "nice": ("n", ("--adjustment",), 0),
    "nohup": ("", (), 0),
    "setsid": ("", (), 0),
    "stdbuf": ("ioe", ("--input", "--output", "--error"), 0),
    "sudo": ("ughpCrtTDRU", ("--user", "--group", "--host", "--prompt", "--chdir", "--chroot"), 0),
    "time": ("fo", ("--format", "--output"), 0),
    "timeout": ("ks", ("--kill-after", "--signal"), 1),
    "xargs": ("nIPLdEsa", ("--max-args", "--max-procs", "--max-lines", "--delimiter", "--arg-file", "--max-chars"), 0),
}
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "\n": ""}


def _compiled(package: str) -> Any:
    """The compiled half of a package. The other half imports typing and importlib.resources: 35 ms a hook can save."""
    import importlib

    name = package + "._binding"
    if name in sys.modules or package in sys.modules:
        return importlib.import_module(name)
    bare = type(sys)(package)
    bare.__path__ = [os.path.join(directory, package) for directory in sys.path]
    sys.modules[package] = bare
    try:
        return importlib.import_module(name)
    finally:
        del sys.modules[package]  # whoever wants the whole package imports it as ever


def commands(text: str) -> list[list[str]]:
    """The words of every simple command, quotes resolved; a word with an expansion in it keeps that part as written.

    Also those inside `sh -c`, `eval`, `trap` and what is fed to a shell by a here-document. Where the text is no
    shell, or longer than a command can be, there are none.
    """
    return list(_commands(text, DEEPEST))


def program(words: list[str]) -> list[str]:
    """The words from the program that really runs: behind env, timeout, sudo, `sh SCRIPT` and their like."""
    while words:
        behind = _behind(words)
        if behind is None:
            return words
        words = behind
    return words


def name(words: list[str]) -> str:
    """`/opt/omo/bin/omo` → `omo`"""
    return os.path.basename(words[0]) if words else ""


def _commands(text: str, depth: int) -> Iterator[list[str]]:
    if not depth or len(text) > LONGEST:
        return
    for node in _command_nodes(text):
        words = _words(node)
        yield words
        for inner in _texts_it_runs(program(words), node):
            yield from _commands(inner, depth - 1)


def _command_nodes(text: str) -> Iterator[Node]:
    parser, grammar = (_compiled(name) for name in ("tree_sitter", "tree_sitter_bash"))
    tree = parser.Parser(parser.Language(grammar.language())).parse(text.encode("utf-8", "replace"))
    left = [tree.root_node]
    while left:
        node = left.pop()
        if node.type == "ERROR":
            continue  # not what a shell would read there: nothing is known
        if node.type == "command":
            yield node
        left += reversed(node.children)


def _words(node: Node) -> list[str]:
    found = [node.child_by_field_name("name"), *node.children_by_field_name("argument")]
    return [_literal(one) for one in found if one is not None]


def _literal(node: Node) -> str:
    if node.type in ("command_name", "concatenation"):
        return "".join(_literal(child) for child in node.children)
    read = LITERALS.get(node.type)
    return read(_source(node)) if read else _source(node)


def _source(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: found[1].strip("\n"), text, flags=re.DOTALL)


def _in_double_quotes(text: str) -> str:
    return re.sub(r'\\([$`"\\\n])', lambda found: found[1].strip("\n"), text[text.index('"') + 1 : -1])


def _in_ansi_quotes(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: ESCAPES.get(found[1], found[1]), text[2:-1], flags=re.DOTALL)


LITERALS: dict[str, Callable[[str], str]] = {
    "word": _unescaped,
    "raw_string": lambda text: text[1:-1],
    "string": _in_double_quotes,
    "translated_string": _in_double_quotes,
    "ansi_c_string": _in_ansi_quotes,
}


def _behind(words: list[str]) -> list[str] | None:
    """What a wrapper runs, empty if it names nothing. None: this program is no wrapper."""
    called = name(words)
    if called in WRAPPERS:
        short, long, operands = WRAPPERS[called]
        return _after_options(words[1:], short, long)[operands:]
    if called in SHELLS:
        letters, operands_of_shell = _shell_call(words)
        is_script = bool(operands_of_shell) and "c" not in letters and "s" not in letters
        return operands_of_shell if is_script else None
    if called == "find":
        at = next((index for index, word in enumerate(words) if word in ("-exec", "-execdir", "-ok", "-okdir")), None)
        return None if at is None else words[at + 1 :]
    return None


def _after_options(words: list[str], short: str, long: tuple[str, ...]) -> list[str]:
    while words and (words[0].startswith("-") or _assigns(words[0])):
        option, words = words[0], words[1:]
        if option == "--":
            break
        if option in long or _wants_value(option, short):
            words = words[1:]
    return words


def _assigns(word: str) -> bool:
    before, sign, _ = word.partition("=")
    return bool(sign) and before.isidentifier()


def _wants_value(option: str, short: str) -> bool:
    """`-n` of nice takes the next word; of `-n5` the value is there already."""
    if option.startswith("--") or _assigns(option):
        return False
    first = next((index for index, letter in enumerate(option) if letter in short), -1)
    return first == len(option) - 1


def _shell_call(words: list[str]) -> tuple[str, list[str]]:
    """The letters of a shell's options, and what follows these."""
    letters, rest = "", words[1:]
    while rest and rest[0].startswith(("-", "+")):
        option, rest = rest[0], rest[1:]
        if option in ("-", "--"):
            break
        if option in ("--rcfile", "--init-file") or (option[1] != "-" and option[-1] in "oO"):
            rest = rest[1:]
        letters += "" if option.startswith("--") else option
    return letters, rest


def _texts_it_runs(words: list[str], node: Node) -> list[str]:
    called = name(words)
    if called == "eval":
        return [" ".join(words[1:])]
    if called == "trap":
        return words[1:2]
    if called not in SHELLS:
        return []
    letters, operands = _shell_call(words)
    return operands[:1] if "c" in letters else _fed(node)


def _fed(node: Node) -> list[str]:
    """What a here-document or here-string gives this command to read."""
    around = [node.parent] if node.parent is not None and node.parent.type == "redirected_statement" else []
    redirects = [child for one in [node, *around] for child in one.children if child.type.startswith("here")]
    given = [child for redirect in redirects for child in redirect.named_children]
    return [_literal(child) for child in given if child.type in ("heredoc_body", "string", "raw_string", "word")]
