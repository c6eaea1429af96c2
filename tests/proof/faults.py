"""A whole `omo ulw done` in which one call of the system fails: played again and again, each time the next call.

    python -m tests.proof.faults WORLD MODE FIRST STEP [lines]

WORLD holds a `project` in which work waits to be proven, and a `home`. It is put back before each play. One line of
JSON is printed for each play: the number of the call, which it was, and what is wrong afterwards. In the mode `once`
that call fails; in `full` no call that needs room succeeds any more. Then omo is called again, and nothing fails.
With `lines` it is the look for unchecked lines in its stead.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import importlib
import io
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.proof.test_swap import seen

SESSION = "abc123"
WORK = "value\n" * 3 + "newer\n"
OF_THE_GATE = "edited by the gate\n"
LEFT = "left_by_the_run"
MOST = 2000
DONE, LINES = ["ulw", "done"], ["lines"]
CHECK = ["sh", "check.sh"]
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
NEEDS_ROOM = ("open", "write", "fsync", "mkdir", "link", "replace", "rename")
NO_WORDS = ("Traceback", "a bug in omo", "the output cannot be written")


class Faults:
    """Counts calls, and fails the n-th of them."""

    def __init__(self, number: int, mode: str) -> None:
        self.left = number
        self.mode = mode
        self.failed = ""

    def tick(self, name: str, about: object = None) -> None:
        if str(about).startswith("/dev/") and not str(about).startswith("/dev/shm/"):
            return
        self.left -= 1
        if self.left == 0 or (self.left < 0 and self.mode == "full" and name in NEEDS_ROOM):
            self.failed = self.failed or f"{name} {about}"
            code = errno.ENOSPC if self.mode == "full" and name in NEEDS_ROOM else errno.EIO
            filename = about if isinstance(about, (str, bytes)) else None
            raise OSError(code, os.strerror(code), filename)

    def install(self) -> None:
        for name in ("replace", "rename", "link", "unlink", "remove", "mkdir", "write", "fsync", "posix_spawnp"):
            setattr(os, name, self._failing(name, getattr(os, name)))
        os.open = self._open(os.open)
        io.open = builtins.open = self._open_file

    def _failing(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self.tick(name, arguments[0] if arguments else None)
            return real(*arguments, **options)

        return call

    def _open(self, real: Callable[..., int]) -> Callable[..., int]:
        def call(path: Any, flags: int, *arguments: Any, **options: Any) -> int:
            if flags & WRITING:
                self.tick("open", path)
            return real(path, flags, *arguments, **options)

        return call

    def _open_file(self, file: Any, mode: str = "r", buffering: int = -1, *text: Any, **options: Any) -> Any:
        """As the built-in one, but that what it writes is counted, too."""
        if not set(mode) & set("wax+"):
            return REAL_OPEN(file, mode, buffering, *text, **options)
        opener, closes = options.pop("opener", None), options.pop("closefd", True)
        if opener is None and not isinstance(file, int):
            self.tick("open", os.fspath(file))
        raw = Raw(file, mode.replace("t", "").replace("b", "") + "b", closes, opener)
        raw.faults = self
        if buffering == 0:
            return raw
        buffered = io.BufferedWriter(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, *text, **options)


REAL_OPEN = io.open


class Raw(io.FileIO):
    faults: Faults

    def write(self, data: Any) -> int:
        self.faults.tick("write", self.name)
        return super().write(data)


def played(world: Path, argv: list[str], faults: Faults | None) -> tuple[int, str, str]:
    """Exit code, output, and the call that failed; without faults the modules that were loaded."""
    out, notes = world / "out", world / "notes"
    child = os.fork()
    if not child:
        descriptor = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        tell = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        write, leave = os.write, os._exit
        os.chdir(world / "project")
        sys.argv = ["omo", *argv]
        code = 1
        from omo.cli import console

        play = find_lines if argv == LINES else console
        try:
            if faults is not None:
                faults.install()
            play()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException:
            write(2, b"Traceback\n")
        finally:
            if faults is not None:
                write(tell, faults.failed.encode("utf-8", "replace"))
            else:
                write(tell, "\n".join(sys.modules).encode())
            leave(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), out.read_text(errors="replace"), notes.read_text(errors="replace")


def find_lines() -> None:
    """Find the lines that no test checks, and end as a command does."""
    from bench.proof import subject_of
    from omo.errors import OmoError
    from omo.proof import unchecked_lines
    from omo.proof.gate_runs import Plain
    from omo.proof.trials import Options

    try:
        print(unchecked_lines.find(subject_of(Path.cwd()), Plain(CHECK), Options()).sentence, flush=True)
    except OmoError as error:
        print(error.message, flush=True)
        raise SystemExit(error.exit_code) from None
    raise SystemExit(0)


def wrong_after(world: Path, said: list[str], codes: list[int]) -> list[str]:
    """What should not be so when a command was called after the one that failed."""
    project = world / "project"
    everything = "".join(said)
    wrong = [f"it says {word!r}" for word in NO_WORDS if word in everything]
    wrong += [f"it ended with {code}" for code in codes if code in (1, -9) or code < 0]
    found = {name: what for name, what in seen(project).items() if not name.startswith(".omo-")}
    if LEFT in found and LEFT not in everything and "was not moved aside" not in everything:
        wrong.append("what the gate left stays unsaid")
    found.pop(LEFT, None)
    was = json.loads((world / "was.json").read_text())
    now = {name: repr(what) for name, what in found.items()}
    wrong += [f"{name} is {now.get(name)}" for name in {*was, *now} if was.get(name) != now.get(name)]
    state = project / ".sisyphus" / "cc-omo"
    wrong += [f"{name} is left" for name in ("swap.journal", "swap.journal.tmp", "swap") if (state / name).exists()]
    wrong += [f"git has {path.name}" for path in (project / ".git").glob("*omo-*")]
    if (project / ".git" / "index.lock").exists():
        wrong.append("git is locked")
    wrong += where_the_edit_is(project, everything)
    return wrong


def where_the_edit_is(project: Path, said: str) -> list[str]:
    """What the gate wrote over a swapped file is kept, and its place is told, or the gate never came so far."""
    holders = [path for path in project.rglob("*") if path.is_file() and path.read_bytes() == OF_THE_GATE.encode()]
    ran = (project.parent / "edited").exists()
    if ran and not holders:
        return ["the edit is lost"]
    return [f"{path} is not named" for path in holders if str(path.relative_to(project)) not in said]


def main(world: Path, mode: str, first: int, step: int, command: list[str]) -> None:
    os.environ |= {"HOME": str(world / "home"), "CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": SESSION}
    kept = world.parent / f"{world.name}.kept"
    shutil.copytree(world, kept, symlinks=True)
    for module in played(world, command, None)[2].split():  # else each play loads them
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    for number in range(first, MOST, step):
        shutil.rmtree(world)
        shutil.copytree(kept, world, symlinks=True)
        code, said, failed = played(world, command, Faults(number, mode))
        code_after, said_after, _ = played(world, ["status"], None)
        wrong = wrong_after(world, [said, said_after], [code, code_after])
        code_again, said_again, _ = played(world, command, None)
        if code_again != 0:
            wrong.append(f"{' '.join(command)} ends with {code_again} afterwards: {said_again}")
        row = {"number": number, "failed": failed, "wrong": wrong, "said": [said, said_after] if wrong else []}
        print(json.dumps(row), flush=True)
        if not failed:
            return
    raise SystemExit(f"{' '.join(command)} makes more than {MOST} calls")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:] or DONE)
