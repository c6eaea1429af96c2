"""The form of a verification answer: "X is Y because Z", where Z can be looked at, and no hedge on what was seen."""

from __future__ import annotations

import re

from omo.verify import wording

_HEDGES = re.compile(
    r"""\b(?:
      possibly | perhaps | maybe | probably | presumably | supposedly | apparently | hopefully | likely
    | might | could\ be | could\ have\ been | may\ (?:be|have) | should\ (?:be|have|work|pass|now|do)
    | seems? | seemed | seemingly | appears?\ (?:to|that|as\ if|correct|fine|good|ok|okay|done|complete|right|working)
    | looks\ (?:like|as\ if|correct|fine|good|ok|okay|done|complete|right)
    | I\ (?:think|believe|guess|assume|suppose|suspect|imagine|expect|hope)
    | as\ far\ as\ I\ (?:know|can\ tell|remember|see) | if\ I\ (?:recall|remember) | to\ my\ knowledge | in\ theory
    | not\ (?:entirely\ |quite\ |completely\ )?(?:sure|certain) | unsure | more\ or\ less
    )\b(?!-)""",
    re.VERBOSE | re.IGNORECASE,
)
# Names a way it could look done and not be, as it is asked to: that is no hedge on what was seen.
_SUPPOSITION = re.compile(
    r"\s*(?:[-*•]\s+)?(?:(?:the\s+)?failure mode\b|it (?:could|might|would|may) (?:look|appear|seem)\b)", re.I
)
_BECAUSE = re.compile(r"\bbecause\b", re.IGNORECASE)

# "X is Y": a subject, then a verb. English verbs cannot be listed, but in a statement of fact they end like these.
_VERB = re.compile(r"is|are|was|were|has|have|had|do|did|can|cannot|wrote|ran|made|built|\w{2,}(?:s|ed)|\w+n't", re.I)
_CONCRETE = (
    re.compile(rf"[`\"']{wording.FILL}+[`\"']?"),
    re.compile(
        r"\b(?:exit(?:s|ed)?|return(?:s|ed)?)(?: (?:code|status|with|value|of|is|was|=)){0,3} ?-?\d{1,3}\b", re.I
    ),
    re.compile(r"\b(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40}\b"),
    re.compile(r"\bhttps?://\S|\b(?:localhost|\d{1,3}(?:\.\d{1,3}){3}):\d", re.I),
    re.compile(r"\b\d+ (?:tests? )?(?:passed|failed|errors?|warnings?|skipped)\b", re.I),
)
_SPLIT = 'say what was observed in one sentence and what is not known in another, "unknown: …"'
_FORM = 'write "X is Y because Z", where Z is what you looked at'
_EVIDENCE = "name a path, a command in `code`, an exit code, a commit, or quoted output"


def check_statement(text: str) -> list[str]:
    """What is wrong with a verification answer, each with how to restate it; empty when nothing is."""
    if not text.strip():
        return [f"the answer is empty: {_FORM}"]
    if len(text) > wording.LONGEST_TEXT:
        return [f"the answer has {len(text)} characters, more than {wording.LONGEST_TEXT}: state one fact"]
    stated = [sentence for sentence in wording.sentences(text) if not sentence.is_unknown]
    return _form_defects(stated) + _hedge_defects(stated)


def hedges(text: str) -> list[str]:
    return [said for said in check_statement(text) if " hedges" in said]


def _form_defects(stated: list[wording.Sentence]) -> list[str]:
    reasoned = [(n, because) for n, one in enumerate(stated) if (because := _BECAUSE.search(one.plain))]
    if not reasoned:
        return [f'there is no "because": {_FORM}']
    position, because = reasoned[0]
    defects = []
    if not any(_VERB.fullmatch(word.text) for word in stated[position].words(0, because.start())[1:]):
        defects.append(f'there is no claim before "because": {_FORM}')
    if not any(
        _is_concrete(one, because.end() if n == position else 0) for n, one in enumerate(stated) if n >= position
    ):
        defects.append(f'nothing after "because" can be looked at: {_EVIDENCE}')
    return defects


def _is_concrete(sentence: wording.Sentence, start: int) -> bool:
    if any(pattern.search(sentence.plain, start) for pattern in _CONCRETE):
        return True
    return any(wording.path_in(word) for word in sentence.words(start))


def _hedge_defects(stated: list[wording.Sentence]) -> list[str]:
    observed = [sentence for sentence in stated if not _SUPPOSITION.match(sentence.plain)]
    found = (match[0] for sentence in observed for match in _HEDGES.finditer(sentence.plain))
    return [f'"{word}" hedges: {_SPLIT}' for word in dict.fromkeys(found)]
