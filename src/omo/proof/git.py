"""The one way git is asked: hardened, bounded in time and output, and held to the project's own repository.

No configuration may name a program to start, make git look away, or speak of another place. Hooks ask too, so only
what they have loaded anyway is imported here; several commands can run at once.
"""

from __future__ import annotations

import os
import select
import time

from omo import safe_open
from omo.deadline import end_of
from omo.errors import NotEvaluable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SECONDS = 60.0  # of one git; in a hook all of them share its deadline
MOST_OUTPUT = 64_000_000
MOST_ERRORS = 10_000
SMALLEST_PIPE = 4096  # bytes that every system lets lie in one

# safe.directory: what is asked runs nothing of the repository's, so whose it is does not matter here.
_SETTINGS = {
    "advice.graftFileDeprecated": "false",
    "core.commitGraph": "false",
    "core.excludesFile": os.devnull,
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.untrackedCache": "false",
    "core.trustctime": "true",
    "core.checkStat": "default",
    "core.ignoreStat": "false",
    "diff.autoRefreshIndex": "false",  # a look writes nothing; `differences.py` sees which files were only touched
    "safe.directory": "*",
}
COMMAND = ("git", "--literal-pathspecs", *(part for item in _SETTINGS.items() for part in ("-c", "=".join(item))))
ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "HOME": os.devnull,
    "LC_ALL": "C",
    "XDG_CONFIG_HOME": os.devnull,
}
SETTINGS = (
    *("config", "-z", "--get-regexp"),
    r"^(core\.(filemode|autocrlf|eol|attributesfile)|filter\..*\.(clean|smudge|process|required))$",
)
# Programs, other files of configuration, and how contents are converted.
SAYS_MORE = ("filter", "include", "worktreeconfig", "autocrlf", "eol", "attributesfile")
LARGEST_CONFIGURATION = 1_000_000
HEAD = ("--verify", "--quiet", "HEAD^{commit}")
LARGEST_REF = 4096
COMMIT_LENGTHS = (40, 64)
# What git calls a tree without files, by how a repository names what it holds.
EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
HEX = frozenset("0123456789abcdef")
_EMPTY = {
    "HEAD": "ref: refs/heads/none\n",
    "config": "[core]\n\tprotectNTFS = false\n\tprotectHFS = false\n",
    "info/attributes": "* -text !crlf !eol !ident !filter !working-tree-encoding\n",
}
_PASSED_ON = ("PATH", "TMPDIR")
# Paths in which two commits differ, whatever the configuration says of how they are shown. Not for the files that lie
# here: it would name those that were only touched, see `differences.py`.
DIFF = (
    *("diff", "--name-only", "-z", "--no-renames", "--relative", "--no-ext-diff", "--no-textconv"),
    "--ignore-submodules=none",
)
# What a file is, as the digests of files begin.
LINK_MODE, FILE_MODE, PROGRAM_MODE = "l", "f", "x"


class TookTooLong(NotEvaluable):
    """Git did not answer in time, so nothing is known."""

    code = "took-too-long"

    def __init__(self, verb: str) -> None:
        super().__init__(f"git took too long ({verb})", fix="time git status")


class GitAnswer:
    """What git printed. `code` is None where it could not be started."""

    def __init__(self, code: int | None, output: bytes, errors: bytes) -> None:
        self.code = code
        self.output = output
        self.errors = errors

    @property
    def ok(self) -> bool:
        return self.code == 0

    @property
    def text(self) -> str:
        return self.output.decode("utf-8", "replace")

    @property
    def lines(self) -> list[str]:
        """What was separated by NUL: paths as Python names files, also those that are no text."""
        return os.fsdecode(self.output).split("\0")[:-1]


def ask(root: str | os.PathLike[str], *arguments: str, stdin: bytes = b"") -> str:
    """What git prints, whole. Raises NotEvaluable where it fails or prints more than is kept."""
    return require(run(root, *arguments, stdin=stdin), arguments[0]).text


def lines(root: str | os.PathLike[str], *arguments: str, stdin: bytes = b"") -> list[str]:
    return require(run(root, *arguments, stdin=stdin), arguments[0]).lines


def run(root: str | os.PathLike[str], *arguments: str, stdin: bytes = b"") -> GitAnswer:
    """However git ends; only no answer at all raises."""
    return start(root, arguments, stdin=stdin).answer()


def require(answer: GitAnswer, verb: str) -> GitAnswer:
    if answer.ok:
        return answer
    why = answer.errors.decode("utf-8", "replace").strip() or "no answer"
    raise NotEvaluable(f"git {verb} failed: {why}", fix="git status")


def start(
    root: str | os.PathLike[str],
    arguments: Sequence[str],
    *,
    stdin: bytes = b"",
    repository: Mapping[str, str] | None = None,
) -> Process:
    """`repository` is the environment that names another one than the root's own."""
    where = os.fspath(root)
    environ = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    environ.update(ENVIRONMENT)
    environ.update(own_repository(where) if repository is None else repository)
    return Process([COMMAND[0], "-C", where, *COMMAND[1:], *arguments], environ, stdin, _verb(arguments))


def _verb(arguments: Sequence[str]) -> str:
    """What git is asked to do, behind its options: each but `-c` is one word."""
    words = iter(arguments)
    for word in words:
        if word == "-c":
            next(words)
        elif not word.startswith("-"):
            return word
    return ""


def own_repository(root: str) -> dict[str, str]:
    """Holds git to the repository at the root, if any: it would take an outer one where that is damaged, and its
    configuration could name another work tree."""
    top = os.path.abspath(root)
    own = os.path.join(top, ".git")
    if not os.path.lexists(own):
        return {}
    return {"GIT_DIR": own, "GIT_WORK_TREE": top}


def sorted_out(answer: GitAnswer) -> tuple[list[str], list[str], list[str]]:
    """Of `ls-files -v`: what is tracked, what is not, and of the tracked what git is told not to look at."""
    tracked, untracked, flagged = [], [], []
    for line in answer.lines:
        flag, path = line[0], line[2:].rstrip("/")
        if flag == "?":
            untracked.append(path)
        else:
            tracked.append(path)
        if flag.islower() or flag == "S":
            flagged.append(path)
    return tracked, untracked, flagged


def blobs(root: str | os.PathLike[str], names: Sequence[str]) -> list[bytes | None]:
    """What each name (an id, or REVISION:PATH) stands for, in one process; None for what is no file there."""
    if not names:
        return []
    if len(names) == 1 or any("\n" in name for name in names):
        answers = [run(root, "cat-file", "blob", name) for name in names]
        return [answer.output if answer.ok else None for answer in answers]
    questions = os.fsencode("".join(f"{name}\n" for name in names))
    output = require(run(root, "cat-file", "--batch", stdin=questions), "cat-file").output
    contents: list[bytes | None] = []
    start = 0
    for _ in names:
        end = output.index(b"\n", start)
        about = output[start:end].split(b" ")  # id, type and size; or what was asked for, and that it is missing
        start = end + 1
        if about[-1] == b"missing":
            contents.append(None)
            continue
        size = int(about[-1])
        contents.append(output[start : start + size] if about[-2] == b"blob" else None)
        start += size + 1
    return contents


def committed(root: str, head: str, paths: Sequence[str]) -> dict[str, bytes]:
    """What files held in a commit; those that were not in it are left out."""
    contents = {}
    for path, content in zip(paths, blobs(root, [f"{head}:./{path}" for path in paths]), strict=True):
        if content is not None:
            contents[path] = content
    return contents


def entries(root: str, head: str) -> dict[str, str]:
    """The files of a commit below the root, each with mode, type and id. Raises NotEvaluable without such a commit."""
    if (root, head) not in _entries:  # a commit does not change, and is read once
        about_of = {}
        for line in lines(root, "ls-tree", "-r", "-z", head):
            about, _, path = line.partition("\t")
            about_of[path] = about
        _entries[root, head] = about_of
    return _entries[root, head]


_entries: dict[tuple[str, str], dict[str, str]] = {}


def empty_tree(commit: str) -> str:
    """Return the id of a tree without files in the repository of a commit."""
    return EMPTY_TREES["sha1" if len(commit) == COMMIT_LENGTHS[0] else "sha256"]


def place_of_repository(root: str) -> str:
    """Where one can be, seen from the root: at it (`.`) or above; empty for none. Only git knows if it is whole."""
    start = os.path.realpath(root)
    place, above = "", start
    while place != above:
        place, above = above, os.path.dirname(above)
        if os.path.lexists(os.path.join(place, ".git")):
            return os.path.relpath(place, start)
    return ""


def head(root: str) -> str:
    """The commit that is checked out; empty where there is none."""
    if commit := plain_head(os.path.join(root, ".git")):
        return commit
    answer = run(root, "rev-parse", *HEAD)
    return answer.text.strip() if answer.ok else ""


def plain_head(directory: str) -> str:
    """The same where it stands in a file, so that no process has to be started; else empty."""
    if os.path.lexists(os.path.join(directory, "commondir")):
        return ""
    try:
        text = safe_open.read_file(os.path.join(directory, "HEAD"), LARGEST_REF).decode("ascii")
        if text.startswith("ref: refs/"):
            branch = text.removeprefix("ref: ").rstrip("\n")
            text = safe_open.read_file(os.path.join(directory, branch), LARGEST_REF).decode("ascii")
    except (OSError, ValueError):
        return ""  # a worktree, refs that are packed, no commit yet
    commit = text.removesuffix("\n")
    return commit if len(commit) in COMMIT_LENGTHS and HEX.issuperset(commit) else ""


class GitSettings:
    """What of a repository's configuration makes git see files otherwise than they are.

    `file_mode` says whether it looks at the executable bit, `conversions` how it reads and writes contents ("the base
    with other line ends, by a setting of git's"). `as_they_are` are options by which it takes files as they are on the
    disk and starts no program of a filter: configuration is anybody's to write. Files of such a filter (git-lfs,
    git-crypt) then differ from the commit, and are told apart by what they hold.
    """

    def __init__(self, entries: Sequence[str]) -> None:
        self.file_mode = "true"
        self.conversions: list[str] = []
        drivers = {}
        for entry in entries:
            name, _, value = entry.partition("\n")
            if name.startswith("filter."):
                drivers[name.rpartition(".")[0]] = True
            elif name != "core.filemode":
                self.conversions.append(entry)
            else:
                self.file_mode = "true" if value.lower() in ("", "true", "yes", "on", "1") else "false"
        self.as_they_are: list[str] = []
        for driver in drivers:
            for end in ("clean=", "smudge=", "process=", "required=false"):
                self.as_they_are += ["-c", f"{driver}.{end}"]


def settings(root: str | os.PathLike[str]) -> GitSettings:
    """Read here where the file is plain, as every look needs it; else git is asked."""
    plain = _plain_settings(os.path.join(root, ".git"))
    return GitSettings(run(root, *SETTINGS).lines if plain is None else plain)


def _plain_settings(directory: str) -> list[str] | None:
    """What SETTINGS would print; None where more than the lines of this one file may count."""
    try:
        text = safe_open.read_file(os.path.join(directory, "config"), LARGEST_CONFIGURATION).decode().lower()
    except (OSError, ValueError):
        return None
    if os.path.lexists(os.path.join(directory, "commondir")) or any(word in text for word in SAYS_MORE):
        return None
    entries = []
    for line in text.split("\n"):
        name, _, value = line.partition("=")
        if name.strip() == "filemode" and value.strip() in ("true", "false"):
            entries.append(f"core.filemode\n{value.strip()}")
    return entries if len(entries) == text.count("filemode") else None


def make_repository(directory: str) -> None:
    """A repository of our own with nothing in it: whatever the project's own says, git converts no content there and
    refuses no name."""
    for name in ("objects", "refs", "info"):
        os.makedirs(os.path.join(directory, name))
    for name, text in _EMPTY.items():
        with open(os.path.join(directory, name), "w", encoding="ascii") as file:
            file.write(text)


class Process:
    """A git at work. The library for it would cost a hook 8 ms to load."""

    def __init__(self, argv: list[str], environ: Mapping[str, str], stdin: bytes, verb: str) -> None:
        self._answer: GitAnswer | None = None
        self._verb = verb
        self._end = end_of(SECONDS)
        if self._end <= time.monotonic():
            raise TookTooLong(verb)
        feed = _feed(stdin)
        output, output_end = os.pipe()
        errors, errors_end = os.pipe()
        actions = [
            (os.POSIX_SPAWN_DUP2, feed, 0),
            (os.POSIX_SPAWN_DUP2, output_end, 1),
            (os.POSIX_SPAWN_DUP2, errors_end, 2),
        ]
        try:
            # A group of its own, so that whatever it starts ends with it.
            self._pid = os.posix_spawnp(argv[0], argv, environ, file_actions=actions, setpgroup=0)
        except OSError:
            self._answer = GitAnswer(None, b"", b"")
            os.close(output)
            os.close(errors)
        for descriptor in (feed, output_end, errors_end):
            os.close(descriptor)
        self._pipes: tuple[int, ...] = (output, errors)

    def answer(self) -> GitAnswer:
        """Raises NotEvaluable where git does not answer in time, or prints more than is kept."""
        if self._answer is None:
            self._answer = self._finish()
        return self._answer

    def end(self) -> None:
        """Ends it, where nobody waits for its answer any more."""
        if self._answer is None and self._pipes:
            self._close()
            self._kill()

    def _close(self) -> None:
        for pipe in self._pipes:
            os.close(pipe)
        self._pipes = ()

    def _kill(self) -> None:
        os.killpg(self._pid, 9)
        os.waitpid(self._pid, 0)

    def _finish(self) -> GitAnswer:
        kept: dict[int, list[bytes]] = {pipe: [] for pipe in self._pipes}
        readable = select.poll()
        for pipe in self._pipes:
            readable.register(pipe, select.POLLIN)
        pending = set(self._pipes)
        left = MOST_OUTPUT
        status = None
        try:
            while pending and left > 0:
                # What it has printed by the end is read, though somebody else was waited for meanwhile.
                ready = readable.poll(max(0.0, self._end - time.monotonic()) * 1000)
                if not ready:
                    break
                for pipe, _ in ready:
                    piece = os.read(pipe, 1 << 16)
                    if piece:
                        kept[pipe].append(piece)
                        left -= len(piece)
                    else:
                        readable.unregister(pipe)
                        pending.remove(pipe)
            if not pending:
                _, status = os.waitpid(self._pid, 0)
        finally:
            self._close()
            if status is None:
                self._kill()
        if left <= 0:
            raise NotEvaluable(f"git {self._verb} lists more than {MOST_OUTPUT} bytes", fix="git status")
        if status is None:
            raise TookTooLong(self._verb)
        output, errors = (b"".join(pieces) for pieces in kept.values())
        return GitAnswer(os.waitstatus_to_exitcode(status), output, errors[:MOST_ERRORS])


def _feed(content: bytes) -> int:
    """Something to read it from. What every pipe holds at once needs no file."""
    try:
        if not content:
            return os.open(os.devnull, os.O_RDONLY)
        if len(content) <= SMALLEST_PIPE:
            feed, entry = os.pipe()
            try:
                os.write(entry, content)
            finally:
                os.close(entry)
            return feed

        import tempfile

        with tempfile.TemporaryFile() as file:
            file.write(content)
            file.seek(0)
            return os.dup(file.fileno())
    except OSError as error:
        raise NotEvaluable(f"there is no room for what git is asked: {error.strerror}", fix="free some space") from None
