"""Reading a sentence: its quotations, its parts, its words, and which of those words are paths or names."""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST_TEXT = 8_000
SHORTEST_REASON = 10


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Stands for each letter inside a quotation: what is only quoted is neither a claim nor a hedge.
FILL = "\ue000"

_STRAIGHT = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', FILL: " ", "\0": " ", "\t": " ", "\r": " "})
_QUOTED = re.compile(
    r"```.{0,4000}?```"
    r"|`[^`\n]{1,400}`"
    r'|"[^"\n]{1,400}"'
    r"|(?<![\w'])'(?:[^'\n]|(?<=\w)'(?=\w)){1,400}'(?!\w)",
    re.DOTALL,
)
_SENTENCE_END = re.compile(r"[.!?]+(?=\s|$)|;(?=\s|$)|\n\s*\n|\n(?=[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t])")
_WORD = re.compile(rf"(?P<mark>[`\"'])(?:{FILL})+(?P=mark)|[^\s`\",;()\[\]{{}}<>{FILL}]{{1,300}}")
_UNKNOWN = re.compile(
    r"\s*(?:[-*•]\s+)?(?:still\s+)?(?:unknown|not known|not verified|unverified)\s*(?::|—|–| - )", re.I
)
_EXTENSIONS = word_set(
    """
    bash bat bin c cc cfg conf cpp cs css csv dart db diff ex exs env erl fish go gradle graphql h hpp hs html ini
    ipynb java jar js json jsonc jsonl jsx kt less lock log lua md mdx mjs cjs ml ndjson nix parquet patch pdf php pl
    plist png proto ps1 py pyi r rb rs rst sass scala scss sh sql sqlite svg swift tar tex tf toml ts tsv tsx txt vue
    wasm wav webp whl xml yaml yml zig zip zsh gz jpg jpeg gif
    """
)
_KNOWN_FILES = word_set("makefile dockerfile license readme changelog gemfile rakefile justfile procfile")
_PRODUCTS = word_set("node.js next.js vue.js nuxt.js react.js three.js d3.js express.js asp.net discord.py")
_TOP_DIRECTORIES = word_set(
    "src lib app apps bin cmd pkg packages test tests spec docs doc scripts hooks skills agents config conf dist build "
    "bench tools internal include public assets data examples .github .sisyphus .claude .claude-plugin .ci"
)
_EXTENSION = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,9})$")
_DOT_FILE = re.compile(r"\.[A-Za-z][\w-]*")
_PLACE_IN_FILE = re.compile(r"(?:::\S*|#L\d\S*|:\d+(?::\d+)?)$")
_HAS_NAME_SHAPE = re.compile(r"[_$@#=]|::|\(\)|[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]|\w\.\w|\w/\w|^--?\w|\w-\w")


@dataclass(frozen=True)
class Word:
    """One word, or one quotation without its marks, and where it stands."""

    text: str
    quoted: bool
    start: int
    end: int


@dataclass(frozen=True)
class Sentence:
    """`plain` has every quotation blanked out, letter for letter; `text` is the same stretch as written."""

    text: str
    plain: str
    end_mark: str

    @property
    def is_unknown(self) -> bool:
        """ "Unknown: …" says openly that nothing is claimed."""
        return bool(_UNKNOWN.match(self.plain))

    def words(self, start: int = 0, end: int | None = None) -> list[Word]:
        return [
            self._word(match) for match in _WORD.finditer(self.plain, start, len(self.plain) if end is None else end)
        ]

    def _word(self, match: re.Match[str]) -> Word:
        if match["mark"]:
            return Word(self.text[match.start() + 1 : match.end() - 1].strip("`"), True, match.start(), match.end())
        bare = match[0].rstrip(".,:;!?*")
        return Word(bare, False, match.start(), match.start() + len(bare))


def straighten(text: str) -> str:
    """Plain quotes for typographic ones, and one blank between words."""
    return re.sub(r" ?\n ?", "\n", re.sub(r" {2,}", " ", text.translate(_STRAIGHT)))


def blank_quotations(text: str) -> str:
    """The text with the inside of quotations and code filled in, so that places stay the same."""
    return _QUOTED.sub(lambda match: match[0][0] + FILL * (len(match[0]) - 2) + match[0][-1], text)


def sentences(text: str) -> list[Sentence]:
    straight = straighten(text[:LONGEST_TEXT])
    plain = blank_quotations(straight)
    found, start = [], 0
    for end in _SENTENCE_END.finditer(plain):
        found.append(_sentence(straight[start : end.start()], plain[start : end.start()], end[0]))
        start = end.end()
    found.append(_sentence(straight[start:], plain[start:], ""))
    return [sentence for sentence in found if sentence.text.strip()]


def _sentence(text: str, plain: str, end_mark: str) -> Sentence:
    return Sentence(text.replace("\n", " "), plain.replace("\n", " "), end_mark)


def path_in(word: Word) -> str | None:
    """The path a word is, without a line number or test name behind it; None for a word that is none."""
    text = _PLACE_IN_FILE.sub("", word.text)
    if not text or "://" in text or len(text) > 300 or any(letter.isspace() or letter in "*?<>|" for letter in text):
        return None
    return text if _is_path(text, quoted=word.quoted) else None


def _is_path(text: str, *, quoted: bool) -> bool:
    name = text.rstrip("/").rpartition("/")[2]
    if text.lower() in _PRODUCTS or not name.strip("."):
        return False
    if _DOT_FILE.fullmatch(name) or (name.lower() in _KNOWN_FILES and name[0].isupper()):
        return True
    if extension := _EXTENSION.search(name):  # json.loads and example.com end in no extension
        return extension[1].lower() in _EXTENSIONS
    return "/" in text and (
        quoted or text[0] in "./~" or text.endswith("/") or text.partition("/")[0] in _TOP_DIRECTORIES
    )


def is_name(word: Word) -> bool:
    """Is this word an identifier, an option or another exact name, rather than prose?"""
    return word.quoted or bool(_HAS_NAME_SHAPE.search(word.text))
