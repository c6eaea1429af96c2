"""What a run asks of the agent: the same three jobs, played through the CLI and the hooks, beside what 0.1 asked.

    python3 bench/ceremony.py [--only WORD] [--log]      exits 1 when a job did not end as it should

Commands are the agent's calls of `omo`. Values are what it had to make up: an argument or the value of an option, a
leaf of a JSON document, a line of a text, each counted only where it is not what omo itself had written there before.
Tokens are characters divided by four: of the texts that the skill has it read, of what it writes, of what omo prints.
The jobs are in `bench/jobs`, a module for each workflow.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.stories.play import Play, make_project, word_of  # noqa: E402


@dataclass(frozen=True)
class Asked:
    commands: int
    values: int
    tokens: int


# What 0.1 asked for the same jobs, counted in the same way.
BEFORE = {
    "ultragoal": Asked(12, 136, 8_344),  # three goals
    "ultraplan": Asked(15, 102, 11_415),  # five steps in two sessions
    "ralph": Asked(34, 28, 7_475),  # three rounds, with a regression in the second
}


@dataclass
class Session(Play):
    """A session that counts what the agent has to do. Commands of the user's and runs of its own tools cost nothing."""

    commands: int = 0
    values: int = 0
    characters: int = 0
    handed_out: dict[str, str] = field(default_factory=dict)  # documents that omo wrote, as they were then

    def read(self, *texts: str) -> None:
        """Texts of the plugin that the agent has to read on this way, by their paths."""
        for path in texts:
            self.characters += len((ROOT / path).read_text(encoding="utf-8"))

    def run(self, command: str, arguments: str = "", *, code: int = 0) -> None:
        """A call of the agent's that must end so."""
        self.values += _count_values(arguments)
        line = f"{command} {arguments}"
        ended = self.omo(line)
        assert ended == code, f"omo {line}: {ended}\n{self.printed}"
        self.characters += len(line) + len(self.printed)

    def hand_out(self, path: str) -> None:
        """A document that omo wrote for the agent to go on with."""
        self.handed_out[path] = (self.project / path).read_text(encoding="utf-8")

    def write_down(self, path: str, text: str) -> None:
        """A document that omo asked the agent for."""
        before = set(_entries(self.handed_out.get(path, "")))
        new = [entry for entry in _entries(text) if entry not in before]
        self.values += len(new)
        self.characters += sum(map(len, new))
        self.write(path, text)

    def ends(self, *words: str) -> None:
        """The user reads one of these words at the end."""
        message = self.stop()
        assert word_of(message) in words, f"{message}\n{self.log[-1]}"

    @property
    def asked(self) -> Asked:
        return Asked(self.commands, self.values, self.characters // 4)


def _count_values(arguments: str) -> int:
    """All words but the names of options; a command after `--` is one."""
    options, has_command, _ = f" {arguments}".partition(" -- ")
    values = [word for word in shlex.split(options) if not word.startswith("--")]
    return len(values) + bool(has_command)


def _entries(text: str) -> Iterator[str]:
    """The leaves of a JSON document, each with its path; the lines of any other text, without its headings."""
    try:
        yield from _leaves(json.loads(text), "")
    except ValueError:
        for line in text.splitlines():
            if line.strip(" -`|") and not line.startswith("#"):
                yield line.strip()


def _leaves(value: object, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _leaves(inner, f"{path}.{number}")
    else:
        yield f"{path} = {value}"


@dataclass(frozen=True)
class Job:
    workflow: str
    name: str
    play: Callable[[Session], None]


JOBS: list[Job] = []


def job(workflow: str, name: str) -> Callable[[Callable[[Session], None]], Callable[[Session], None]]:
    def register(play: Callable[[Session], None]) -> Callable[[Session], None]:
        JOBS.append(Job(workflow, name, play))
        return play

    return register


def main() -> int:
    import bench.jobs  # noqa: F401, its modules need what stands above

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="WORD", help="only jobs with this word in workflow or name")
    parser.add_argument("--log", action="store_true", help="show what the agent saw, too")
    arguments = parser.parse_args()
    failed = 0
    print("| job | commands, 0.1 | now | values, 0.1 | now | tokens, 0.1 | now |\n|---|---|---|---|---|---|---|")
    for each in JOBS:
        if arguments.only not in f"{each.workflow} {each.name}":
            continue
        with tempfile.TemporaryDirectory(prefix="omo ceremony ") as directory:
            os.environ["XDG_STATE_HOME"] = directory  # the user's own names their live sessions
            session = Session(make_project(Path(directory)))
            try:
                each.play(session)
            except AssertionError as error:
                failed += 1
                print(f"{each.name} did not end as it should: {error}", file=sys.stderr)
        now, before = session.asked, BEFORE[each.workflow]
        counts = (before.commands, now.commands, before.values, now.values, before.tokens, now.tokens)
        print(f"| {each.workflow}: {each.name} | {' | '.join(f'{count:,}' for count in counts)} |", flush=True)
        if arguments.log:
            print("\n".join(session.log))
    return 1 if failed else 0


if __name__ == "__main__":
    from bench import ceremony  # the jobs register with the module of this name, not with this script

    raise SystemExit(ceremony.main())
