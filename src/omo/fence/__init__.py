"""The fence of a plan session: which paths may be changed while it is open, and why another may not."""

from __future__ import annotations

import os

from omo.errors import NotEvaluable
from omo.globs import covers, is_inside, leads_to, shell_name_matches
from omo.state.runtime import fence_of
from omo.text import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omo.state.rows import SessionRow

# What is done to a path.
FILE, DIRECTORY = "file", "directory"
ARRIVES = "arrives"  # another file is put there, or into it if it is a directory; `detail` is where it comes from
TREE = "tree"  # it changes with all that is below it; `detail` is a glob for the names that are meant
REMOVED = "removed"  # rm removes it, with all that is below it
UNTRACKED = "untracked"  # git clean removes what is untracked below it: our own state is ignored, and stays
IGNORED = "ignored"  # what git ignores below it goes, our own state with it; `detail` is a key of KEEPS
RESTORED = "restored"  # it becomes what HEAD or the index has; `detail` is another revision
DEEP = (TREE, REMOVED, UNTRACKED, RESTORED)
OWN_STATE = ".sisyphus/cc-omo"
REPOSITORY = ":/"  # git's own name for all of it
# How the same is done without omo's own state, which git ignores.
KEEPS = {
    "clean-x": "git clean -fdx -e .sisyphus",
    "clean-X": "git clean -fdX -- . ':!.sisyphus'",
    "stash": "git stash -u",
}
MOST_BELOW = 20_000  # entries of a tree that are looked at
LONGEST_SHOWN = 200
STATE = "omo's own state"
PROFILES = (
    *(".zshrc", ".bashrc", ".profile", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases"),
    *(".zprofile", ".zshenv", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc"),
)
SECRETS = (".ssh", ".aws", ".gnupg")
KEY_NAMES = ("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519")
KEY_ENDS = (".pem", ".p12", ".pfx", ".key")
SHOWN_ENV = (".example", ".sample", ".template", ".dist")  # what an .env looks like, without the secrets
HOOKS = (".husky", ".githooks", ".lefthook")
HOOK_SETTINGS = (".pre-commit-config.yaml", ".pre-commit-config.yml", "lefthook.yml", "lefthook.yaml")
AGENTS = (".claude", ".codex", ".copilot", ".gemini", ".cursor")
AGENT_SETTINGS = (".mcp.json", ".claude.json")
PROJECT_HOOKS = (".github", "hooks")  # of Copilot CLI
SETTINGS_BELOW = ("settings", "hooks", "config.toml", "mcp.json")
DEVICES = ("null", "stdout", "stderr", "stdin", "tty", "zero", "full", "fd", "shm")  # those that anybody may write to
SCRATCH = ("/tmp", "/var/tmp", "/dev/shm")
# A project may lie in memory too, and is fenced there as anywhere: tests/ultrawork/test_shell_fence.py.
NOBODYS = tuple(f"/dev/{name}" for name in DEVICES if name != "shm")
SECURITY = "No plan may change that: if the step needs it, stop and report it to the user."
UNLISTED = "What was there before the session began is not known (too much to be listed), so nothing is removed. "
POSIX_ONLY = (
    "The plan's fence reads POSIX shell only, so PowerShell is not run while it is up: "
    "use Bash, where omo plan finish takes the fence down."
)
REMEDY = "Keep to the fence; if the step cannot be done within it, stop, report it and let the user change the plan."


class Write:
    """A path, as written, and what is done to it; what `detail` says stands above at each kind."""

    def __init__(self, path: str, kind: str = FILE, detail: str = "") -> None:
        self.path = path
        self.kind = kind
        self.detail = detail


class Never(str):
    """A refusal that no plan can lift."""

    __slots__ = ()


class Fence:
    """`touch` empty: the plan names no limits, so the project is the fence."""

    def __init__(self, touch: list[str], never: list[str], root: str, spec: str, environ: Mapping[str, str]) -> None:
        self.touch = touch
        self.never = [glob.lower() for glob in never]
        self.root = os.path.realpath(root)
        self.spec = os.path.realpath(os.path.join(root, spec)) if spec else ""
        self.home = environ.get("HOME", "")
        state = environ.get("OMO_STATE_DIR", "")
        self.state = os.path.realpath(state if os.path.isabs(state) else os.path.join(root, OWN_STATE))
        temporary = [environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")]
        # Not all there is: tests/ultrawork/test_shell_fence.py,
        # test_a_temporary_directory_that_is_everything_opens_nothing.
        self.scratch = [os.path.realpath(path) for path in (*SCRATCH, *temporary) if path.strip("/")]
        self.has_begun = False
        self.uncommitted: list[str] | None = None  # what HEAD did not have when the session began, None: not known

    def absolute(self, path: str, directory: str) -> str:
        """`~` is the home directory; nobody knows another's, so that is outside."""
        if path == "~" or path.startswith("~/"):
            path = os.path.join(self.home or "/", path[2:])
        elif path.startswith("~"):
            path = "/" + path
        if directory.startswith("~"):
            directory = self.absolute(directory, self.root)
        return os.path.abspath(os.path.join(self.root, directory, path))

    def refusal(self, path: str, directory: str) -> str:
        """Why this file may not be written, empty if it may."""
        return self.refusal_of(Write(path), directory)

    def refusal_of(self, write: Write, directory: str) -> str:
        """The same for whatever is done to a path: by its name, and by where its links lead."""
        if write.kind == IGNORED:
            return state_refusal(write) if self.goes_with_ignored(write.path, directory) else ""
        named = self.absolute(write.path, directory)
        # No file can be called so (test_a_name_that_no_file_can_have_hides_nothing_behind_it in
        # tests/ultrawork/test_shell_fence.py), or it is nobody's.
        if "\0" in write.path or any(is_inside(device, named) for device in NOBODYS):
            return ""
        entry = os.path.join(os.path.realpath(os.path.dirname(named)), os.path.basename(named))
        target = os.path.realpath(named)
        for path in (named, entry, target):
            if reason := self.refusal_by_name(path, write.path):
                return reason
        kind = TREE if write.kind in DEEP else write.kind
        reason = self._why_not(entry, kind) or self._why_not(target, kind)
        # A link, or what lies behind it: test_a_new_link_is_removed_but_not_what_lies_behind_it in
        # tests/hooks/test_leftovers.py, test_a_link_is_changed_by_its_name_and_with_a_slash_what_lies_behind_it in
        # tests/ultrawork/test_shell_fence.py.
        changed = target if write.path.endswith("/") else entry
        if not reason and kind == TREE and os.path.isdir(changed) and not os.path.islink(changed):
            reason = self._why_not_below(changed, write.detail if write.kind == TREE else "")
        if not reason or (changed == entry and self._is_taken_back(entry, write)):
            return ""
        return f"{shown(write.path)} {reason}. {self._why_it_stays(entry, write.kind)}{REMEDY}"

    def refusal_by_name(self, path: str, shown_as: str) -> str:
        """Why no plan may change a path of this name, wherever it is."""
        if kind := guarded_kind(path):
            return Never(f"{shown(shown_as)} is {kind}. {SECURITY}")
        return ""

    def _why_not(self, real: str, kind: str) -> str:
        """What is wrong with a change of this real path, as the end of a sentence; empty if nothing is."""
        if is_inside(self.state, real):
            return f"is {STATE}"
        if real == self.spec:
            return "is the contract this session was started with"
        if not is_inside(self.root, real):
            if any(real != scratch and is_inside(scratch, real) for scratch in self.scratch):
                return ""
            return f"is outside the project {shown(self.root)}"
        path = real[len(self.root) :].strip("/") or "."
        for glob in self.never:
            if covers(path.lower(), glob):
                return f"is under what the plan's fence says never to touch ({shown(glob)})"
        # `echo x > ./$OUT` in tests/ultrawork/shell_commands.txt: what it names in the end may well be inside.
        is_inner = not self.touch or (kind == DIRECTORY and path == ".")
        for glob in self.touch:
            is_inner = is_inner or covers(path, glob) or (kind == DIRECTORY and leads_to(path, glob))
        if not is_inner:
            return f"is outside the plan's fence (touch: {shown(', '.join(self.touch))})"
        if kind == TREE and (guarded := guarded_kind(path)):
            return f"holds {guarded}"
        return ""

    def _why_not_below(self, directory: str, only: str) -> str:
        count = 0
        for top, directories, files in os.walk(directory):
            for name in (*directories, *files):
                count += 1
                if count > MOST_BELOW:
                    return f"holds more than {MOST_BELOW} entries, too many to be looked at: name a smaller part"
                is_meant = not only or shell_name_matches(name.lower(), only)
                if is_meant and (reason := self._why_not(os.path.join(top, name), TREE)):
                    return reason
        return ""

    def goes_with_ignored(self, path: str, directory: str) -> bool:
        """Whether omo's state lies where git takes what it ignores: below a path, or in the repository around it."""
        top = os.path.realpath(self.absolute(path.removesuffix(REPOSITORY), directory))
        while path.endswith(REPOSITORY) and top != "/" and not os.path.lexists(os.path.join(top, ".git")):
            top = os.path.dirname(top)
        # The state whole, or a part of it: test_own_state_is_kept_from_the_shell_while_work_is_open in
        # tests/hooks/test_fence.py.
        return is_inside(top, self.state) or is_inside(self.state, top)

    # What the session left outside the fence may be removed, and what it changed there restored.

    def _is_taken_back(self, entry: str, write: Write) -> bool:
        if write.detail:  # another revision, or what git ignores with it
            return False
        if write.kind in (REMOVED, UNTRACKED):
            return self._is_leftover(entry)
        return write.kind == RESTORED and self._is_of_session(entry)

    def _why_it_stays(self, entry: str, kind: str) -> str:
        """Why what is there may not be removed or restored. No command is named that would: it may be the user's."""
        if not is_inside(self.root, entry) or not os.path.lexists(entry):
            return ""
        if not self.has_begun or kind not in (REMOVED, UNTRACKED, RESTORED) or self._is_of_session(entry):
            return ""
        if self.uncommitted is None:
            return UNLISTED
        return "It was there before the session began. "

    def _is_leftover(self, entry: str) -> bool:
        """Whether this is in the project, not tracked by git, and was not there when the session began."""
        if entry == self.root or not os.path.lexists(entry) or not self._is_of_session(entry):
            return False
        from omo.proof import git

        directory, name = os.path.split(entry)  # asked there, as it may be of a submodule
        try:
            tracked = git.run(directory, "ls-files", "-z", "--", name)
        except NotEvaluable:
            return False
        return tracked.ok and not tracked.output

    def _is_of_session(self, entry: str) -> bool:
        """Whether HEAD had all of this when the session began, so that what differs there is the session's doing."""
        if self.uncommitted is None or not is_inside(self.root, entry):
            return False
        path = entry[len(self.root) :].strip("/").lower()
        for before in self.uncommitted:
            if not path or is_inside(before.lower(), path) or is_inside(path, before.lower()):
                return False
        return True


class StateFence(Fence):
    """Around omo's state and its settings alone, for any session with open work."""

    def __init__(self, kept: Sequence[str], root: str, environ: Mapping[str, str]) -> None:
        super().__init__([], [], root, "", environ)
        self.kept: list[str] = []
        for path in kept:
            self.kept += [os.path.abspath(path).lower(), os.path.realpath(path).lower()]

    def refusal_of(self, write: Write, directory: str) -> str:
        if "\0" in write.path:
            return ""
        if write.kind == IGNORED:
            return super().refusal_of(write, directory)
        named = self.absolute(write.path, directory)
        for path in (named.lower(), os.path.realpath(named).lower()):
            for kept in self.kept:
                holds = write.kind in (TREE, REMOVED) and is_inside(path, kept)
                if holds or is_inside(kept, path):
                    return state_refusal(write)
        return ""

    def refusal_by_name(self, path: str, shown_as: str) -> str:
        return state_refusal(Write(shown_as)) if guarded_kind(path) == STATE else ""


def guarded_kind(path: str) -> str:
    """What makes this path one that no plan may change, empty for any other: it runs by itself, or holds secrets.

    By name alone, ignoring case as some disks do.
    """
    parts = [part for part in path.lower().replace("\\", "/").split("/") if part not in ("", ".")]
    if not parts:
        return ""
    name = parts[-1]
    pairs = list(zip(parts, [*parts[1:], ""], strict=True))
    if (".sisyphus", "cc-omo") in pairs:
        return STATE
    if ".git" in parts:
        return "git's own files, hooks and configuration"
    is_key = name.startswith(KEY_NAMES) and not name.endswith(".pub")
    if is_key or name.endswith(KEY_ENDS) or any(part in SECRETS for part in parts):
        return "keys and credentials"
    if name.endswith(".env") or (name.startswith(".env.") and not name.endswith(SHOWN_ENV)):
        return "an .env file"
    if name in PROFILES or (".config", "fish") in pairs:
        return "a shell profile"
    for directory, below in pairs:
        is_of_agent = directory in AGENTS and below.startswith(SETTINGS_BELOW)
        if name in AGENT_SETTINGS or is_of_agent or (directory, below) == PROJECT_HOOKS:
            return "an agent's settings or hooks"
    if name in HOOK_SETTINGS or any(part in HOOKS for part in parts):
        return "hook scripts and their settings"
    if path.startswith("/"):
        top, below = pairs[0]
        if (top == "etc" and below.startswith(("cron", "anacron"))) or parts[:3] == ["var", "spool", "cron"]:
            return "a crontab"
        if top == "dev" and below and below not in DEVICES:
            return "a device"
    return ""


def state_refusal(write: Write) -> str:
    rests = "and work is open that rests on it"
    if write.kind == IGNORED:
        return f"this takes all that git ignores, {STATE} with it, {rests}: {KEEPS[write.detail]} leaves it there"
    return f"{shown(write.path)} is {STATE} or holds it, {rests}: omo --help lists the commands that change it"


def fence_for(touch: Sequence[str], never: Sequence[str], root: str) -> Fence:
    """The fence a plan asks for, before any session has opened it."""
    return Fence(_plain_paths(list(touch)) or [], _plain_paths(list(never)) or [], root, "", {})


def open_fence(row: SessionRow, environ: Mapping[str, str]) -> Fence | None:
    """The fence of a session's row, None where there is none or it makes no sense."""
    value = fence_of(row)
    root, spec = value.get("root"), value.get("spec")
    touch = _plain_paths(value.get("touch"))
    never = _plain_paths([] if value.get("never") is None else value["never"])
    if touch is None or never is None or not isinstance(root, str) or not os.path.isabs(root):
        return None
    fence = Fence(touch, never, root, spec if isinstance(spec, str) else "", environ)
    fence.has_begun = True
    fence.uncommitted = _plain_paths(value.get("uncommitted"))
    return fence


def shown(text: str) -> str:
    return clip(text, LONGEST_SHOWN)


def _plain_paths(value: object) -> list[str] | None:
    """Paths or globs without empty parts and single dots; None where this is no list of texts."""
    if not isinstance(value, list) or not all(isinstance(path, str) for path in value):
        return None
    paths = ["/".join(part for part in path.split("/") if part not in ("", ".")) for path in value]
    return [path for path in paths if path]
