"""One word of a command: its quotes resolved, and what only the shell knows marked as such."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tree_sitter import Node

SIMPLE_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "E": "\x1b", "a": "\a", "b": "\b", "\n": ""}
CODED_ESCAPES = {"x": (16, 2), "u": (16, 4), "U": (16, 8)}
VARIABLES = ("simple_expansion", "expansion")
SUBSTITUTIONS = ("command_substitution", "process_substitution")
EXPANSIONS = (*VARIABLES, *SUBSTITUTIONS, "arithmetic_expansion")


class Unknown(str):
    """A word as written, because an expansion in it only the running shell can resolve."""

    __slots__ = ()

    @property
    def known_start(self) -> str:
        """What stands before the first expansion."""
        return self[: min((self.find(sign) for sign in ("$", "`", "<(", ">(") if sign in self), default=len(self))]


def word(node: Node, variables: Mapping[str, str]) -> str:
    """`variables`: what is known of names (`HOME`), and of whole expansions as written (`$(pwd)`)."""
    pieces = list(_pieces(node, variables))
    joined = "".join(pieces)
    return Unknown(joined) if any(isinstance(piece, Unknown) for piece in pieces) else joined


def source(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _pieces(node: Node, variables: Mapping[str, str]) -> Iterator[str]:
    if node.type in ("command_name", "concatenation"):
        for child in node.children:
            yield from _pieces(child, variables)
    elif node.type in EXPANSIONS:
        text = source(node)
        value = variables.get(_plain_name(text))
        yield Unknown(text) if value is None else value
    elif node.type in ("string", "translated_string"):
        yield from _in_double_quotes(node, variables)
    else:
        read = LITERALS.get(node.type)
        yield read(source(node)) if read else source(node)


def _plain_name(text: str) -> str:
    """`$HOME` and `${HOME}` → `HOME`; anything more stays as it is."""
    inner = text[2:-1] if text.startswith("${") else text[1:]
    return inner if inner.isidentifier() else text


def _in_double_quotes(node: Node, variables: Mapping[str, str]) -> Iterator[str]:
    text = node.text or b""
    at = text.index(b'"') + 1
    for child in node.children:
        if child.type in EXPANSIONS:
            begins = child.start_byte - node.start_byte
            yield _between(text[at:begins])
            yield from _pieces(child, variables)
            at = child.end_byte - node.start_byte
    yield _between(text[at:-1])


def _between(text: bytes) -> str:
    return _without_backslashes(text.decode("utf-8", "replace"), only='$`"\\\n')


def _without_backslashes(text: str, only: str = "") -> str:
    """Each `\\x` is x, and a line that goes on in the next is one. `only`: the letters that can be escaped here."""
    first, *parts = text.split("\\")
    out = [first]
    is_escaped = False  # the part before was empty: an escaped backslash
    for part in parts:
        if is_escaped:
            out.append(part)
            is_escaped = False
        elif not part:
            out.append("\\")
            is_escaped = True
        else:
            keeps = bool(only) and part[0] not in only
            out.append("\\" + part if keeps else part.removeprefix("\n"))
    return "".join(out)


def _in_ansi_quotes(text: str) -> str:
    first, *parts = text[2:-1].split("\\")
    out = [first]
    is_escaped = False
    for part in parts:
        if is_escaped or not part:
            out.append(part if is_escaped else "\\")
            is_escaped = not is_escaped
        else:
            out.append(_ansi(part))
    return "".join(out)


def _ansi(part: str) -> str:
    """What follows one backslash: `x72m` → `rm`, `162m` → `rm`, `nx` → a new line and x."""
    base, longest = CODED_ESCAPES.get(part[0], (8, 3))
    digits = part[1:] if part[0] in CODED_ESCAPES else part
    length = 0
    while length < min(longest, len(digits)) and digits[length] in "0123456789abcdefABCDEF"[: 8 if base == 8 else None]:
        length += 1
    if length:
        code = int(digits[:length], base)
        return (chr(code) if code < 0x110000 else "") + digits[length:]
    return SIMPLE_ESCAPES.get(part[0], part[0]) + part[1:]


LITERALS: dict[str, Callable[[str], str]] = {
    "word": _without_backslashes,
    "raw_string": lambda text: text[1:-1],
    "ansi_c_string": _in_ansi_quotes,
}
