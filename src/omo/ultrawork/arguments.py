"""The words of a command taken apart: what is an option, what is its value, what is left."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def operands(words: Sequence[str], values: Sequence[str] = ()) -> list[str]:
    """What is no option. `values`: options whose value is the next word."""
    found: list[str] = []
    is_over = False
    skip = False
    for word in words[1:]:
        if skip:
            skip = False
        elif not is_over and word == "--":
            is_over = True
        elif is_over or not word.startswith("-") or word == "-":
            found.append(word)
        else:
            skip = word in values
    return found


def option(words: Sequence[str], short: str, long: str, takes: str = "") -> list[str]:
    """The values of an option: `-o x`, `-ox`, `-so x`, `--output x`, `--output=x`.

    `takes`: other letters with a value, after which the rest of the word is theirs.
    """
    found = []
    for at, word in enumerate(words):
        following = list(words[at + 1 : at + 2])
        letters = word[1:] if word.startswith("-") and not word.startswith("--") else ""
        end = next((index for index, letter in enumerate(letters) if letter in takes or letter == short), -1)
        if word.startswith(long + "="):
            found.append(word[len(long) + 1 :])
        elif word == long:
            found += following
        elif end >= 0 and letters[end] == short:
            found += [letters[end + 1 :]] if letters[end + 1 :] else following
    return found


def letters(words: Sequence[str], takes: str = "") -> set[str]:
    """The letters of short options, up to a `--`; `takes`: those after which the rest of the word is a value."""
    options = words[1 : words.index("--")] if "--" in words else words[1:]
    flags = [before(one[1:], takes) for one in options if one[:1] == "-" and one[1:2] != "-"]
    return {letter for one in flags for letter in one}


def before(text: str, ends: str) -> str:
    return text[: next((at for at, letter in enumerate(text) if letter in ends), len(text))]
