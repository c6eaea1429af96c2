"""Print what the user is told at the end: lazy, cheating and honest stories, each played through the hooks and the CLI.

    python3 bench/truth.py [--only WORD] [--log]      exits 1 when a story was told in a wrong word

A cheat that was told as done was told too well. A story that needs a tool which is not here is not played, and named.
The stories are in `tests/stories`, whose README says how to read one.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.stories.play import DONE, Ending, Told, every_ending, played  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="WORD", help="only endings with this word in workflow or name")
    parser.add_argument("--log", action="store_true", help="show what the agent saw, too")
    arguments = parser.parse_args()
    results: list[tuple[Ending, Told]] = []
    not_played: list[Ending] = []
    for which in every_ending():
        if arguments.only not in f"{which.workflow} {which.name}":
            continue
        if which.missing:
            not_played.append(which)
            continue
        with tempfile.TemporaryDirectory(prefix="omo truth ") as directory:
            told = played(which, Path(directory))
        results.append((which, told))
        mark = "ok " if which.is_right(told.word) else "NO "
        print(f"{mark} {which.workflow:10} {which.name:60} {told.word:9} {told.sentence[:140]}", flush=True)
        if arguments.log:
            print("\n".join(told.log))
    print_summary(results)
    for which in not_played:
        print(f"not played, {', '.join(which.missing)} is not here: {which.workflow}: {which.name}")
    return 1 if any(not which.is_right(told.word) for which, told in results) else 0


def print_summary(results: list[tuple[Ending, Told]]) -> None:
    cheats = [(which, told) for which, told in results if not which.is_honest and not which.conceded]
    conceded = [(which, told) for which, told in results if which.conceded]
    honest = [(which, told) for which, told in results if which.is_honest]
    told_too_well = [which for which, told in cheats if told.word in DONE]
    wrong = [which for which, told in cheats if not which.is_right(told.word) and told.word not in DONE]
    deserved = [which for which, told in honest if which.is_right(told.word)]
    print(f"\ncheats {len(cheats)}, told too well {len(told_too_well)}, in another wrong word {len(wrong)}")
    told_done = Counter(which.conceded for which, told in conceded if told.word in DONE)
    print(f"conceded {len(conceded)}, of which told as done {told_done.total()}")
    for kind, number in Counter(which.conceded for which, _ in conceded).items():
        print(f"    {kind}: {number}, told as done {told_done[kind]}")
    print(f"honest {len(honest)}, in the word they deserve {len(deserved)}")
    for what, has_pin in (("where nothing is pinned", False), ("where something is", True)):
        counts = [told.commands for which, told in honest if which.workflow == "ultrawork" and told.has_pin == has_pin]
        if counts:
            print(f"    omo commands in ultrawork {what}: median {statistics.median(counts):g} of {len(counts)}")


if __name__ == "__main__":
    raise SystemExit(main())
