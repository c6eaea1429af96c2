"""The operands that xargs and find give to the command they run, as far as the text says which."""

from __future__ import annotations

from omo.shell import Unknown, name
from omo.ultrawork.arguments import before, letters, operands, option
from omo.ultrawork.fence import TREE
from omo.ultrawork.shell_writes import found_by, git_verb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omo.shell import Call

READS_PIPE = ("xargs", "parallel")
FILTERS = ("head", "tail", "sort", "uniq", "grep", "egrep", "fgrep", "tee", "shuf", "tac", "cat")
HOLE = "{}"
MOST_GIVEN = 50


class Given(str):
    """An operand that stands for what is found below it; `what` as for a write."""

    what: str


class Unseen(str):
    """An operand that comes out of a pipe and stands nowhere."""

    __slots__ = ()


def filled(words: list[str], outer: Sequence[list[str]], upstream: Sequence[Call]) -> list[list[str]]:
    """The command once for each operand it is given; as it stands where nobody gives it any."""
    runner = next((one for one in reversed(outer) if name(one) in (*READS_PIPE, "find")), None)
    if runner is None or ":::" in words:
        return [words]
    if name(runner) == "find":
        hole, operand = HOLE, _found(runner)
    else:
        own = runner[: len(runner) - len(words)]
        hole, operand = hole_of(own), _produced(upstream)
    return [_fill(words, hole, one) for one in operand[:MOST_GIVEN]]


def hole_of(options: list[str]) -> str:
    """What xargs -I replaces, empty where it puts its operands at the end."""
    named = option(options, "I", "--replace", "nPLdEsa")
    return named[0] if named else HOLE if "i" in letters(options, "nPLdEsa") or "--replace" in options else ""


def _fill(words: list[str], hole: str, operand: str) -> list[str]:
    if not hole:
        return [*words, operand]
    return [operand if one == hole else one.replace(hole, operand) for one in words]


def _produced(upstream: Sequence[Call]) -> list[str]:
    """What the pipe prints; filters only leave some of it out."""
    left = [one.words for one in upstream]
    while left and name(left[-1]) in FILTERS and not (name(left[-1]) == "grep" and _grep(left[-1])):
        left.pop()
    read = PRODUCERS.get(name(left[-1])) if left else None
    found = read(left[-1]) if read else []
    return [Unseen("…") if isinstance(one, Unknown) else one for one in found] or [Unseen("…")]


def _found(words: list[str]) -> list[str]:
    return [_given(path, what) for path, what in found_by(words)]


def _given(path: str, what: str) -> str:
    found = Given(path)
    found.what = what
    return found


def _printed(words: list[str]) -> list[str]:
    return [part for one in words[1:] if not one.startswith("-") and "%" not in one for part in one.split()]


def _listed(words: list[str]) -> list[str]:
    """`ls a/*.pyc` prints what it is given; of a directory it prints names that are relative to it."""
    paths = operands(words)
    return paths if paths and all(any(sign in one for sign in "*?[.") and one != "." for one in paths) else []


def _grep(words: list[str]) -> list[str]:
    is_given = bool(option(words, "e", "--regexp") or option(words, "f", "--file"))
    paths = operands(words, ("-e", "-f", "-A", "-B", "-C", "-m", "-g", "-t", "--include", "--exclude"))
    is_list = "l" in letters(words, "efABCmgt") or "--files-with-matches" in words
    return [_given(one, TREE) for one in paths[0 if is_given else 1 :]] if is_list else []


def _git(words: list[str]) -> list[str]:
    options, verb = git_verb(words)
    if options or verb[:1] not in (["ls-files"], ["diff"], ["grep"]):
        return []
    paths = verb[verb.index("--") + 1 :] if "--" in verb else operands(verb) if verb[0] == "ls-files" else []
    return [_given(_before_glob(one), TREE) for one in paths]


def _before_glob(path: str) -> str:
    """git's `*` goes through directories: of `a/b*/c` all of a."""
    known = before(path, "*?[")
    return path if known == path else known.rpartition("/")[0] or "."


PRODUCERS: dict[str, Callable[[list[str]], list[str]]] = {
    "find": _found,
    **dict.fromkeys(("echo", "printf"), _printed),
    "ls": _listed,
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg"), _grep),
    "git": _git,
}
