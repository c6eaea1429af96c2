"""Files written by programs with a language, an archive or an option of their own for it, from their words alone."""

from __future__ import annotations

from omo.shell import name
from omo.ultrawork.arguments import letters, operands, option
from omo.ultrawork.fence import FILE, TREE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Writes = list[tuple[str, str]]  # path, and what of it

TAR_WRITES = ("--create", "--append", "--update", "--concatenate")
UNZIP_READS = set("ltpZvzc")
KEYGEN_READS = set("lyFeBHD")
OWN_KEY = "~/.ssh/id_rsa"
ENDS_STATEMENT = ";{}\n"
REST_OF_LINE = "aicrRbtT:#"  # commands of sed whose argument goes on to the end of the line
# Programs that rewrite what they are given: the words that make them do so (none: they always do), the words that keep
# them from it, the options with a value.
FORMATTERS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "prettier": (("--write", "-w"), (), ("--config", "--parser", "--ignore-path", "--plugin", "--log-level")),
    "eslint": (("--fix",), (), ("-c", "--config", "--ext", "--rule", "-f", "--format", "--ignore-pattern")),
    "black": ((), ("--check", "--diff"), ("-l", "--line-length", "-t", "--target-version", "--config", "--exclude")),
    "isort": ((), ("--check", "-c", "--check-only", "--diff"), ("--profile", "-l", "--line-length", "--skip")),
    "gofmt": (("-w",), (), ("-r",)),
    "shfmt": (("-w",), (), ("-i", "-ln")),
    "clang-format": (("-i",), (), ("--style", "-style")),
}
RUFF_VALUES = ("--config", "--line-length", "--target-version", "--select", "--ignore", "--exclude")


def _awk(words: list[str]) -> Writes:
    """`print > "file"` in the program, and the files of `-i inplace`."""
    values = ("-v", "-F", "-f", "-i", "-e", "--assign", "--field-separator", "--file", "--include", "--source")
    given = [*option(words, "e", "--source", "vFfi")]
    is_filed = bool(given or option(words, "f", "--file", "vFei"))
    paths = operands(words, values)
    texts = given if is_filed else paths[:1]
    files = paths if is_filed else paths[1:]
    in_place = any("inplace" in one for one in option(words, "i", "--include", "vFfe"))
    kept = [(one, FILE) for one in files if in_place and "=" not in one]
    return [*kept, *((one, FILE) for text in texts for one in _printed_to(text))]


def _printed_to(text: str) -> list[str]:
    """A `>` counts behind a print alone: elsewhere it compares."""
    found = []
    for at, letter in enumerate(text):
        rest = text[at + 1 :].lstrip("> \t") if letter == ">" else ""
        begins = max(text.rfind(sign, 0, at) for sign in ENDS_STATEMENT) + 1
        if rest.startswith('"') and "print" in text[begins:at]:
            found.append(rest[1:].partition('"')[0])
    return [one for one in found if one]


def sed_scripts(words: list[str]) -> Writes:
    """`w FILE`, and the flag w of an s."""
    given = option(words, "e", "--expression", "fl")
    is_given = bool(given or option(words, "f", "--file", "el"))
    paths = operands(words, ("-e", "-f", "-l", "--expression", "--file"))
    paths = paths[1:] if paths[:1] == [""] else paths
    texts = given if is_given else paths[:1]
    return [(one, FILE) for text in texts for line in text.split("\n") for one in _sed_line(line) if one]


def _sed_line(line: str) -> list[str]:
    at = 0
    while at < len(line):
        at = _after_address(line, at)
        command = line[at : at + 1]
        if command in ("w", "W"):
            return [line[at + 1 :].strip()]
        if command in tuple(REST_OF_LINE):
            return []
        if command in ("s", "y"):
            at = _after(line, _after(line, at + 1, line[at + 1 : at + 2]), line[at + 1 : at + 2], is_open=True)
            flags = line[at:].partition(";")[0].partition("}")[0]
            if command == "s" and "w" in flags:
                return [line[at:].partition("w")[2].strip()]
        ends = [place for place in (line.find(sign, at) for sign in ";{}") if place >= 0]
        at = min(ends, default=len(line)) + 1
    return []


def _after_address(line: str, at: int) -> int:
    while at < len(line) and (line[at] in " \t$,!+~/\\" or line[at].isdigit()):
        if line[at] == "/":
            at = _after(line, at, "/") - 1
        elif line[at] == "\\":
            at = _after(line, at + 1, line[at + 1 : at + 2]) - 1
        at += 1
    return at


def _after(line: str, at: int, sign: str, *, is_open: bool = False) -> int:
    """Behind the next unescaped sign; the one that opens stands at `at`, unless that is done already."""
    at += 0 if is_open else 1
    while sign and at < len(line) and line[at] != sign:
        at += 2 if line[at] == "\\" else 1
    return at + 1


def _tar(words: list[str]) -> Writes:
    bundled = words[1] if len(words) > 1 and not words[1].startswith("-") else ""
    flags = letters(words, "CfTXIKN") | set(bundled)
    into = option(words, "C", "--directory", "fTXIKN")
    if "x" in flags or {"--extract", "--get"} & set(words):
        return [] if "O" in flags or "--to-stdout" in words else [(one, TREE) for one in into[-1:] or ["."]]
    if not flags & set("cruA") and not set(TAR_WRITES) & set(words):
        return []
    named = words[2:3] if "f" in bundled else option(words, "f", "--file", "CTXIKN")
    return [(one, FILE) for one in named if one != "-" and ":" not in one.partition("/")[0]]


def _unzip(words: list[str]) -> Writes:
    if letters(words, "dPx") & UNZIP_READS:
        return []
    return [(one, TREE) for one in option(words, "d", "--directory", "Px") or ["."]]


def _compressed(words: list[str]) -> Writes:
    """Each file is replaced by another beside it."""
    flags = letters(words, "S")
    if flags & set("ctl") or {"--stdout", "--to-stdout", "--test", "--list"} & set(words):
        return []
    return [(one, TREE if "r" in flags else FILE) for one in operands(words, ("-S", "--suffix", "-o")) if one != "-"]


def _openssl(words: list[str]) -> Writes:
    return [(words[at + 1], FILE) for at in range(len(words) - 1) if words[at] in ("-out", "-keyout")]


def _split(words: list[str]) -> Writes:
    values = ("-a", "-b", "-C", "-l", "-n", "-t", "--lines", "--bytes", "--number", "--suffix-length", "--filter")
    prefix = [*operands(words, values)[1:2], "x"][0]
    return [(prefix + "aa", FILE)]


def _csplit(words: list[str]) -> Writes:
    return [(one + "00", FILE) for one in option(words, "f", "--prefix", "bn") or ["xx"]]


def _ssh_keygen(words: list[str]) -> Writes:
    if letters(words, "fbtCNPRIOnsVz") & KEYGEN_READS:
        return []
    return [(one, FILE) for one in option(words, "f", "--file", "btCNPRIOnsVz") or [OWN_KEY]]


def _ssh_copy_id(words: list[str]) -> Writes:
    return [("~/.ssh/authorized_keys", FILE)]


def _formatted(words: list[str]) -> Writes:
    needs, keeps, values = FORMATTERS[name(words)]
    if (needs and not set(needs) & set(words)) or set(keeps) & set(words):
        return []
    return [(one, FILE) for one in operands(words, values) if one != "-"]


def _ruff(words: list[str]) -> Writes:
    """`ruff format`, and `ruff check --fix`."""
    verb = next((one for one in words[1:] if not one.startswith("-")), "")
    writes = verb == "format" or (verb == "check" and "--fix" in words)
    if not writes or {"--check", "--diff"} & set(words):
        return []
    return [(one, FILE) for one in operands(words, RUFF_VALUES)[1:] if one != "-"]


def git_output(verb: list[str]) -> Writes:
    """diff, log, show, format-patch, archive, bundle with a file to write to."""
    short = "o" if verb[0] in ("format-patch", "archive") else ""
    named = option(verb, short or "\0", "--output-directory" if verb[0] == "format-patch" else "--output")
    if verb[0] == "bundle" and verb[1:2] == ["create"]:
        named = operands(verb)[1:2]
    if verb[0] == "format-patch" and not named and "--stdout" not in verb:
        named = ["0001-.patch"]
    return [(one, FILE) for one in named]


GIT_OUTPUT = ("diff", "log", "show", "format-patch", "archive", "bundle")
TOOLS: dict[str, Callable[[list[str]], Writes]] = {
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    **dict.fromkeys(("tar", "bsdtar", "gtar"), _tar),
    "unzip": _unzip,
    **dict.fromkeys(("gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz"), _compressed),
    "openssl": _openssl,
    "split": _split,
    "csplit": _csplit,
    "ssh-keygen": _ssh_keygen,
    "ssh-copy-id": _ssh_copy_id,
    **dict.fromkeys(FORMATTERS, _formatted),
    "ruff": _ruff,
}
