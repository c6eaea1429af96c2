"""Where everything is. One function per file; hooks and CLI share them, so they cannot look in two places."""

from __future__ import annotations

import os

from omo import hosts, table
from omo.digest import sha256
from omo.state import STATE_DIR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

EVIDENCE_DIR = os.path.join(".sisyphus", "evidence")  # the project's own: what its goals were proven with
SAFE_ID = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
LONGEST_ID = 96
MOST_WORKTREES = 100
# Variables by which the user says where omo's files are. A client's settings in the project can set them, too.
NAME_PLACES = ("OMO_STATE_DIR", "OMO_ENV_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
PINS = "verify/pins"  # of the checks of every workflow
# Ledgers that belong to no session and to no run, by their directories.
SHARED_LEDGERS = ["evidence", PINS]
for row in table.ROWS:
    SHARED_LEDGERS += [row.claims] if row.claims else []


def project_root(environ: Mapping[str, str], cwd: str) -> str:
    """The directory that holds (or would hold) our state: the nearest that already does, else the git top level.

    A repository is a project of its own: state above it, say in a home directory, belongs to something else.
    """
    start = _start(environ, cwd)
    ancestors = _upwards(start)
    top = git_top_level(ancestors)
    for directory in ancestors[: ancestors.index(top) + 1 if top else None]:
        if os.path.isdir(os.path.join(directory, STATE_DIR)):
            return directory
    return top or start


def session_directory(environ: Mapping[str, str], cwd: str) -> str:
    """Where in the project the session is, as a path below its root; the root itself for what lies outside."""
    root = project_root(environ, cwd)
    below = os.path.relpath(_start(environ, cwd), root)
    return "." if below.split(os.sep)[0] == ".." else below


def _start(environ: Mapping[str, str], cwd: str) -> str:
    return os.path.abspath(environ.get("OMO_PROJECT_DIR") or hosts.project_of(environ) or cwd or ".")


def top_of(root: str) -> str:
    """Return the directory that a clone fills: the top level of git around a project, or the project itself."""
    return git_top_level(_upwards(root)) or root


def is_inside(path: str, directory: str) -> bool:
    """Return whether a path is the directory or lies below it, links followed."""
    below = os.path.join(os.path.realpath(directory), "")
    return os.path.join(os.path.realpath(path), "").startswith(below)


def may_name(path: str, root: str, top: str = "") -> bool:
    """Return whether a variable may name this place: what is relative or in the project is the clone's to choose. A
    project that is the user's home, or all there is, is no clone. `top` is `top_of(root)`, if that is known."""
    if not os.path.isabs(path):
        return False
    top = top or top_of(root)
    return not is_inside(path, top) or top == os.sep or _is_system_home(top)


def home_of(environ: Mapping[str, str], root: str, top: str = "") -> str:
    """Return the user's home directory; empty where there is none. A client's settings can name one in the project: it
    counts only if the system says that it is the user's, who may work in their home."""
    home = environ.get("HOME") or ""
    if not os.path.isabs(home) or not os.path.isdir(home):
        return ""
    return home if may_name(home, root, top) or _is_system_home(home) else ""


def _is_system_home(home: str) -> bool:
    import pwd

    try:
        return os.path.samefile(home, pwd.getpwuid(os.getuid()).pw_dir)
    except (KeyError, OSError):
        return False


def ignored_variables(environ: Mapping[str, str], root: str) -> list[str]:
    """Return the variables that name a place which a clone could have chosen."""
    return [name for name in NAME_PLACES if environ.get(name) and not may_name(environ[name], root)]


def git_top_level(ancestors: list[str]) -> str | None:
    """The nearest top level, but for that of a submodule, which belongs to the repository around it.

    An empty `.git` is none: sandboxes leave one behind where nobody may make it a repository.
    """
    for directory in ancestors:
        marker = os.path.join(directory, ".git")
        if os.path.exists(os.path.join(marker, "HEAD")) or (os.path.isfile(marker) and not _is_submodule(marker)):
            return directory
    return None


def state_dir(root: str, environ: Mapping[str, str]) -> str:
    """`.sisyphus/cc-omo` in the project, or below `OMO_STATE_DIR` one directory for each worktree of a repository."""
    elsewhere = environ.get("OMO_STATE_DIR")
    if not elsewhere or not may_name(elsewhere, root):
        return os.path.join(root, STATE_DIR)
    return os.path.join(os.path.abspath(elsewhere), _worktree_id(root))


def id_file(state: str) -> str:
    """Says by a random id whose the directory is: `ownership.py` has the rest outside the project."""
    return os.path.join(state, "id")


def aside_dir(state: str) -> str:
    """Where state that is not ours is moved to, and ours by another user of the directory."""
    return f"{state}.aside"


def runtime_file(state: str) -> str:
    return os.path.join(state, "runtime.local.json")


def log_file(state: str) -> str:
    return os.path.join(state, "hooks.log")


def swap_journal(state: str) -> str:
    """There while files of the project are swapped; the launcher of the hooks looks for it too."""
    return os.path.join(state, "swap.journal")


def swap_unfinished(state: str) -> str:
    """That journal while it is written."""
    return swap_journal(state) + ".tmp"


def swap_lock(state: str) -> str:
    return os.path.join(state, "swap.lock")


def swap_dir(state: str) -> str:
    """Where originals wait to be put back."""
    return os.path.join(state, "swap")


def kept_dir(state: str) -> str:
    """What stood in the project's files instead of what was put there."""
    return os.path.join(state, "kept")


EVENTS, SESSION_LOCK = "events.jsonl", "session.lock"


def session_dir(state: str, session: str) -> str:
    return os.path.join(state, "sessions", file_name_of(session))


def events_file(state: str, session: str) -> str:
    return os.path.join(session_dir(state, session), EVENTS)


def spending_file(state: str, session: str) -> str:
    return os.path.join(session_dir(state, session), "spending.json")


def session_lock(state: str, session: str) -> str:
    return os.path.join(session_dir(state, session), SESSION_LOCK)


def pins_dir(state: str) -> str:
    return os.path.join(state, PINS)


def copies_dir(state: str) -> str:
    return os.path.join(state, "base")


def proof_dir(state: str) -> str:
    return os.path.join(state, "proof")


def results_dir(state: str) -> str:
    return os.path.join(proof_dir(state), "results")


def own_commands_file(state: str) -> str:
    """Which of a project's commands gets to its tests, as omo found by trying."""
    return os.path.join(state, "own-commands.json")


def evidence_dir(state: str) -> str:
    return os.path.join(state, "evidence")


def repository(root: str) -> str:
    """The same for every worktree of one repository; outside git the directory itself."""
    own = _git_dir(root)
    common, separator, name = own.replace("\\", "/").rpartition("/worktrees/")
    if separator and "/" not in name:
        own = common
    return os.path.realpath(own or root)


def worktrees(root: str) -> list[str]:
    """The project in every worktree of its repository, this one first, as git keeps them: git itself is not asked."""
    projects = [root]
    top = git_top_level(_upwards(os.path.abspath(root)))
    if top is None:
        return projects
    common = repository(top)
    kept = os.path.join(common, "worktrees")
    tops = [os.path.dirname(common)]  # of the main one; that of a bare repository holds no project
    try:
        names = sorted(os.listdir(kept))
    except (FileNotFoundError, NotADirectoryError):
        return projects
    for name in names[:MOST_WORKTREES]:
        try:
            with open(os.path.join(kept, name, "gitdir"), encoding="utf-8", errors="surrogateescape") as file:
                tops.append(os.path.dirname(os.path.join(kept, name, file.readline(4096).strip())))
        except OSError:
            continue
    below = os.path.relpath(root, top)
    for other in tops:
        project = os.path.realpath(os.path.join(other, below))
        if project != os.path.realpath(root) and os.path.isdir(project):
            projects.append(project)
    return projects


def state_beside(root: str, state: str, other: str) -> str:
    """Where the state of the project is in another worktree, if it is `state` in this one."""
    if state == os.path.join(root, STATE_DIR):
        return os.path.join(other, STATE_DIR)
    return os.path.join(os.path.dirname(state), _worktree_id(other))


def settings_file(root: str) -> str:
    return os.path.join(root, ".sisyphus", "omo.json")


def file_name_of(session: str) -> str:
    """A session id as one safe path component. Plain ids stay readable; any other becomes a digest of itself."""
    plain = 0 < len(session) <= LONGEST_ID and SAFE_ID.issuperset(session)
    if plain:
        return session
    return "x-" + sha256(session.encode("utf-8", "surrogatepass"))[:40]


def _upwards(directory: str) -> list[str]:
    ancestors = [directory]
    while (parent := os.path.dirname(directory)) != directory:
        ancestors.append(parent)
        directory = parent
    return ancestors


def _git_dir_of(marker: str) -> str:
    """What a `.git` file points to, as written."""
    try:
        with open(marker, encoding="utf-8", errors="surrogateescape") as file:
            line = file.readline(4096).strip()
    except OSError:
        return ""
    return line[len("gitdir:") :].strip() if line.startswith("gitdir:") else ""


def _is_submodule(marker: str) -> bool:
    return "/modules/" in _git_dir_of(marker).replace("\\", "/")


def _worktree_id(root: str) -> str:
    """By git's own directory for it: worktrees of one repository may have the same name."""
    own = os.path.realpath(_git_dir(root) or root)
    name = os.path.basename(root) or "root"
    readable = "".join(letter if letter in SAFE_ID else "-" for letter in name)[:40]
    return f"{readable}-{sha256(os.fsencode(own))[:12]}"


def _git_dir(root: str) -> str:
    """What git keeps of this worktree; empty where there is no git."""
    marker = os.path.join(root, ".git")
    if os.path.isdir(marker):
        return marker
    return os.path.join(root, _git_dir_of(marker)) if os.path.isfile(marker) else ""
