"""The commands in a Verify or Checkpoint field. They are read, never run: running is the agent's part."""

from __future__ import annotations

import re

from omo.shell import commands, name, program
from omo.ultraplan.markdown import CODE, Page

_EXPECTED = re.compile(r"→|->|=>|\bexpect(?:ed|s)?\b\s*:", re.IGNORECASE)
_FENCED = re.compile(r"^\s*(`{3,}|~{3,}).*?^\s*\1[`~]*\s*$", re.MULTILINE | re.DOTALL)
_GIT_VALUES = ("-C", "-c", "--git-dir", "--work-tree", "--namespace")


def shell_texts(value: str) -> list[str]:
    """Fenced blocks and code before `→ expected: …`; where there is neither, the words before it."""
    page = Page(value)
    fenced = [block.content.strip() for block in page.fences(0, len(page.lines))]
    prose = _FENCED.sub("", value)
    hidden = CODE.sub(lambda found: "\0" * len(found[0]), prose)
    arrow = _EXPECTED.search(hidden)
    asked = prose[: arrow.start()] if arrow else prose
    spans = [found[2].strip() for found in CODE.finditer(asked)]
    return fenced + spans if fenced or spans else [text for text in [asked.strip()] if text]


def commit_subjects(value: str) -> list[str]:
    """What the `git commit -m` in it would call the commits; one that only the running shell knows is left out."""
    found = []
    for text in shell_texts(value):
        for words in commands(text):
            message = _message(program(words))
            subject = (message or "").strip().split("\n")[0].strip()
            if subject and "$" not in subject and "`" not in subject:
                found.append(subject)
    return found


def _arguments(words: list[str]) -> list[str] | None:
    """Those of `git commit`; None for another command."""
    if name(words) != "git":
        return None
    rest = words[1:]
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in _GIT_VALUES else rest[1:]
    return rest[1:] if rest[:1] == ["commit"] else None


def _message(words: list[str]) -> str | None:
    arguments = _arguments(words) or []
    for at, word in enumerate(arguments):
        if word.startswith("--message="):
            return word.partition("=")[2]
        if word == "--message" or re.fullmatch(r"-[A-Za-z]*m", word):
            return arguments[at + 1] if at + 1 < len(arguments) else None
        if re.match(r"-[aqsnve]*m.", word):
            return word[word.index("m") + 1 :]
    return None
