"""What a text cites, and whether that is so: a path or commit is there, a command that is pinned ends as is said.

Every workflow asks this of the words that it hands on.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from omo import masking
from omo.errors import NotEvaluable, Refused
from omo.proof import changes, git, globs, outputs
from omo.proof.run import run
from omo.text import clip
from omo.work.run import Caller

LONGEST_TEXT = 8_000
LONGEST_UNSEEN = 160

QUOTED = re.compile(r"```.*?```|`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|(?<!\w)'[^'\n]*'(?!\w)|(?<!\w)‘[^’\n]*’(?!\w)", re.S)
SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n")
UNKNOWN = re.compile(r"\s*(?:[-*•]\s+)?(?:still\s+)?(?:unknown|not known|not verified|unverified)\s*:", re.I)
# "because" parts what is said from what was looked at: "the module contains three functions because a.py was read";
# test_words_call_for_a_claim_where_what_they_speak_of_is_named in tests/verify/test_statements.py.
CLAUSE_END = re.compile(r"\bbecause\b|[,;:](?=\s)|\n", re.I)
# What a clause calls absent need not be there. Words as they read once "n't" is " not" and a hyphen is a blank.
ABSENCE = ("not exist", "no longer exist", "no longer exists", "no such", "not built", "not implemented", "not be done")

NAME = re.compile(r"\w*[^\W_]_\w+")  # parse_v1; TypeScript is a word like others
NAME_IN_CODE = re.compile(r"`[A-Za-z_][\w.:]*(?:\(\))?`")

# With a digit and a letter: "20261117" and "defaced" are none; test_what_a_text_cites, tests/verify/test_statements.py.
COMMIT = re.compile(r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}")
EXIT_CODE = re.compile(r"\s*(?:exit(?:s|ed)?(?: with)?|returns?|returned)(?: code| status)?\s+(\d{1,3})\b", re.I)
# A ratio or a time of day is none: test_what_a_text_cites, tests/verify/test_statements.py.
ADDRESS = re.compile(r"(?!\d+(?:\.\d+)?:)[\w.-]+:\d{1,5}")
PLACE_IN_FILE = re.compile(r"(?:::|:\d|#L\d).*$")  # suite/test_a.py::test_b, a.py:12, a.py#L12
BEFORE_WORDS, AFTER_WORDS = "([{<*\"'", ")]}>*\"'.,;:!?"
# A name with a dot is a file where it ends in one of these; `shlex.split` is none.
FILE_ENDINGS = frozenset(
    (
        *("py", "pyi", "js", "mjs", "cjs", "jsx", "ts", "tsx", "vue", "rb", "go", "rs", "java", "kt", "swift", "cpp"),
        *("hpp", "cs", "php", "lua", "scala", "sh", "bash", "htm", "scss", "md", "rst", "txt", "jsonl", "yaml", "yml"),
        *("toml", "ini", "cfg", "xml", "csv", "tsv", "ipynb", "png", "jpg", "jpeg", "gif", "svg", "pdf", "whl"),
    )
)
# The same, where a name without a directory may as well be code: `console.log`, `response.json`.
ENDINGS_IN_CODE = frozenset(
    ("c", "h", "log", "json", "html", "css", "sql", "env", "lock", "conf", "diff", "patch", "zip")
)


class Citation(NamedTuple):
    """A path, a commit, a command, an address, or a name in code. `exits` is what a command is said to exit with."""

    kind: str
    text: str
    exits: int | None = None
    is_said_absent: bool = False  # of a path: its clause says that something is not there


@dataclass(frozen=True)
class CitedText:
    """A text taken apart: what it says was seen, each quotation replaced by its number; and the quotations.

    Sentences that say "unknown: …" are left out.
    """

    plain: str
    quotations: list[str]
    root: str

    def citations(self, part: str) -> list[Citation]:
        """What a part of it names that can be looked at."""
        cited = []
        for clause in CLAUSE_END.split(part):
            is_absence = any(says(clause, words) for words in ABSENCE)
            for thing in self.named_in(clause):
                if thing.kind != "name":
                    cited.append(thing._replace(is_said_absent=is_absence))
        return list(dict.fromkeys(cited))

    def named_in(self, part: str) -> list[Citation]:
        named = []
        for match in re.finditer(r"`(\d+)`|[^\s`]+", part):
            if match[1] is None:
                word = match[0].lstrip(BEFORE_WORDS).rstrip(AFTER_WORDS)
                thing = _of_word(word, self.root, in_code=False)
                is_name = NAME.fullmatch(word)
            else:
                word = self.quotations[int(match[1])]
                after = EXIT_CODE.match(part, match.end())
                thing = _of_quotation(word, self.root, int(after[1]) if after else None)
                is_name = NAME_IN_CODE.fullmatch(word)
            if thing is None and is_name:
                thing = Citation("name", word)
            if thing is not None:
                named.append(thing)
        return named


def statement(text: str, root: str) -> CitedText:
    quotations: list[str] = []

    def number(match: re.Match[str]) -> str:
        quotations.append(match[0])
        return f"`{len(quotations) - 1}`"

    plain = QUOTED.sub(number, text[:LONGEST_TEXT]).replace("’", "'")
    sentences = [sentence for sentence in SENTENCE_END.split(plain) if not UNKNOWN.match(sentence)]
    return CitedText("\n".join(sentences), quotations, root)


def without_quotations(text: str) -> str:
    """What is only quoted is the work's own words: a button may be labelled "Looks good"."""
    return QUOTED.sub(" … ", text[:LONGEST_TEXT]).replace("’", "'")


def says(clause: str, words: str) -> bool:
    text = clause.lower()
    for written, read in (("n't", " not"), ("cannot", "can not"), ("%", " percent"), ("-", " ")):
        text = text.replace(written, read)
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", " ".join(text.split())) is not None


class PinnedCommand(NamedTuple):
    """A command that may be run, and what it has to exit with."""

    argv: Sequence[str]
    cwd: str
    exit: int
    timeout: float


def not_looked_at(unseen: Iterable[str]) -> str:
    """Say what `require_cited` returned."""
    return f"cited and not looked at: {clip(', '.join(dict.fromkeys(unseen)), LONGEST_UNSEEN)}"


def require_cited(caller: Caller, what: str, texts: Iterable[str], commands: Iterable[PinnedCommand] = ()) -> list[str]:
    """Refused where a path or commit that they name is not there, or a pinned command does not end as they say.

    Returns what they cite that nobody looked at: commands that nobody pinned, addresses. A command that several of
    them name is run once. What the user says is theirs.
    """
    if caller.by == "user":
        return []
    pinned = {tuple(command.argv): command for command in commands}
    cited_in_all: dict[Citation, None] = {}
    for text in texts:
        taken_apart = statement(text, caller.root)
        cited_in_all.update(dict.fromkeys(taken_apart.citations(taken_apart.plain)))
    defects, unseen = [], []
    for citation in cited_in_all:
        cited = clip(citation.text, 120)
        command = None
        if citation.kind == "command":
            command = pinned.get(tuple(shlex.split(citation.text)))
        if citation.kind == "path":
            if not citation.is_said_absent and not is_there(caller.root, citation.text):
                defects.append(f"{cited} is cited, and is not there")
        elif citation.kind == "commit":
            if changes.commit_of(Path(caller.root), citation.text) is None:
                defects.append(f"{cited} is cited, and no commit of that name is there")
        elif command is None:
            unseen.append(cited)
        elif problem := _run_cited(caller, command, citation.exits):
            defects.append(f"`{cited}` is cited, and was run: {problem}")
    if defects:
        raise Refused(f"{what} cites what is not so: {defects[0]}", fix="look again, and restate it", defects=defects)
    return unseen


def _run_cited(caller: Caller, command: PinnedCommand, exits: int | None) -> str:
    """What is not as it was said; empty where it is."""
    where = globs.directory_inside(Path(caller.root), command.cwd)
    ran = run(command.argv, cwd=where, timeout=command.timeout)
    wanted = command.exit if exits is None else exits
    result, why = outputs.result_of(ran, outputs.printed_by(ran))
    if result == "unknown":
        return why
    if ran.exit_code == wanted:
        return ""
    lines = (ran.stdout + ran.stderr).strip().splitlines()
    last = f", {clip(masking.mask(lines[-1], command.argv), 120)}" if lines else ""
    return f"exit {ran.exit_code}, not {wanted}{last}"


def _of_word(word: str, root: str, *, in_code: bool) -> Citation | None:
    if "://" in word:
        return Citation("address", word)
    path = PLACE_IN_FILE.sub("", word)
    if COMMIT.fullmatch(path):
        return Citation("commit", path)
    if _is_path(path, root, in_code=in_code):
        return Citation("path", path)
    return Citation("address", word) if ADDRESS.fullmatch(word) else None


def _is_path(path: str, root: str, *, in_code: bool) -> bool:
    directory, _, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    if dot and ending in ENDINGS_IN_CODE:
        return bool(directory) or (bool(stem) and is_there(root, path))
    if ending == "js" and stem[:1].isupper() and not directory:
        return False  # Node.js, as in an answer of tests/verify/test_statements.py
    if stem and ending.lower() in FILE_ENDINGS:
        return True
    # src/tool; but client/server are two words: test_what_a_text_cites in tests/verify/test_statements.py.
    is_below = bool(directory) and os.path.isdir(os.path.join(root, path.removeprefix("./").split("/")[0]))
    return is_below and (in_code or os.path.lexists(os.path.join(root, path)))


def _of_quotation(quotation: str, root: str, exits: int | None) -> Citation | None:
    content = quotation.strip("`\"'“”‘’").strip().removeprefix("$ ")
    citation = None
    if len(content.split()) == 1:
        citation = _of_word(content, root, in_code=quotation.startswith("`"))
    if citation is not None or not quotation.startswith("`"):
        return citation
    if os.path.lexists(os.path.join(root, content)) and content.strip("./"):
        return Citation("path", content)  # `Makefile`; not `.`: tests/verify/test_statements.py
    try:
        argv = shlex.split(content)
    except ValueError:
        return None
    program = argv[0] if argv else ""
    is_known = os.path.isfile(os.path.join(root, program)) if "/" in program else shutil.which(program) is not None
    return Citation("command", content, exits) if is_known else None


def is_there(root: str, path: str) -> bool:
    """In the project as it is, or known to git's history; a bare name in any directory."""
    if path.startswith("/"):
        if not globs.is_inside(os.path.realpath(root), os.path.realpath(path)):
            return os.path.lexists(path)
        path = os.path.relpath(path, root)
    try:
        wanted = globs.normal(path)
        if globs.find(Path(root), wanted).paths:
            return True
        if "/" not in wanted and globs.find(Path(root), f"**/{wanted}").paths:
            return True
    except (ValueError, NotEvaluable):
        return False
    # "a module removed with its tests, both named by the agent"
    place = f":(literal){wanted}" if "/" in wanted else f":(glob)**/{wanted}"
    return git.run(root, "--no-literal-pathspecs", "log", "-1", "--format=%h", "--", place).text.strip() != ""
