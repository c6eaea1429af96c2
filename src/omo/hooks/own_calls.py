"""The `omo` calls that nobody need be asked about while a run is on: those that look, or run what is pinned.

Everything else is the host's to ask about. In doubt a call is not on the list: the user is asked, and nothing is lost.
"""

from __future__ import annotations

import os

from omo import safe_open, table
from omo.errors import NotEvaluable
from omo.state import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.hooks.main import World
    from omo.hosts import Event

# Each command with the options that leave it what it is; one that ends in = takes a value.
CALLS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("next",): (),
    ("status",): ("--all",),
    ("report",): ("--md", "--run="),  # below our own state, or on stdout
    ("explain", "stop"): (),
    ("ledger", "verify"): (),
}
# Of these, what needs the project's files as they are.
NEED_THE_FILES: tuple[tuple[str, ...], ...] = ()
for workflow in table.ROWS:
    CALLS |= workflow.looks
    NEED_THE_FILES += workflow.needs_files
MOST_WORDS = max(map(len, CALLS))
LARGEST_LAUNCHER = 4096
ANYWHERE = ("--json", "--help", "-h")
PLAIN = paths.SAFE_ID | frozenset("./:,@+")  # what every shell takes as it stands
EXPANDED = frozenset("$`\\!")  # also between double quotes


def may_run(event: Event, world: World) -> bool:
    """One plain call of our own program, in this session's project, that is on the list."""
    words = words_of(event.command)
    if words[:1] != ["omo"] or not _is_listed(words[1:]):
        return False
    if is_done(words) and runs_found_tests(event, world):
        return False  # a command that nobody pinned: the host asks, as it does for `omo gate add`
    here = paths.project_root({}, event.directory)  # elsewhere, somebody else may have written what is pinned
    if os.path.realpath(here) != os.path.realpath(world.root):
        return False
    return _is_ours(world.environ.get("PATH", ""), event)


def is_done(words: list[str]) -> bool:
    """`omo ulw done`, which runs gates; with a reason of the agent's own only those that are pinned."""
    return words[:3] == ["omo", "ulw", "done"] and not any(word.startswith(("--because", "--skip")) for word in words)


def runs_found_tests(event: Event, world: World) -> str:
    """The project's own test commands that `omo ulw done` would run and nobody has pinned yet."""
    if world.found_tests is None:
        world.found_tests = _found_tests(event, world)
    return world.found_tests


def _found_tests(event: Event, world: World) -> str:
    from omo.proof import base, kept_commands, own_commands, typed_commands
    from omo.work import gates

    known = gates.current(world.state, event.session, world.row())
    head = (known.base or {}).get("head")
    here = paths.session_directory(world.environ, event.project)
    found = []
    try:
        look = base.look(world.root, known.base)
        for check in known.project_tests(world.root, world.state, here, look):
            if not any(own_commands.covers(world.root, head, gate.argv, gate.cwd, check) for gate in known):
                others = kept_commands.others_in_words(check)
                instead = f", else {others}" if others else ""
                found.append(f"{typed_commands.typed(check.argv)} ({check.found_in}){instead}")
    except NotEvaluable:  # git took too long, so the host asks
        return "the project's own tests"
    return ", ".join(found)


def only_looks(words: list[str]) -> bool:
    """`omo WORDS` changes nothing and runs nothing, however the project's files stand."""
    return _is_listed(words) and tuple(words[:2]) not in NEED_THE_FILES


def words_of(text: str) -> list[str]:
    """The words of one command that a shell takes as they stand; none where it would do more with any of them."""
    if not text.isprintable():
        return []
    words = []
    rest = text.strip(" ")
    while rest:
        if rest[0] in "'\"":
            quote = rest[0]
            word, closing, rest = rest[1:].partition(quote)
            if not closing or (quote == '"' and not EXPANDED.isdisjoint(word)):
                return []
            if rest and rest[0] != " ":
                return []
        else:
            word, _, rest = rest.partition(" ")
            if not PLAIN.issuperset(word):
                return []
        words.append(word)
        rest = rest.lstrip(" ")
    return words


def _is_listed(words: list[str]) -> bool:
    for length in range(MOST_WORDS, 0, -1):
        options = CALLS.get(tuple(words[:length]))
        if options is not None:
            return _has_only(words[length:], options)
    return False


def _has_only(words: list[str], options: tuple[str, ...]) -> bool:
    rest = iter(words)
    for word in rest:
        if word == "--" and word in options:
            return True
        if word + "=" in options:
            if next(rest, "-").startswith("-"):
                return False
        elif word.startswith("-") and word not in (*options, *ANYWHERE):
            return False
    return True


def _is_ours(path: str, event: Event) -> bool:
    """The host puts our program behind everything on the user's PATH: whatever is called omo there comes first."""
    ours = os.path.realpath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3, "bin", "omo"))
    for place in path.split(os.pathsep):
        program = os.path.join(event.directory, place, "omo")
        if os.access(program, os.X_OK) and not os.path.isdir(program):
            return os.path.realpath(program) == ours or _is_launcher(program)
    return True


def _is_launcher(program: str) -> bool:
    """The script that `omo setup path` writes, word for word but for where the plugin was when it did."""
    from omo.hosts import launcher

    before, _, after = launcher.script().partition("ROOT")
    try:
        text = safe_open.read_start(program, LARGEST_LAUNCHER, follow_link=True)[0].decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    # One word: else what stands there could be a program. test_the_omo_that_setup_put_on_the_users_path_is_ours in
    # tests/hooks/test_own_calls.py.
    where = text.removeprefix(before).removesuffix(after)
    return before + where + after == text and len(words_of(where)) == 1
