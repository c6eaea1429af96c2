#!/usr/bin/env python3
"""Kill a process that swaps files, and see what a user is left with.

    python3 bench/kill_swaps.py [N [STEP]]

First before each single call by which it changes anything, or each STEP-th; then N times (300) at random moments,
while it swaps one tree again and again. Then the tree is put back as the next hook or command would. Every third time
somebody edits a file meanwhile. A tree is wrong if a file is not as it was (or as it was edited), or if
anything of ours lies about; an edit is lost if it is neither in the tree nor kept. Exits 1 if there was one.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from omo.proof.swap import Swap, recover
from omo.proof.swap_files import NOTHING, File

LONGEST_WAIT = 0.3  # seconds until the kill: several rounds of the child, which never waits: no two files are as long
CALLS = ("open", "write", "fsync", "replace", "rename", "link", "unlink", "symlink", "mkdir", "rmdir", "chmod", "utime")
FILES = 12
EDITED = ("src/work5.py", "tests/test_a.py", "new/pkg/a.py")
Seen = dict[str, tuple[object, ...]]


def lay(root: Path) -> dict[str, dict[str, File]]:
    """A tree of every shape, and two arrangements of it."""
    without: dict[str, File] = {}
    for number in range(FILES):
        path = root / "src" / f"work{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"new %d\n" % number * (number * 500 + 1))
        without[f"src/work{number}.py"] = File(b"old %d\n" % number * (number * 400 + 2), "f")
    (root / "src/work0.py").chmod(0o444)
    (root / "src/work1.py").chmod(0o755)
    for name in ("new/pkg/a.py", "tests/test_a.py", "tests/test_new.py", "mod", ".env"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(f"{name} as it is\n".encode())
    (root / "link").symlink_to("mod")
    without |= {"new/pkg/a.py": NOTHING, "gone/b.py": File(b"was here\n", "x"), "link": File(b"no link\n", "f")}
    without |= {"mod": NOTHING, "mod/c.py": File(b"a directory\n", "f")}
    tests = {"tests/test_a.py": File(b"old test\n", "f"), "tests/test_new.py": NOTHING}
    return {"without": without, "tests": tests}


def swap_until_killed(root: Path) -> None:
    arrangements = lay_again(root)
    print("begins", flush=True)
    while True:
        swap_once(root, arrangements)


def swap_once(root: Path, arrangements: dict[str, dict[str, File]]) -> None:
    with Swap(str(root), str(state_of(root)), arrangements, list) as swap:
        swap.put("without")
        swap.put("tests")


def kill_before_call(root: Path, number: int, count: Count) -> bool:
    """False where it makes no such call any more."""
    arrangements = lay(root)
    was = seen(root)
    child = os.fork()
    if not child:
        left = [number]
        for name in CALLS:
            setattr(os, name, counted(getattr(os, name), left))
        swap_once(root, arrangements)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        return False
    edited, text = "", b""
    if count.kills % 3 == 2:
        edited, text = EDITED[count.edits % len(EDITED)], b"edited from outside %d\n" % number
        edit(root / edited, text, by_rename=False)
        count.edits += 1
    count.kills += 1
    put_back(root, count, was, edited, text)
    return True


def counted(real: Callable[..., Any], left: list[int]) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **options)

    return call


def lay_again(root: Path) -> dict[str, dict[str, File]]:
    """The arrangements alone: the tree is there."""
    with tempfile.TemporaryDirectory() as other:
        return lay(Path(other))


def state_of(root: Path) -> Path:
    return root / ".sisyphus" / "cc-omo"


def seen(root: Path) -> Seen:
    found: Seen = {}
    for directory, names, files in os.walk(root):
        names[:] = [name for name in names if name != ".sisyphus"]
        for name in [*names, *files]:
            path = Path(directory, name)
            mode = path.lstat().st_mode
            key = str(path.relative_to(root))
            if stat.S_ISLNK(mode):
                found[key] = ("link", os.readlink(path))
            elif stat.S_ISDIR(mode):
                found[key] = ("directory", stat.S_IMODE(mode))
            else:
                found[key] = (path.read_bytes(), stat.S_IMODE(mode))
    return found


class Count:
    def __init__(self) -> None:
        self.kills = self.put_back = self.edits = self.kept = self.wrong = self.lost = self.left = 0


def one(root: Path, count: Count, luck: random.Random) -> None:
    was = seen(root)
    child = subprocess.Popen(
        [sys.executable, __file__, "--child", str(root)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert child.stdout is not None
    child.stdout.readline()
    wait = luck.random() * LONGEST_WAIT
    edited, text = "", b""
    if count.kills % 3 == 2:
        time.sleep(wait / 2)
        edited = luck.choice(EDITED)
        text = b"edited from outside %d\n" % count.kills
        edit(root / edited, text, by_rename=luck.random() < 0.5)
        count.edits += 1
    time.sleep(wait / 2)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    count.kills += 1
    put_back(root, count, was, edited, text)


def put_back(root: Path, count: Count, was: Seen, edited: str, text: bytes) -> None:
    if recover(str(state_of(root)), str(root)):
        count.put_back += 1
    judge(root, count, was, edited, text)


def edit(path: Path, text: bytes, *, by_rename: bool) -> None:
    """As an editor saves: into the file, or another one renamed over it. It may be gone at this moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not by_rename:
        path.write_bytes(text)
        return
    aside = path.parent / f".{path.name}.editor"
    try:
        aside.write_bytes(text)
        os.replace(aside, path)
    except FileNotFoundError:  # the directory has just gone with its last file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


def judge(root: Path, count: Count, was: Seen, edited: str, text: bytes) -> None:
    now = seen(root)
    wanted = dict(was)
    if edited:
        is_kept = any(path.read_bytes() == text for path in state_of(root).rglob("*") if path.is_file())
        is_there = edited in now and now[edited][0] == text
        if is_kept:
            count.kept += 1
        if is_there:
            wanted[edited] = now[edited]
        if not is_kept and not is_there:
            count.lost += 1
            print(f"lost: the edit of {edited}")
    if now != wanted:
        count.wrong += 1
        for path in sorted({*now, *wanted}):
            if now.get(path) != wanted.get(path):
                print(f"wrong: {path}: {str(now.get(path))[:60]} instead of {str(wanted.get(path))[:60]}")
    ours = (".gitignore", "id", "swap.lock", "swap.journal.tmp")  # the last was never a journal
    left = [path.name for path in state_of(root).rglob("*") if path.is_file() and path.name not in ours]
    left = [name for name in left if "kept" not in str(next(state_of(root).rglob(name)))]
    if left:
        count.left += 1
        print(f"left: {left}")


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--child"]:
        swap_until_killed(Path(arguments[1]))
    kills = int(arguments[0]) if arguments else 300
    step = int(arguments[1]) if len(arguments) > 1 else 1
    count, luck = Count(), random.Random(20)
    at_each = Count()
    with tempfile.TemporaryDirectory() as directory:
        os.environ["XDG_STATE_HOME"] = directory  # the user's own names their live sessions
        number = 1
        while kill_before_call(Path(directory, f"call{number}"), number, at_each):
            shutil.rmtree(Path(directory, f"call{number}"))
            number += step
        for number in range(kills):
            root = Path(directory, str(number))
            lay(root)
            one(root, count, luck)
            shutil.rmtree(root)
    print(f"{'':9} {'each call':>10} {'at random':>10}")
    for name, value in vars(count).items():
        print(f"{name:9} {vars(at_each)[name]:10} {value:10}")
    wrong = [total.wrong + total.lost + total.left for total in (at_each, count)]
    return 1 if any(wrong) or not at_each.put_back else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
