"""A plan of five steps in two sessions, some thirty lines of code: written, reviewed and carried out by one agent."""

from __future__ import annotations

import hashlib
import json

from bench.ceremony import Session, job
from omo.work.outcome import ATTESTED
from omo.workflows.ultraplan.flow import DIMENSIONS

PLAN = """# Slugs for titles

plan_version: 1.7
verify: `python3 -B -m unittest discover -s tests` → expected: OK

Titles become parts of addresses: lower case, words joined by hyphens, cut at a word, accents taken off. A library was
decided against.

## Session 1: The rules

### Step 1: feat(slugs): make a slug of a title

- Files: `text/slugs.py`, `tests/test_slugs.py`
- Changes: a function `slugify(title)`, words in lower case joined by hyphens, anything but letters and digits dropped

### Step 2: feat(cutting): cut a slug at a word

- Files: `text/cutting.py`, `tests/test_cutting.py`
- Changes: a function `cut(slug, most)` that leaves whole words alone, and the first one in any case

### Step 3: feat(accents): take accents off

- Files: `text/accents.py`, `tests/test_accents.py`
- Changes: a function `plain(text)` that decomposes letters and drops their marks

## Session 2: The command

### Step 4: feat(command): print a slug

- Files: `text/command.py`, `tests/test_command.py`
- Changes: a function `slug_of(title)` that applies `plain`, `slugify` and `cut` at 40 letters

### Step 5: docs: say how a slug is made

- Files: `README.md`
- Changes: a section that names `slug_of` and shows a title with its slug
"""
TEST = """import unittest

from text.{module} import {name}


class Test(unittest.TestCase):
    def test_{name}(self):
        self.assertEqual({name}({given}), {wanted})
"""
CODE = {
    1: (
        "slugs",
        "slugify",
        '"Hello, World 2"',
        '"hello-world-2"',
        """import re


def slugify(title):
    return "-".join(re.findall(r"[a-z0-9]+", title.lower()))
""",
    ),
    2: (
        "cutting",
        "cut",
        '"one-two-three", 9',
        '"one-two"',
        """def cut(slug, most):
    words = slug.split("-")
    while len(words) > 1 and len("-".join(words)) > most:
        words.pop()
    return "-".join(words)
""",
    ),
    3: (
        "accents",
        "plain",
        '"Gr\\u00fc\\u00dfe"',
        '"Gru\\u00dfe"',
        """import unicodedata


def plain(text):
    return "".join(letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter))
""",
    ),
    4: (
        "command",
        "slug_of",
        '"\\u00c9t\\u00e9 in Paris"',
        '"ete-in-paris"',
        """from text.accents import plain
from text.cutting import cut
from text.slugs import slugify


def slug_of(title):
    return cut(slugify(plain(title)), 40)
""",
    ),
}
SUBJECTS = {
    1: "feat(slugs): make a slug of a title",
    2: "feat(cutting): cut a slug at a word",
    3: "feat(accents): take accents off",
    4: "feat(command): print a slug",
    5: "docs: say how a slug is made",
}


@job("ultraplan", "five steps in two sessions")
def _(session: Session) -> None:
    session.read("skills/ultraplan/SKILL.md", "skills/ultraexecute/SKILL.md")
    session.write_down("plans/slugs.md", PLAN)
    session.run("plan critique", "plans/slugs.md")
    _criticise(session)
    session.run("plan start", "plans/slugs.md")
    for number in (1, 2, 3):
        _carry_out(session, number)
    session.run("plan finish", "--handoff 'slugify, cut and plain can be imported from text'")
    session.run("plan start", "plans/slugs.md")
    for number in (4, 5):
        _carry_out(session, number)
    session.run("plan finish")
    session.ends(ATTESTED)


def _criticise(session: Session) -> None:
    """The critic's own words, which a hook sees."""
    digest = hashlib.sha256((session.project / "plans" / "slugs.md").read_bytes()).hexdigest()
    marks = dict.fromkeys(DIMENSIONS, "pass")
    verdict = {"verdict": "clean", "plan_digest": digest, "dimensions": marks, "findings": []}
    session.agent_ends("omo:critic", f"OK TO START.\n```json\n{json.dumps(verdict)}\n```")


def _carry_out(session: Session, number: int) -> None:
    if number in CODE:
        module, name, given, wanted, code = CODE[number]
        session.write(f"text/{module}.py", code)
        session.write(f"tests/test_{module}.py", TEST.format(module=module, name=name, given=given, wanted=wanted))
        session.sh(f"git add text/{module}.py tests/test_{module}.py")
    else:
        session.write(
            "README.md", "# Text\n\n## Slugs\n\n`text.command.slug_of` makes *ete-in-paris* of *Été in Paris*.\n"
        )
        session.sh("git add README.md")
    session.sh(f"git commit -qm '{SUBJECTS[number]}'")
