"""A shell text taken apart: calls in order, what feeds them, where they run, what is redirected into files."""

from __future__ import annotations

import os

from omo.shell import wrappers
from omo.shell.words import SUBSTITUTIONS, VARIABLES, Unknown, source, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node

LONGEST = 256 * 1024  # Linux starts no program with a single argument of more than half of this
DEEPEST = 4  # sh -c "sh -c '…'"
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -_./:,@+%=~")
MOST_INSIDE = 200  # nodes of one word that are looked through for what runs inside it
MOST_INNER = 20
MOST_VALUES = 50
READABLE = ("heredoc_body", "string", "raw_string", "word", "ansi_c_string", "concatenation", "command_substitution")
OWN_PROCESS = ("subshell", *SUBSTITUTIONS)  # a cd in there ends with it


class Call:
    """One simple command. `directory` is None where nobody knows it.

    `piped_from` is the place among the calls where the pipe into it begins, None without one. `fed` are here-documents
    and here-strings, `inner` the commands whose output is among its words.
    """

    __slots__ = ("directory", "fed", "has_variables", "inner", "piped_from", "words")

    def __init__(self, words: list[str], directory: str | None, piped_from: int | None = None) -> None:
        self.words = words
        self.directory = directory
        self.piped_from = piped_from
        self.fed: list[str] = []
        self.inner: list[list[str]] = []
        self.has_variables = False


class Redirect:
    """A file the shell opens for writing before anything runs."""

    __slots__ = ("directory", "target")

    def __init__(self, target: str, directory: str | None) -> None:
        self.target = target
        self.directory = directory


class Script:
    """`unread` is text that is not shell throughout, too long or too deep; `bombs` are functions that only fork."""

    __slots__ = ("bombs", "calls", "redirects", "unread")

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.redirects: list[Redirect] = []
        self.unread: list[str] = []
        self.bombs: list[str] = []


def read(text: str, variables: Mapping[str, str] | None = None, directory: str = "") -> Script:
    """`variables` as for a word; `directory` is where the text runs, and what a `cd` in it is relative to."""
    script = Script()
    _Reader(script, dict(variables or {}), directory, DEEPEST).read(text)
    return script


class _Reader:
    def __init__(self, script: Script, variables: dict[str, str], directory: str | None, depth: int) -> None:
        self.script = script
        self.variables = variables
        self.directory = directory
        self.depth = depth
        self.statement = 0  # the place among the calls where the last statement with a redirection begins

    def read(self, text: str) -> None:
        first = text.split(None, 1)[:1]
        if not self.depth or len(text) > LONGEST:
            self.script.unread.append(text)
        elif first and PLAIN.issuperset(text) and "=" not in first[0]:
            self._call(Call(text.split(), self.directory))  # one command, nothing quoted: no need of a grammar
        elif first:
            self._walk(text)

    def _walk(self, text: str) -> None:
        from omo.shell.grammar import parse

        # Each node with what it is in, which is slow to ask it, and where the pipe into it begins; a bare directory
        # is gone back to.
        root = parse(text)
        if root.has_error:
            self.script.unread.append(text)  # where the grammar gave up is not where the odd thing began
        left: list[tuple[Node, Node | None, int | None] | str | None] = [(root, None, None)]
        while left:
            at = left.pop()
            if at is None or isinstance(at, str):
                self.directory = at
                continue
            node, around, piped_from = at
            if node.type == "ERROR":
                continue
            self._note(node, around, piped_from)
            if node.type in OWN_PROCESS:
                left.append(self.directory)
            if node.type == "pipeline":
                left += reversed(
                    [one for part in self._piped(node, around, piped_from) for one in (part, self.directory)]
                )
            else:
                left += [(child, node, piped_from) for child in reversed(node.children)]

    def _piped(
        self, node: Node, around: Node | None, piped_from: int | None
    ) -> Iterator[tuple[Node, Node | None, int | None]]:
        begins = len(self.script.calls) if piped_from is None else piped_from
        if around is not None and around.type == "heredoc_redirect":
            begins = piped_from = self.statement  # cat <<END | sh
        for child in node.named_children:
            yield child, node, piped_from
            piped_from = begins

    def _note(self, node: Node, around: Node | None, piped_from: int | None) -> None:
        if node.type == "command":
            self._call(self._read_call(node, around, piped_from))
        elif node.type == "redirected_statement":
            self.statement = len(self.script.calls)
        elif node.type == "file_redirect":
            self._redirect(node)
        elif node.type == "variable_assignment" and around is not None and around.type != "command":
            self._assign(node)
        elif node.type == "for_statement":
            self._loop(node)
        elif node.type == "function_definition" and _is_bomb(node):
            self.script.bombs.append(source(node))

    def _read_call(self, node: Node, around: Node | None, piped_from: int | None) -> Call:
        statement = around if around is not None and around.type == "redirected_statement" else None
        nodes = _word_nodes(node, statement)
        words = [part for one in nodes for part in self._parts(one)]
        call = Call(words, self.directory, piped_from)
        given = _given(node, statement)
        call.fed = [word(one, {}) for one in given]
        inside = _inside([*nodes, *given])
        call.has_variables = any(one.type in VARIABLES for one in inside)
        inner = [one for one in inside if _is_command(one)][:MOST_INNER]
        call.inner = [[word(part, self.variables) for part in _word_nodes(one)] for one in inner]
        return call

    def _parts(self, node: Node) -> list[str]:
        """A word; several where an unquoted variable has spaces in it: `C="rm -r x"; $C`."""
        text = word(node, self.variables)
        inner = [node]
        while inner and inner[0].type in ("command_name", "concatenation") and len(inner) == 1:
            inner = inner[0].children
        is_split = any(one.type in VARIABLES for one in inner) and not isinstance(text, Unknown)
        return text.split() if is_split and text else [text]

    def _loop(self, node: Node) -> None:
        """`for F in a b`: F is `{a,b}` to whoever reads its words, as if each had been written there."""
        values = [word(one, self.variables) for one in node.children_by_field_name("value")]
        is_known = 0 < len(values) <= MOST_VALUES and not any(
            isinstance(one, Unknown) or "," in one or "{" in one for one in values
        )
        for variable in node.children_by_field_name("variable"):
            self.variables.pop(source(variable), None)
            if is_known:
                joined = ",".join(values)
                self.variables[source(variable)] = f"{{{joined}}}" if len(values) > 1 else joined

    def _call(self, call: Call) -> None:
        self.script.calls.append(call)
        words = wrappers.program(call.words)
        shell_texts = [text for stage in wrappers.stages(call.words) for text in _texts(stage)]
        if wrappers.name(words) in wrappers.SHELLS and "c" not in wrappers.shell_call(words)[0]:
            shell_texts += call.fed
        for text in shell_texts:
            _Reader(self.script, self.variables, call.directory, self.depth - 1).read(text)
        if wrappers.name(words) in ("cd", "pushd", "popd"):
            self._change_directory(words)

    def _change_directory(self, words: list[str]) -> None:
        operands = [one for one in words[1:] if one == "-" or not one.startswith("-")]
        target = operands[0] if operands else "~"
        is_known = words[0] != "popd" and target != "-" and "{" not in target and not isinstance(target, Unknown)
        if not is_known:
            self.directory = None
        elif self.directory is not None or target.startswith(("/", "~")):
            self.directory = target if target.startswith("~") else os.path.join(self.directory or "", target)

    def _redirect(self, node: Node) -> None:
        operator = next((child.type for child in node.children if not child.is_named), "")
        targets = node.children_by_field_name("destination")
        is_both = source(node).lstrip("0123456789").startswith("<>")  # the grammar takes it for a broken <
        if not targets or (">" not in operator and not is_both):
            return
        target = word(targets[0], self.variables)
        is_descriptor = operator.endswith("&") and (target.isdigit() or target.rstrip("-") == "")
        if not is_descriptor and targets[0].type != "process_substitution":
            self.script.redirects.append(Redirect(target, self.directory))

    def _assign(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        if name is None:
            return
        text = word(value, self.variables) if value is not None and value.type != "array" else None
        if text is None or isinstance(text, Unknown) or "+=" in source(node)[: len(source(name)) + 2]:
            self.variables.pop(source(name), None)
        else:
            self.variables[source(name)] = text


def _texts(words: list[str]) -> list[str]:
    split = wrappers.split_string(words)
    return [*wrappers.texts(words), *([split] if split else [])]


def _word_nodes(node: Node, statement: Node | None = None) -> list[Node]:
    """Also the words behind a redirection, which the grammar counts to that: `rm >log -r x`."""
    found = [node.child_by_field_name("name"), *node.children_by_field_name("argument")]
    for redirect in statement.children_by_field_name("redirect") if statement is not None else ():
        nested = redirect.children_by_field_name("redirect") if redirect.type == "heredoc_redirect" else [redirect]
        found += redirect.children_by_field_name("argument")
        found += [late for one in nested for late in one.children_by_field_name("destination")[1:]]
    return [one for one in found if one is not None]


def _is_command(node: Node) -> bool:
    return node.type == "command"


def _descendants(node: Node) -> Iterator[Node]:
    left = [node]
    while left:
        node = left.pop()
        yield node
        left += reversed(node.children)


def _inside(nodes: list[Node]) -> list[Node]:
    found: list[Node] = []
    for node in nodes:
        if node.child_count:
            found += [one for one, _ in zip(_descendants(node), range(MOST_INSIDE), strict=False)]
    return found


def _given(node: Node, statement: Node | None) -> list[Node]:
    """What a here-document or here-string gives this command to read."""
    holders = [node] if statement is None else [node, statement]
    redirects = [child for one in holders for child in one.children if child.type.startswith("here")]
    given = [child for redirect in redirects for child in redirect.named_children]
    return [child for child in given if child.type in READABLE]


def _is_bomb(node: Node) -> bool:
    """Calls itself into its own pipe, or into the background with nothing else to tell it from its caller."""
    called = source(node).partition("(")[0].split()[-1:]
    return any(_forks(one, called) for one in _inside([node]))


def _forks(node: Node, called: list[str]) -> bool:
    children = node.children
    own = [at for at, one in enumerate(children) if _is_command(one) and source(one).split() == called]
    is_background = any(at + 1 < len(children) and children[at + 1].type == "&" for at in own)
    return is_background or (node.type == "pipeline" and len(own) > 1)
