"""From what a workflow says comes next to commands that can be copied, each with the words around it."""

from __future__ import annotations

import re
import shlex

from omo.work.status import Command, NextStep

COMMAND = re.compile(r"(?<![\w:/.-])omo [a-z]")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
# Where a command is over: the sentence goes on, or says what the command does.
SENTENCE = re.compile(r"[;,:] |$")
TAIL = re.compile(r" (?:goes on|plans it|evaluates|comes|for omo:)\b.*?(?=[;,:] |$)")
AROUND = " ,;:"


def ways(text: str) -> tuple[Command, ...]:
    """`omo ralph replan, then omo ralph exec` is two commands; the first is the one that moves things on."""
    plain = QUOTED.sub(lambda found: "'" * len(found[0]), text)  # what stands in quotes is no sentence of ours
    found, at = [], 0
    while begins := COMMAND.search(plain, at):
        sentence = SENTENCE.search(plain, begins.start())
        end = sentence.start() if sentence else len(plain)
        tail = TAIL.search(plain, begins.start(), end)
        stop = tail.start() if tail else end
        command, after = text[begins.start() : stop], text[stop:end]
        lead = text[at : begins.start()].strip(AROUND)
        found.append(Command(_words(command.strip()), lead, after.strip(AROUND)))
        at = end
    rest = text[at:].strip(AROUND)
    return tuple([*found, Command(lead=rest)] if rest else found)


def step(action: str, why: str, sentence: str) -> NextStep:
    return NextStep(action, why, ways(sentence))


def _words(line: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(line))
    except ValueError:
        return tuple(line.split())
