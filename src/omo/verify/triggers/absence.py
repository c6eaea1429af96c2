"""exhaustive-search: what is said not to be there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from omo.verify.triggers.clauses import ADVERBS, after, anchors, before, trigger
from omo.verify.triggers.model import EXHAUSTIVE_SEARCH, AbsenceClaim, Address, Trigger
from omo.verify.wording import Sentence, Word, is_name, path_in, word_set

_THERE_IS_NO = re.compile(
    r"\b(?:there(?:'s| is| are| exists| was| were) no|there (?:isn't|aren't|is not|are not)(?: an?| any)?|no such"
    r"|(?:we|they|it|I|the (?:project|repo|repository|codebase|code|tree|plugin|tool)) "
    r"(?:don't|doesn't|do not|does not) (?:yet )?have(?: an?| any)?"
    r"|the (?:project|repo|repository|codebase|code|tree|plugin|tool) (?:has no|lacks)"
    r"|(?:no|zero) (?:references?|mentions?|occurrences?|traces?) (?:to|of))\b",
    re.I,
)
_IS_NOT_THERE = re.compile(
    r"\b(?:(?:does not|doesn't|do not|don't|did not|didn't) (?:yet |even |actually )?exist|no longer exists?"
    r"|(?:(?:is|are|was|were|has|have)(?: not|n't)(?: been)?|not)(?: yet| even| actually| currently)? "
    r"(?:implemented|defined|present|built(?! (?:on|with|by|in|for|from|to|into|against|using)\b))"
    r"|(?:is|are) (?:still )?(?:absent|unimplemented|nowhere)"
    r"|(?P<exact>(?:is|are|was|were) (?:missing|gone|not found|(?:deleted|removed))"
    r"|has been (?:deleted|removed)|could not be found|not found))\b(?!-)",
    re.I,
)
_IS_NOT_USED = re.compile(
    r"\b(?:(?:(?:is|are)(?: not|n't)|(?:is|are) never|not) (?:used|called|referenced|imported)|(?:is|are) unused)\b"
    r"(?! (?:to|for|as|by|with|on|at|until|unless|when|if|after|before|during|directly|twice|often|correctly)\b)",
    re.I,
)
_IMPOSSIBLE = re.compile(
    r"\b(?:(?:can't|cannot|can not|couldn't|could not) be done|not possible|isn't possible)\b", re.I
)
KINDS = word_set(
    """
    file files function functions class classes module modules command commands option options flag flags hook hooks
    script scripts endpoint endpoints field fields setting settings key keys route routes table tables column columns
    variable variables constant method methods type types directory folder package dependency skill agent gate symbol
    identifier attribute property parameter argument helper test fixture
    """
)
ARTICLES = word_set("the a an any this that these those our its such longer yet more single other named called as")
GENERIC = word_set(
    """
    it this that they he she which who what there here one thing things feature features functionality code support
    something anything everything nothing implementation part parts work logic value values data entry entries result
    results message messages line lines content contents item items record records state status number name names user
    users version check checks default bit directory and or to be not is
    """
)
NOT_A_THING = word_set(
    """
    doubt need reason reasons way ways problem problems issue issues error errors difference differences change changes
    evidence point harm risk risks regression regressions failure failures warning warnings question questions sign
    chance guarantee excuse conflict conflicts hurry impact effect bug bugs time room output diff drift loss cost
    downside alternative benefit further known remaining failing failed open uncommitted pending outstanding unresolved
    broken skipped flaky new obvious visible answer choice harm contradiction limit rush sense side matter plan reply
    response progress longer one more tests
    """
)
_STOPS = word_set(
    """
    in on at of for from to with by that which who so and or but because anywhere yet here there as is are was were has
    have to than then when if while after before under inside within left remaining any anymore now any-more
    """
)
_IN = word_set("in from under inside within")
_PROJECT = word_set(
    "repo repository project codebase code base tree source sources checkout worktree workspace it here git"
)


def claims(sentence: Sentence, _: list[Address]) -> Iterator[Trigger]:
    for anchor in anchors(_THERE_IS_NO, sentence):
        rest = after(sentence, anchor.end())
        if (named := _named_after(rest)) is not None:
            yield _absence(sentence, anchor, named, rest)
    for anchor in anchors(_IS_NOT_THERE, sentence):
        words = before(sentence, anchor.start())
        named = _named_before(words)
        exact = len(named) == 1 and is_name(named[0])
        if (anchor["exact"] and not exact) or NOT_A_THING & {word.text.lower() for word in words[-1:]}:
            continue
        rest = after(sentence, anchor.end())
        yield _absence(sentence, anchor, named, rest if _scope_of(rest) != "" else words)
    for anchor in anchors(_IS_NOT_USED, sentence):
        words = before(sentence, anchor.start())
        named = _named_before(words)
        if len(named) == 1 and is_name(named[0]):
            scope = _scope_of(after(sentence, anchor.end()))
            claim = AbsenceClaim(named[0].text.removesuffix("()"), scope=scope, of_uses=True)
            yield trigger(EXHAUSTIVE_SEARCH, sentence, anchor, claim, named)
    for anchor in anchors(_IMPOSSIBLE, sentence):
        yield trigger(EXHAUSTIVE_SEARCH, sentence, anchor, AbsenceClaim(None), [])


def _absence(sentence: Sentence, anchor: re.Match[str], named: list[Word], around: list[Word]) -> Trigger:
    path = path_in(named[0]) if len(named) == 1 else None
    name = path or " ".join(word.text for word in named) or None
    claim = AbsenceClaim(name, is_path=path is not None, scope=_scope_of(around))
    return trigger(EXHAUSTIVE_SEARCH, sentence, anchor, claim, named)


# What stands between a thing and its mentions; a search for text finds some of these and not others.
_MENTIONS = word_set("reference references mention mentions occurrence occurrences trace traces")
_RELATIONS = word_set("caller callers use uses usage usages import imports user users consumer consumers dependents")


def _named_after(rest: list[Word]) -> list[Word] | None:
    """The thing that is said not to be there; empty when it has no name, None when no thing is meant."""
    rest = _skip(rest, ARTICLES)
    kind = bool(rest and _is_kind(rest[0]))
    rest = _skip(rest, KINDS | {"or", "named", "called", "as"}) if kind else rest
    if not rest or rest[0].text.lower() in _STOPS:
        return [] if kind else None
    if rest[0].text.lower() in _MENTIONS | _RELATIONS:
        return _skip(rest[1:], ARTICLES | {"to", "of"})[:1] if rest[0].text.lower() in _MENTIONS else []
    if is_name(rest[0]) or path_in(rest[0]):
        return rest[:1]
    phrase = _until_stop(rest)
    if NOT_A_THING & {word.text.lower() for word in phrase}:
        return None
    return next(([word] for word in phrase if is_name(word)), phrase if len(phrase) <= 3 else [])


def _named_before(words: list[Word]) -> list[Word]:
    """The subject of "… does not exist": the exact name nearest to it, else up to three plain words."""
    words = _without_place(words)
    while len(words) > 1 and (words[-1].text.lower() in ADVERBS or _is_kind(words[-1])):
        words = words[:-1]
    if not words or words[-1].text.lower() in ARTICLES | GENERIC or _is_kind(words[-1]):
        return []
    if is_name(words[-1]) or path_in(words[-1]):
        return words[-1:]
    phrase: list[Word] = []
    for word in reversed(words):
        if word.text.lower() in ARTICLES | GENERIC | _STOPS or len(phrase) == 4:
            break
        phrase.insert(0, word)
    return phrase if len(phrase) <= 3 else []


def _without_place(words: list[Word]) -> list[Word]:
    """ "the `x` function in a.py" without "in a.py"."""
    for back in (2, 3):
        if len(words) > back and words[-back].text.lower() in _IN and not words[-back].quoted:
            return words[:-back]
    return words


def _scope_of(words: list[Word]) -> str | None:
    for position, word in enumerate(words[:-1]):
        if word.text.lower() in _IN and not word.quoted:
            place = _skip(words[position + 1 :], ARTICLES | {"file", "directory", "folder", "module"})
            if not place or place[0].text.lower() in _PROJECT:
                return ""
            return path_in(place[0])
    return ""


def _skip(words: list[Word], these: frozenset[str]) -> list[Word]:
    for position, word in enumerate(words):
        if word.quoted or word.text.lower() not in these:
            return words[position:]
    return []


def _is_kind(word: Word) -> bool:
    return not word.quoted and word.text.lower() in KINDS


def _until_stop(words: list[Word]) -> list[Word]:
    phrase = []
    for word in words:
        if not word.quoted and word.text.lower() in _STOPS:
            break
        phrase.append(word)
    return phrase
