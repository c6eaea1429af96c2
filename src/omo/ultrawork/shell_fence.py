"""Shell text against the rules of a plan: forms that are never run, and files that are not to be written."""

from __future__ import annotations

import os

from omo import shell
from omo.shell.wrappers import stages
from omo.ultrawork import guarded, shell_feeds, shell_forms, shell_writes
from omo.ultrawork.arguments import letters
from omo.ultrawork.fence import DIRECTORY, FILE, POSIX_ONLY, REMEDY, SECURITY, StateFence, shown, state_refusal
from omo.ultrawork.path_globs import expand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omo.shell import Call, Script
    from omo.ultrawork.fence import Fence

DEEPEST_PIPE = 3  # echo "echo … | sh" | sh
MOST_UPSTREAM = 200
MOST_SPREAD = 64
MOST_FOUND = 2000
SEPARATORS = (";", "&", "\n", "(", ")", "{", "}", "`")
COPIES = ("cp", "mv", "install", "rsync")
OTHER_SHELLS = {
    "pwsh": ("-command", "-encodedcommand"),
    "powershell": ("-command", "-encodedcommand"),
    "cmd": ("/c", "/k"),
}
PATCH = "which files a patch changes is not read: make the change with the edit tools"
PIPED = "is given what to write by a pipe that does not say what: name the files, or the directory inside the fence"
BOMB = "a function that only forks itself: a fork bomb"
UNREAD = "cannot be read as a shell reads it, and looks like this"


def violations(text: str) -> list[str]:
    """What of this may never be run, whatever the fence: for the Verify and Checkpoint texts of a plan."""
    return _unique(_Judge(None, "").read_all(text))


def refusals(text: str, fence: Fence, directory: str) -> list[str]:
    """What may not be run while the fence is open, in the order of the text. `directory` is where it runs."""
    return _unique(_Judge(fence, directory).read_all(text))


def state_writes(text: str, fence: StateFence, directory: str) -> list[str]:
    """What of this removes or overwrites the files that such a fence is around; nothing else counts."""
    return _unique(_Judge(fence, directory).read_all(text))


class _Judge:
    def __init__(self, fence: Fence | None, directory: str) -> None:
        self.fence = fence
        self.is_plan = not isinstance(fence, StateFence)
        self.directory = directory
        self.variables = {"HOME": (fence and fence.home) or "~", "IFS": " "}
        if fence is not None:
            self.variables.update({"CLAUDE_PROJECT_DIR": fence.root, "$(git rev-parse --show-toplevel)": fence.root})
            self.variables.update({"PWD": directory, "$(pwd)": directory} if directory else {})

    def read_all(self, text: str) -> Iterator[str]:
        """Also with lines joined that go on in the next: where one ends within a word, the grammar sees two."""
        yield from self.read(text)
        if "\\\n" in text:
            yield from self.read(text.replace("\\\n", ""))

    def read(self, text: str, depth: int = DEEPEST_PIPE) -> Iterator[str]:
        script = shell.read(text, self.variables, self.directory)
        yield from self._calls(script, depth)
        for redirect in script.redirects:
            yield from self._write(redirect.target, redirect.directory, FILE)
        if not self.is_plan:
            return
        yield from (f"`{shown(one)}` is {BOMB}. {shell_forms.NEVER_RUN}" for one in script.bombs)
        for part in script.unread:
            yield from (f"`{shown(part)}` {UNREAD}: {reason}. {shell_forms.NEVER_RUN}" for reason in self._rough(part))

    def _calls(self, script: Script, depth: int) -> Iterator[str]:
        for at, call in enumerate(script.calls):
            begins = call.piped_from
            upstream = script.calls[begins : min(at, begins + MOST_UPSTREAM)] if begins is not None else []
            yield from self._call(call, upstream)
            if upstream and depth and shell_forms.is_shell_in_pipe(call):
                yield from self.read(shell_forms.piped_text(upstream), depth - 1)

    def _call(self, call: Call, upstream: Sequence[Call]) -> Iterator[str]:
        for reason in shell_forms.reasons(call, upstream) if self.is_plan else ():
            yield f"`{shown(' '.join(call.words))}`: {reason}. {shell_forms.NEVER_RUN}"
        chain = stages(call.words)
        for at, words in enumerate(chain):
            if shell.name(words) == "omo":
                return
            yield from self._plan_only(words)
            for given in shell_feeds.filled(words, chain[:at], upstream):
                for path, what in self._written(given, call):
                    yield from self._operand(path, what, words, call)

    def _plan_only(self, words: list[str]) -> Iterator[str]:
        if self.fence is None or not self.is_plan:
            return
        if shell_writes.is_patch(words):
            yield f"`{shown(' '.join(words))}`: {PATCH}. {REMEDY}"
        if _is_for_another_shell(words):
            yield f"`{shown(' '.join(words))}`: {POSIX_ONLY}"

    def _operand(self, path: str, what: str, words: list[str], call: Call) -> Iterator[str]:
        if isinstance(path, shell_feeds.Unseen):
            if self.fence is not None and self.is_plan:
                yield f"`{shown(' '.join(words))}` {PIPED}. {REMEDY}"
            return
        yield from self._write(path, call.directory, path.what if isinstance(path, shell_feeds.Given) else what)

    def _written(self, words: list[str], call: Call) -> list[tuple[str, str]]:
        called = shell.name(words)
        if called in ("apply_patch", "applypatch"):
            return shell_writes.patched("\n".join([*words[1:], *call.fed]))
        if called in COPIES:
            words = [found for one in words for found in self._copied(one, call.directory)]
        found = shell_writes.written(words)
        return [*found, *self._link_targets(words, found, call.directory)] if called == "ln" else found

    def _copied(self, word: str, directory: str | None) -> list[str]:
        """Of a glob the names it finds: under these they arrive."""
        return [word] if isinstance(word, (shell.Unknown, shell_feeds.Given)) else self._globbed(word, directory)

    def _link_targets(
        self, words: list[str], links: list[tuple[str, str]], directory: str | None
    ) -> list[tuple[str, str]]:
        """Where the links lead: whoever writes to one later writes there."""
        is_from_link = "s" in letters(words, "tS") and "r" not in letters(words, "tS")
        sources = shell_writes.link_sources(words)
        found = []
        for source, (link, _) in zip(sources, links, strict=False):
            base = os.path.dirname(self._arrived(link, directory)) if is_from_link or "--symbolic" in words else ""
            is_whole = source.startswith(("/", "~")) or isinstance(source, shell.Unknown)
            found.append((source if is_whole else os.path.join(base, source), FILE))
        return found

    def _write(self, path: str, directory: str | None, what: str) -> Iterator[str]:
        for one in _spread(path):
            is_unknown = isinstance(path, shell.Unknown) or "$" in one or "`" in one
            for found in [one] if is_unknown else self._globbed(one, directory):
                if reason := self._refusal(found, is_unknown, directory, what):
                    yield reason

    def _kind(self, path: str) -> str:
        kind = guarded.kind(path)
        return kind if self.is_plan or kind == guarded.STATE else ""

    def _globbed(self, path: str, directory: str | None) -> list[str]:
        """The files a glob names, or the glob itself where it names none: so does the shell."""
        if self.fence is None or directory is None or not any(sign in path for sign in "*?["):
            return [path]
        return expand(self.fence.absolute(path.partition("\0")[0], directory), MOST_FOUND) or [path]

    def _refusal(self, path: str, is_unknown: bool, directory: str | None, what: str) -> str:
        path = self._arrived(path, directory)
        if is_unknown:
            start = shell.Unknown(path).known_start
            name = self._kind(path)
            path, what = start.rpartition("/")[0] + "/" if "/" in start else "", DIRECTORY
            if name or not path:
                return self._guarded(f"{path or start}…", name, what)
        if self.fence is None or (directory is None and not path.startswith(("/", "~"))):
            return self._guarded(path, self._kind(os.path.join(directory or "", path)), what)
        return self.fence.refusal(path, directory or "", what)

    def _guarded(self, path: str, kind: str, what: str) -> str:
        """By its name alone."""
        if not kind:
            return ""
        return f"{shown(path)} is {kind}. {SECURITY}" if self.is_plan else state_refusal(path, what)

    def _arrived(self, path: str, directory: str | None) -> str:
        """`a/b\\0name` → the file in the directory a/b, or a/b itself where that is none."""
        target, mark, base = path.partition("\0")
        if not mark or self.fence is None:
            return target
        is_directory = directory is not None and os.path.isdir(self.fence.absolute(target, directory))
        return f"{target}/{base}" if is_directory or target in (".", "..") else target

    def _rough(self, text: str) -> Iterator[str]:
        """Without a grammar: what stands first in a stretch between separators is taken for the program."""
        for sign in ("'", '"', "\\"):
            text = text.replace(sign, "")
        for sign in SEPARATORS:
            text = text.replace(sign, ";")
        for pipeline in text.split(";"):
            calls: list[Call] = []
            for part in pipeline.split("|"):
                command, *targets = part.replace(">>", ">").split(">")
                words = [shell.Unknown(one) if "$" in one else one for one in _words(command)]
                call = shell.Call(words, None)
                call.has_variables = "$" in command
                behind = shell.Call([one for one in words if one != "eval"], None)
                yield from (reason for one in (call, behind) for reason in shell_forms.reasons(one, calls))
                calls.append(call)
                yield from (kind for one in targets for word in one.split()[:1] if (kind := guarded.kind(word)))


def _words(text: str) -> list[str]:
    """`{rm,-rf,x}` is three."""
    found = text.split()
    return found[0].split(",") if len(found) == 1 else found


def _spread(path: str) -> list[str]:
    """`{a,b}` as the shell spreads it, the words that begin a path of their own; as many as are worth a look."""
    found: list[str] = []
    left = [path]
    while left and len(found) < MOST_SPREAD:
        one = left.pop()
        begin, end = one.find("{"), one.find("}")
        inside = one[begin + 1 : end]
        if begin < 0 or end < begin or "," not in inside or one[begin - 1 : begin] == "$":
            found.append(one)
        else:
            left += [one[:begin] + choice + one[end + 1 :] for choice in inside.split(",")]
    return found


def _is_for_another_shell(words: list[str]) -> bool:
    """PowerShell or cmd with the text to run. A script file is run unseen, as any other script is."""
    names = OTHER_SHELLS.get(shell.name(words).removesuffix(".exe"), ())
    options = [word.lower() for word in words[1:] if len(word) > 1]
    # PowerShell takes the beginning of an option's name for the whole.
    return any(name.startswith(option) for option in options for name in names)


def _unique(found: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(found))
