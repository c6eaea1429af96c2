"""From what a workflow says comes next to commands that can be copied, each with the words around it."""

from __future__ import annotations

import re
from dataclasses import dataclass

COMMAND = re.compile(r"(?<![\w:/.-])omo [a-z]")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
# Where a command is over: the sentence goes on, or says what the command does.
SENTENCE = re.compile(r"[;,:] |$")
TAIL = re.compile(r" (?:goes on|plans it|evaluates|comes|for omo:)\b.*?(?=[;,:] |$)")
AROUND = " ,;:"


@dataclass(frozen=True)
class Way:
    """`lead` says when, such as "then" or "if it fails", `after` what for; without a command nothing can be copied."""

    lead: str
    command: str = ""
    after: str = ""

    @property
    def when(self) -> str:
        """All that is said about the command."""
        return f"{self.lead} ({self.after})" if self.lead and self.after else self.lead or self.after

    @property
    def data(self) -> dict[str, str]:
        return {"when": self.when, "command": self.command}


def ways(text: str) -> tuple[Way, ...]:
    """`omo ralph replan, then omo ralph exec` is two commands; the first is the one that moves things on."""
    plain = QUOTED.sub(lambda found: "'" * len(found[0]), text)  # what stands in quotes is no sentence of ours
    found, at = [], 0
    while begins := COMMAND.search(plain, at):
        sentence = SENTENCE.search(plain, begins.start())
        end = sentence.start() if sentence else len(plain)
        tail = TAIL.search(plain, begins.start(), end)
        stop = tail.start() if tail else end
        command, after = text[begins.start() : stop], text[stop:end]
        found.append(Way(text[at : begins.start()].strip(AROUND), command.strip(), after.strip(AROUND)))
        at = end
    rest = text[at:].strip(AROUND)
    return tuple([*found, Way(rest)] if rest else found)
