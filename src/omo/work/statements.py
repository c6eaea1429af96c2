"""What is said of the work: "X is Y because Z", where Z can be looked at, and no hedge on what was seen.

Some words about something that is named call for a claim that code looks at; paths, commits and commands in the text
are what it cites.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path
from typing import NamedTuple

from omo.errors import NotEvaluable
from omo.proof import git, globs

LONGEST_TEXT = 8_000
SHORTEST_REASON = 10

QUOTED = re.compile(r"```.*?```|`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|(?<!\w)'[^'\n]*'(?!\w)|(?<!\w)‘[^’\n]*’(?!\w)", re.S)
SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n")
UNKNOWN = re.compile(r"\s*(?:[-*•]\s+)?(?:still\s+)?(?:unknown|not known|not verified|unverified)\s*:", re.I)

HEDGES = re.compile(
    r"""\b(?:
      possibly | perhaps | maybe | probably | presumably | supposedly | apparently | hopefully | likely
    | might | could\ be | could\ have\ been | may\ (?:be|have) | should\ (?:be|have|hold|work|pass|now|do)
    | seems? | seemed | seemingly | appears?\ (?:to|that|as\ if|correct|fine|good|ok|okay|done|complete|right|working)
    | looks\ (?:like|as\ if|correct|fine|good|ok|okay|done|complete|right)
    | I\ (?:think|believe|guess|assume|suppose|suspect|imagine|expect|hope)
    | as\ far\ as\ I\ (?:know|can\ tell|remember|see) | if\ I\ (?:recall|remember) | to\ my\ knowledge | in\ theory
    | not\ (?:entirely\ |quite\ |completely\ )?(?:sure|certain) | unsure | more\ or\ less
    )\b(?!-)""",
    re.VERBOSE | re.IGNORECASE,
)
AS_WANTED = re.compile(r"\b(?:as|what|where|how) (?:it|they|this|that|each) should (?:be|have|do)\b", re.IGNORECASE)
BECAUSE = re.compile(r"\bbecause\b", re.I)
FORM = 'write "X is Y because Z", where Z is what you looked at'


class Trigger(NamedTuple):
    """Words that call for a claim where their clause names one of `of`; which claims answer them, how one is filed."""

    words: tuple[str, ...]
    of: frozenset[str]
    settled_by: tuple[str, ...]
    options: str


# Words as they read once "n't" is " not", "%" is " percent" and a hyphen is a blank. Seed 003 has the classes, and that
# they are no-ops on text that claims nothing: "the error rate is down" names no address, "a missing field" no records.
TRIGGERS = {
    "absence": Trigger(
        ("not exist", "no longer exist", "no longer exists", "no such", "not built", "not implemented", "not be done"),
        frozenset({"path", "name"}),
        ("absent", "lacks", "count"),
        "--absent PATH, or --lacks TEXT --in PATH",
    ),
    "service": Trigger(
        ("is down", "are down", "not responding", "not respond", "connection refused", "unreachable"),
        frozenset({"address"}),
        ("service",),
        "--service HOST:PORT --is down",
    ),
    "count": Trigger(
        ("0 records", "no records", "zero records", "percent have", "percent of", "missing field", "zero utilization"),
        frozenset({"records"}),
        ("count", "lacks"),
        "--count N --of GLOB [--field NAME --value V]",
    ),
    "file state": Trigger(
        ("contains", "contain", "reflects", "reflect"),
        frozenset({"path"}),
        ("contains", "lacks", "count", "absent"),
        "--contains TEXT --in PATH",
    ),
}
# "because" parts what is said from what was looked at: "the module contains three functions because a.py was read".
CLAUSE_END = re.compile(r"\bbecause\b|[,;:](?=\s)", re.I)
NAME = re.compile(r"\w*[^\W_]_\w+")  # parse_v1; TypeScript is a word like others
NAME_IN_CODE = re.compile(r"`[A-Za-z_][\w.:]*(?:\(\))?`")
RECORDS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")

COMMIT = re.compile(r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}")
EXIT_CODE = re.compile(r"\s*(?:exit(?:s|ed)?(?: with)?|returns?|returned)(?: code| status)?\s+(\d{1,3})\b", re.I)
ADDRESS = re.compile(r"[\w.-]+:\d{1,5}")
PLACE_IN_FILE = re.compile(r"(?:::|:\d|#L\d).*$")  # tests/test_a.py::test_b, a.py:12, a.py#L12
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
    is_said_absent: bool = False  # of a path: the sentence says that something is not there, and needs a claim for it


def check_statement(text: str, root: str) -> list[str]:
    """What is wrong with a verification answer, each with how to restate it; empty when nothing is."""
    if not text.strip():
        return [f"the answer is empty: {FORM}"]
    if len(text) > LONGEST_TEXT:
        return [f"the answer has {len(text)} characters, more than {LONGEST_TEXT}: state one fact"]
    plain, quotations = _apart(text)
    defects = []
    because = BECAUSE.search(plain)
    if because is None:
        defects.append(f'there is no "because": {FORM}')
    else:
        before = SENTENCE_END.split(plain[: because.start()])[-1]
        if len(before.split()) < 2:
            defects.append(f'there is no claim before "because": {FORM}')
        if not _citations_in(plain[because.end() :], quotations, root):
            example = "name a path, a commit, or a command in `code` that can be run here"
            defects.append(f'nothing after "because" can be looked at: {example}')
    return defects + hedges(text)


def hedges(text: str) -> list[str]:
    words = [match[0] for match in HEDGES.finditer(AS_WANTED.sub(" ", observed_in(text)))]
    restate = 'say what was observed in one sentence and what is not known in another, "unknown: …"'
    return [f'"{word}" hedges: {restate}' for word in dict.fromkeys(words)]


def without_quotations(text: str) -> str:
    """What is only quoted is the work's own words: a button may be labelled "Looks good"."""
    return QUOTED.sub(" … ", text[:LONGEST_TEXT]).replace("’", "'")


def observed_in(text: str) -> str:
    """What a text says was seen: without its quotations, and without the sentences that say "unknown: …"."""
    return _apart(text)[0]


def _apart(text: str) -> tuple[str, list[str]]:
    """The same with the number of each quotation in its place, and the quotations."""
    quotations: list[str] = []

    def number(match: re.Match[str]) -> str:
        quotations.append(match[0])
        return f"`{len(quotations) - 1}`"

    plain = QUOTED.sub(number, text[:LONGEST_TEXT]).replace("’", "'")
    sentences = [sentence for sentence in SENTENCE_END.split(plain) if not UNKNOWN.match(sentence)]
    return "\n".join(sentences), quotations


def triggers(statement: str, root: str) -> dict[str, str]:
    """The first words of each class that call for a claim, by class."""
    plain, quotations = _apart(statement)
    called: dict[str, str] = {}
    for sentence in plain.split("\n"):
        called = {**_triggers_in(sentence, quotations, root), **called}
    return called


def _triggers_in(sentence: str, quotations: list[str], root: str) -> dict[str, str]:
    # "0 records have errors because a.jsonl was counted" names them in its other clause.
    has_records = any(thing.text.lower().endswith(RECORDS) for thing in _named_in(sentence, quotations, root))
    called: dict[str, str] = {}
    for clause in CLAUSE_END.split(sentence):
        kinds = {thing.kind for thing in _named_in(clause, quotations, root)}
        if has_records:
            kinds.add("records")
        text = clause.lower()
        for written, read in (("n't", " not"), ("cannot", "can not"), ("%", " percent"), ("-", " ")):
            text = text.replace(written, read)
        text = " ".join(text.split())
        for name, trigger in TRIGGERS.items():
            for words in trigger.words:
                if kinds & trigger.of and re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text):
                    called.setdefault(name, words)
    return called


def citations(text: str, root: str) -> list[Citation]:
    """What a text names that can be looked at."""
    return _citations_in(*_apart(text), root)


def _citations_in(plain: str, quotations: list[str], root: str) -> list[Citation]:
    cited = []
    for sentence in plain.split("\n"):
        is_absence = "absence" in _triggers_in(sentence, quotations, root)
        for thing in _named_in(sentence, quotations, root):
            if thing.kind != "name":
                cited.append(thing._replace(is_said_absent=is_absence))
    return list(dict.fromkeys(cited))


def _named_in(text: str, quotations: list[str], root: str) -> list[Citation]:
    named = []
    for match in re.finditer(r"`(\d+)`|[^\s`]+", text):
        if match[1] is None:
            word = match[0].lstrip(BEFORE_WORDS).rstrip(AFTER_WORDS)
            thing = _of_word(word, root, in_code=False)
            is_name = NAME.fullmatch(word)
        else:
            word = quotations[int(match[1])]
            after = EXIT_CODE.match(text, match.end())
            thing = _of_quotation(word, root, int(after[1]) if after else None)
            is_name = NAME_IN_CODE.fullmatch(word)
        if thing is None and is_name:
            thing = Citation("name", word)
        if thing is not None:
            named.append(thing)
    return named


def _of_word(word: str, root: str, *, in_code: bool) -> Citation | None:
    if "://" in word:
        return Citation("address", word)
    path = PLACE_IN_FILE.sub("", word)
    if COMMIT.fullmatch(path):
        return Citation("commit", path)
    directory, _, name = path.rpartition("/")
    stem, _, ending = name.rpartition(".")
    is_file = bool(stem) and ending.lower() in FILE_ENDINGS
    if directory and ending in ENDINGS_IN_CODE:
        is_file = True
    elif directory and not is_file and os.path.isdir(os.path.join(root, path.removeprefix("./").split("/")[0])):
        is_file = in_code or os.path.lexists(os.path.join(root, path))  # src/tool; but client/server are two words
    elif ending in ENDINGS_IN_CODE:
        is_file = bool(stem) and is_there(root, path)
    elif ending == "js" and stem[:1].isupper() and not directory:
        is_file = False  # Node.js
    if is_file:
        return Citation("path", path)
    return Citation("address", word) if ADDRESS.fullmatch(word) else None


def _of_quotation(quotation: str, root: str, exits: int | None) -> Citation | None:
    content = quotation.strip("`\"'“”‘’").strip().removeprefix("$ ")
    citation = None
    if len(content.split()) == 1:
        citation = _of_word(content, root, in_code=quotation.startswith("`"))
    if citation is not None or not quotation.startswith("`"):
        return citation
    if os.path.lexists(os.path.join(root, content)) and content.strip("./"):
        return Citation("path", content)  # `Makefile`
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
    return git.run(root, "log", "-1", "--format=%h", "--", wanted).text.strip() != ""
