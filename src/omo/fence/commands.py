"""Shell text against the rules of a plan: commands that are never run, and files that are not to be written."""

from __future__ import annotations

import os

from omo import hosts, shell
from omo.fence import (
    DIRECTORY,
    POSIX_ONLY,
    REMEDY,
    SECURITY,
    StateFence,
    Write,
    forbidden,
    guarded,
    shown,
    state_refusal,
    writes,
)
from omo.globs import expand, is_pattern
from omo.shell.programs import runs_what_it_is_fed, stages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omo.fence import Fence
    from omo.shell import Call

DEEPEST_PIPE = 3  # echo "echo … | sh" | sh
MOST_UPSTREAM = 200
MOST_FOUND = 2000
HOLE = "{}"
COPIES = ("cp", "mv", "install")
OTHER_SHELLS = {"pwsh": ("-c", "-en"), "powershell": ("-c", "-en"), "cmd": ("/c", "/k")}  # and how text is given them
PATCH = "which files a patch changes is not read: make the change with the edit tools"
PIPED = "is given what to write by a pipe that does not say what: name the files, or the directory inside the fence"
UNREAD = "cannot be read as a shell reads it: say it in plain commands"


def violations(text: str) -> list[str]:
    """What of this may never be run, whatever the fence: for the Verify and Checkpoint texts of a plan."""
    return list(dict.fromkeys(_Judge(None, "").read(text)))


def refusals(text: str, fence: Fence, directory: str) -> list[str]:
    """What may not be run while the fence is open, in the order of the text. `directory` is where it runs.

    Of a StateFence: what removes or overwrites the files that it is around; nothing else counts.
    """
    return list(dict.fromkeys(_Judge(fence, directory).read(text)))


class _Judge:
    def __init__(self, fence: Fence | None, directory: str) -> None:
        self.fence = fence
        self.is_plan = not isinstance(fence, StateFence)
        self.directory = directory
        self.known = {"$HOME": "~"}
        if fence is not None:
            self.known["$HOME"] = fence.home or "~"
            for host in hosts.every():
                self.known[f"${host.project_variable}"] = fence.root
            self.known["$(git rev-parse --show-toplevel)"] = fence.root
        if directory:
            self.known["$PWD"] = self.known["$(pwd)"] = directory

    def read(self, text: str, depth: int = DEEPEST_PIPE) -> Iterator[str]:
        script = shell.read(text, self.known, self.directory)
        for index, call in enumerate(script.calls):
            upstream: list[Call] = []
            if call.piped_from is not None:
                upstream = script.calls[call.piped_from : min(index, call.piped_from + MOST_UPSTREAM)]
            yield from self._judge(call, upstream)
            is_own_pipe = any(source.words == call.words for source in upstream)
            if self.is_plan and is_own_pipe and call.words[0] in script.functions and len(call.words) == 1:
                yield f"`{shown(text)}` is {forbidden.BOMB}. {forbidden.NEVER_RUN}"
            if upstream and depth and runs_what_it_is_fed(call.words):
                yield from self.read(forbidden.piped_text(upstream), depth - 1)
        for target, directory in script.redirects:
            yield from self._refuse(Write(target), directory)
        if self.fence is not None and self.is_plan:
            for part in script.unread:
                yield f"`{shown(part)}` {UNREAD}. {REMEDY}"

    def _judge(self, call: Call, upstream: Sequence[Call]) -> Iterator[str]:
        if self.is_plan:
            for reason in forbidden.reasons(call, upstream):
                yield f"`{shown(' '.join(call.words))}`: {reason}. {forbidden.NEVER_RUN}"
        giver: list[str] = []
        for words in stages(call.words):
            if shell.name(words) == "omo":
                return
            if self.fence is not None and self.is_plan:
                if writes.is_patch(words):
                    yield f"`{shown(' '.join(words))}`: {PATCH}. {REMEDY}"
                if _is_for_another_shell(words):
                    yield f"`{shown(' '.join(words))}`: {POSIX_ONLY}"
            written = self._writes_of(words, call)
            if giver and writes.written([*words, HOLE]):
                trees = writes.found_trees(giver)
                for source in upstream:
                    trees += writes.found_trees(source.words)
                if not trees and self.fence is not None and self.is_plan:
                    yield f"`{shown(' '.join(words))}` {PIPED}. {REMEDY}"
                written = trees + [write for write in written if HOLE not in write.path]
            for write in written:
                yield from self._refuse(write, call.directory)
            if shell.name(words) in ("find", "xargs"):
                giver = words  # gives what it finds or reads to the command that it runs

    def _writes_of(self, words: list[str], call: Call) -> list[Write]:
        called = shell.name(words)
        if called in ("apply_patch", "applypatch"):
            return writes.patched("\n".join([*words[1:], *call.fed]))
        if called in COPIES:  # of a glob the names it finds: under these they arrive
            words = [path for word in words for path in self._globbed(word, call.directory)]
        return writes.written(words)

    def _refuse(self, write: Write, directory: str | None) -> Iterator[str]:
        is_unknown = isinstance(write.path, shell.Unknown)
        for path in self._globbed(write.path, directory):
            reason = self._refusal(Write(path, write.kind, write.detail), is_unknown, directory)
            if reason:
                yield reason

    def _globbed(self, path: str, directory: str | None) -> list[str]:
        """The files a glob names, or the glob itself where it names none: so does the shell."""
        if self.fence is None or directory is None or isinstance(path, shell.Unknown) or not is_pattern(path):
            return [path]
        return expand(self.fence.absolute(path.partition("\0")[0], directory), MOST_FOUND) or [path]

    def _refusal(self, write: Write, is_unknown: bool, directory: str | None) -> str:
        write.path = self._arrived(write.path, directory)
        if is_unknown:
            kind, start = self._kind(write.path), shell.Unknown(write.path).known_start
            write.path = start[: start.rfind("/") + 1]
            write.kind = DIRECTORY
            if kind or not write.path:
                return self._by_name(Write(f"{write.path or start}…"), kind)
        if self.fence is None or (directory is None and not write.path.startswith(("/", "~"))):
            return self._by_name(write, self._kind(os.path.join(directory or "", write.path)))
        return self.fence.refusal_of(write, directory or "")

    def _kind(self, path: str) -> str:
        kind = guarded.kind(path)
        return kind if self.is_plan or kind == guarded.STATE else ""

    def _by_name(self, write: Write, kind: str) -> str:
        if not kind:
            return ""
        return f"{shown(write.path)} is {kind}. {SECURITY}" if self.is_plan else state_refusal(write)

    def _arrived(self, path: str, directory: str | None) -> str:
        """`a/b\\0name` → the file in the directory a/b, or a/b itself where that is none."""
        target, mark, base = path.partition("\0")
        if not mark or self.fence is None:
            return target
        is_directory = directory is not None and os.path.isdir(self.fence.absolute(target, directory))
        return f"{target}/{base}" if is_directory or target in (".", "..") else target


def _is_for_another_shell(words: list[str]) -> bool:
    """PowerShell or cmd with the text to run. A script file is run unseen, as any other script is."""
    options = OTHER_SHELLS.get(shell.name(words).removesuffix(".exe"), ())
    return any(word.lower().startswith(options) for word in words[1:])
