"""The hunks of a change: the lines of a file that differ from before, and the file with one of them as it was."""

from __future__ import annotations

import ast
import posixpath
import re
import warnings
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from omo.proof.git import LINK_MODE
from omo.proof.swap_files import File

# By the end of a name, how a line begins that is a comment. In the middle of a block it begins with its star.
HASHES = (
    *(".sh", ".bash", ".zsh", ".rb", ".pl", ".ex", ".exs", ".yml", ".yaml", ".toml", ".r", ".jl", ".tf", ".mk", ".nix"),
    *("Makefile", "Dockerfile"),
)
DASHES = (".sql", ".lua", ".hs", ".elm")
SLASHES = (
    *(".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".go", ".rs", ".c", ".h", ".cc", ".cpp", ".hpp", ".java"),
    *(".kt", ".scala", ".groovy", ".cs", ".swift", ".php", ".dart", ".proto", ".css", ".scss", ".less", ".zig"),
)
COMMENTS = {HASHES: ("#",), DASHES: ("--",), SLASHES: ("//", "/*", "*/", "* ")}
SHEBANG = b"#!"
# Of Go: what may hold the signs of a comment, which are letters, strings and directives, and then comments.
GO_TOKEN = re.compile(
    rb"""'(?:\\.|[^'\\\n])+'|"(?:\\.|[^"\\\n])*"|`[^`]*`|//(?:go:|export |line | ?\+build)[^\n]*"""
    rb"""|(?P<comment>//[^\n]*|/\*.*?\*/)""",
    re.DOTALL,
)


@dataclass(frozen=True)
class Hunk:
    """Lines that belong together; what is new at the top level of a file is a hunk of its own. `first` and `last` are
    counted in the file as it is; where lines were only removed, they stood above `first`, and `last` is one less than
    `first`. A file that is gone, binary, a link or only another mode is one hunk."""

    path: str
    first: int
    last: int
    before: tuple[str, ...]
    after: tuple[str, ...]
    reverted: File  # the file with these lines as they were, and all others as they are
    is_code: bool

    @property
    def size(self) -> int:
        return len(self.before) + len(self.after)

    @property
    def place(self) -> str:
        """As a person finds it: `src/calc.py:10-14`, from the first line that is not blank to the last."""
        if self.last < self.first:
            return f"{self.path}:{self.first} (removed)"
        written = [number for number, line in enumerate(self.after, self.first) if line.strip()]
        first, last = (written[0], written[-1]) if written else (self.first, self.last)
        return f"{self.path}:{first}" if first == last else f"{self.path}:{first}-{last}"


def hunks_of(path: str, before: File, after: File) -> list[Hunk]:
    new = after.content
    is_other_kind = before.content is not None and before.mode != after.mode
    if new is None or is_other_kind or after.mode == LINK_MODE or b"\0" in (before.content or b"") + new:
        return [_whole(path, before, after)]
    old_lines, new_lines = (before.content or b"").splitlines(keepends=True), new.splitlines(keepends=True)
    ranges = _differing(old_lines, new_lines)
    if before.content is None and len(ranges) < 2:
        return [_whole(path, before, after)]
    found = []
    for start, end, old_start, old_end in ranges:
        kept = [*new_lines[:start], *old_lines[old_start:old_end]]
        if new_lines[end:] and kept and not kept[-1].endswith((b"\n", b"\r")):
            kept.append(b"\n")  # what ended the file without one does not any more
        reverted = File(b"".join([*kept, *new_lines[end:]]), after.mode)
        removed, added = _text(old_lines[old_start:old_end]), _text(new_lines[start:end])
        is_code = _is_code(path, new, reverted.content or b"", (*removed, *added))
        found.append(Hunk(path, start + 1, end, removed, added, reverted, is_code))
    return found


def _whole(path: str, before: File, after: File) -> Hunk:
    removed, added = _text((before.content or b"").splitlines()), _text((after.content or b"").splitlines())
    return Hunk(path, 1, len(added), removed, added, before, is_code=True)


class Range(NamedTuple):
    """Lines that differ, in the new file and in the old one."""

    start: int
    end: int
    old_start: int
    old_end: int


def _differing(old: list[bytes], new: list[bytes]) -> list[Range]:
    """Where lines differ. Only blank lines between two make them one, and new definitions part them again."""
    differing: list[Range] = []
    for kind, old_start, old_end, start, end in SequenceMatcher(None, old, new).get_opcodes():
        if kind == "equal":
            continue
        if differing and not b"".join(new[differing[-1].end : start]).strip():
            differing[-1] = differing[-1]._replace(end=end, old_end=old_end)
        else:
            differing.append(Range(start, end, old_start, old_end))
    parts: list[Range] = []
    for number, found in enumerate(differing):
        behind = differing[number + 1].start if differing[number + 1 :] else len(new)
        parts += _parted(found, old, new, behind)
    return parts


def _parted(found: Range, old: list[bytes], new: list[bytes], behind: int) -> list[Range]:
    """What was there before is the first part's: where that was more than one definition, nobody can tell which of the
    new ones took its place. Up to `behind` no other line differs."""
    start, end, old_start, old_end = found
    cuts = _definitions(new, start, end)
    if not cuts or _definitions(old, old_start, old_end):
        return [found]
    # The end of what stands before the new definitions was taken for theirs: a brace is like another.
    alike = min(cuts[0] - start, behind - end)
    while new[cuts[0] - alike : cuts[0]] != new[end : end + alike]:
        alike -= 1
    parts = [Range(start, cuts[0] - alike, old_start, old_end)]
    old_end += alike
    for first, last in zip(cuts, [*cuts[1:], end + alike], strict=True):
        parts.append(Range(first, last, old_end, old_end))
    return [part for part in parts if part.start < part.end or part.old_start < part.old_end]


def _definitions(lines: list[bytes], start: int, end: int) -> list[int]:
    """Where something begins at the top level, behind a blank line and behind other code of the range."""
    begins = []
    for number in range(start + 1, end):
        at_top = lines[number][:1] not in (b" ", b"\t", b"\n", b"\r", b"", b")", b"]", b"}")
        if at_top and not lines[number - 1].strip() and b"".join(lines[start:number]).strip():
            begins.append(number)
    return begins


def _text(lines: list[bytes]) -> tuple[str, ...]:
    return tuple(line.decode("utf-8", "replace").rstrip("\r\n") for line in lines)


def _is_code(path: str, after: bytes, reverted: bytes, lines: tuple[str, ...]) -> bool:
    """Not where the file means the same either way: comments and blanks, and the docstrings of Python."""
    if path.endswith((".py", ".pyi")):
        return _meaning(after) is None or _meaning(after) != _meaning(reverted)
    written = [line.strip() for line in lines if line.strip()]
    signs: tuple[str, ...] = ()
    for ends, of_language in COMMENTS.items():
        if posixpath.basename(path).endswith(ends):
            signs = of_language
    if after.startswith(SHEBANG) != reverted.startswith(SHEBANG):
        return True
    return not all(signs and (line.startswith(signs) or line == "*") for line in written)


def is_same_code(path: str, before: File, after: File) -> bool:
    """Return whether a file of Python or Go does what it did: other comments, blanks and docstrings at most. Of other
    languages only a parser could tell, so it is False."""
    if before.mode != after.mode or after.mode == LINK_MODE or before.content is None or after.content is None:
        return False
    if path.endswith(".go"):
        return b'"C"' not in after.content and _go_code(before.content) == _go_code(after.content)
    meaning = _meaning(after.content) if path.endswith((".py", ".pyi")) else None
    return meaning is not None and meaning == _meaning(before.content)


def _go_code(content: bytes) -> tuple[list[list[bytes]], list[bytes]]:
    """The words of each line of Go, and the strings in them; without comments that its compiler reads over."""
    strings: list[bytes] = []

    def without_comment(found: re.Match[bytes]) -> bytes:
        if found["comment"] is not None:
            return b"\n" if b"\n" in found[0] else b" "
        strings.append(found[0])
        return b"\0"

    lines = GO_TOKEN.sub(without_comment, content).split(b"\n")
    return [line.split() for line in lines if line.strip()], strings


def _meaning(content: bytes) -> str | None:
    """A module of Python without what its interpreter does not run; None where it is none. An example in a docstring
    is run by doctest."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(module):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            docstring = ast.get_docstring(node, clean=False)
            if docstring is not None and ">>>" not in docstring:
                node.body[:1] = []
    return ast.dump(module)
