"""Shell text against the rules of a plan: commands that are never run, and files that are not to be written."""

from __future__ import annotations

import os

from omo import hosts, shell
from omo.fence import ARRIVES, DIRECTORY, REMEDY, Never, StateFence, Write, forbidden, shown, writes
from omo.globs import expand, is_shell_pattern
from omo.shell.programs import stages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omo.fence import Fence
    from omo.shell import SimpleCommand

MOST_UPSTREAM = 200
MOST_FOUND = 2000
HOLE = "{}"
PATCH = "which files a patch changes is not read: make the change with the edit tools"
PIPED = "is given what to write by a pipe that does not say what: name the files, or the directory inside the fence"
UNREAD = "cannot be read as a shell reads it: say it in plain commands"


def refusals(text: str, fence: Fence, directory: str) -> list[str]:
    """What may not be run while the fence is open, in the order of the text. `directory` is where it runs.

    Of a StateFence: what removes or overwrites the files that it is around; nothing else counts.
    """
    return list(dict.fromkeys(_Judge(fence, directory).read(text)))


class _Judge:
    def __init__(self, fence: Fence, directory: str) -> None:
        self.fence = fence
        self.is_plan = not isinstance(fence, StateFence)
        self.directory = directory
        self.known = {"$HOME": fence.home or "~", "$(git rev-parse --show-toplevel)": fence.root}
        self.known["$PWD"] = self.known["$(pwd)"] = directory
        # A number, which leads nowhere: `tee /tmp/push-dryrun-$$.log` in tests/ultrawork/shell_commands.txt.
        self.known["$$"] = "[0-9]*"
        for host in hosts.every():
            self.known[f"${host.project_variable}"] = fence.root

    def read(self, text: str) -> Iterator[str]:
        script = shell.read(text, self.known, self.directory)
        for index, call in enumerate(script.calls):
            upstream: list[SimpleCommand] = []
            if call.piped_from is not None:
                upstream = script.calls[call.piped_from : min(index, call.piped_from + MOST_UPSTREAM)]
            if self.is_plan:
                for reason in forbidden.reasons(call, upstream):
                    yield Never(f"`{shown(' '.join(call.words))}`: {reason}. {forbidden.NEVER_RUN}")
                # `:(){ :|:& };:` in tests/ultrawork/shell_commands.txt; a function is not run to see what it does.
                is_own_pipe = any(source.words == call.words for source in upstream)
                if is_own_pipe and call.words[0] in script.functions:
                    yield Never(f"`{shown(text)}` is {forbidden.BOMB}. {forbidden.NEVER_RUN}")
            yield from self._judge(call, upstream)
        for target, directory in script.redirects:
            yield from self._refuse(Write(target), directory)
        # The text of a plan may be prose: test_what_cannot_be_read_is_denied_and_said_to_be_so in
        # tests/ultrawork/test_shell_fence.py.
        if self.fence.has_begun:
            for part in script.unread:
                yield f"`{shown(part)}` {UNREAD}. {REMEDY}"

    def _judge(self, call: SimpleCommand, upstream: Sequence[SimpleCommand]) -> Iterator[str]:
        """Refuses what a call writes, and what the commands write that it runs in its turn."""
        giver: list[str] = []  # the find or xargs that tells the command behind it what to write
        for words in stages(call.words):
            command = f"`{shown(' '.join(words))}`"
            if self.is_plan and writes.is_patch(words):
                yield f"{command}: {PATCH}. {REMEDY}"
            written = writes.written(words)
            if shell.name(words) in ("apply_patch", "applypatch"):
                written = list(map(Write, hosts.patched_files("\n".join([*words[1:], *call.fed]))))
            if giver and writes.written([*words, HOLE]):
                trees = writes.found_trees(giver)
                for source in upstream:
                    trees += writes.found_trees(source.words)
                if not trees and self.is_plan:
                    yield f"{command} {PIPED}. {REMEDY}"
                written = trees + [write for write in written if HOLE not in write.path]
            for write in written:
                yield from self._refuse(write, call.directory)
            if shell.name(words) in ("find", "xargs"):
                giver = words

    def _refuse(self, write: Write, directory: str | None) -> Iterator[str]:
        if write.kind == ARRIVES:
            for source in self._globbed(write.detail, directory):
                arrived = self._arrived(write.path, os.path.basename(source.rstrip("/")), directory)
                yield from self._refuse(Write(arrived), directory)
            return
        for path in self._globbed(write.path, directory):
            if reason := self._refusal(Write(path, write.kind, write.detail), directory):
                yield reason

    def _globbed(self, path: str, directory: str | None) -> list[str]:
        """The files that a glob names, or the glob itself where it names none, as a shell has it."""
        if directory is None or isinstance(path, shell.Unknown) or not is_shell_pattern(path):
            return [path]
        return expand(self.fence.absolute(path, directory), MOST_FOUND) or [path]

    def _arrived(self, path: str, name: str, directory: str | None) -> str:
        """The file of this name in the path, if that is a directory, else the path itself."""
        is_directory = path.endswith("/") or path in (".", "..")
        if directory is not None and not is_directory:
            is_directory = os.path.isdir(self.fence.absolute(path, directory))
        if is_directory:
            return type(path)(f"{path.rstrip('/')}/{name}")
        return path

    def _refusal(self, write: Write, directory: str | None) -> str:
        if isinstance(write.path, shell.Unknown):
            start = write.path.known_start
            known = start[: start.rfind("/") + 1]
            reason = self.fence.refusal_by_name(write.path, f"{known or start}…")
            if reason or not known:
                return reason
            # `echo x > /tmp/a/$X/../../../etc/x` in tests/ultrawork/shell_commands.txt.
            write = Write(known + "../" * write.path[len(known) :].split("/").count(".."), DIRECTORY)
        if directory is None and not write.path.startswith(("/", "~")):
            return self.fence.refusal_by_name(write.path, write.path)
        return self.fence.refusal_of(write, directory or "")
