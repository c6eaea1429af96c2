"""The form of a verification answer: "X is Y because Z", where Z can be looked at, and no hedge on what was seen."""

from __future__ import annotations

import re

LONGEST_TEXT = 8_000
SHORTEST_REASON = 10

QUOTED = re.compile(r"```.*?```|`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|(?<!\w)'[^'\n]*'(?!\w)|(?<!\w)‘[^’\n]*’(?!\w)", re.S)
A_QUOTATION = "``"  # stands for each: what is only quoted is neither a claim nor a hedge
SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n")
UNKNOWN = re.compile(r"\s*(?:[-*•]\s+)?(?:still\s+)?(?:unknown|not known|not verified|unverified)\s*:", re.I)

HEDGES = re.compile(
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
BECAUSE = re.compile(r"\bbecause\b", re.I)
EVIDENCE = re.compile(
    rf"""
      {A_QUOTATION}
    | \b[\w.-]+/[\w./-]+ | \b\w[\w-]*\.[a-z]\w{{0,9}}\b                             # a path
    | \b(?:exit|exits|exited|return|returns|returned|code|status)\b[^.;]{{0,20}}\d  # an exit code
    | \b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{{7,40}}\b                         # a commit
    | \bhttps?://\S | \b[\w.-]+:\d+
    | \b\d+\ (?:tests?\ )?(?:passed|failed|errors?|warnings?|skipped)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
FORM = 'write "X is Y because Z", where Z is what you looked at'


def check_statement(text: str) -> list[str]:
    """What is wrong with a verification answer, each with how to restate it; empty when nothing is."""
    if not text.strip():
        return [f"the answer is empty: {FORM}"]
    if len(text) > LONGEST_TEXT:
        return [f"the answer has {len(text)} characters, more than {LONGEST_TEXT}: state one fact"]
    observed = observed_in(text)
    defects = []
    because = BECAUSE.search(observed)
    if because is None:
        defects.append(f'there is no "because": {FORM}')
    else:
        before = SENTENCE_END.split(observed[: because.start()])[-1]
        if len(before.split()) < 2:
            defects.append(f'there is no claim before "because": {FORM}')
        if not EVIDENCE.search(observed, because.end()):
            example = "name a path, a command in `code`, an exit code, a commit, or quoted output"
            defects.append(f'nothing after "because" can be looked at: {example}')
    return defects + hedges(text)


def hedges(text: str) -> list[str]:
    words = [match[0] for match in HEDGES.finditer(observed_in(text))]
    restate = 'say what was observed in one sentence and what is not known in another, "unknown: …"'
    return [f'"{word}" hedges: {restate}' for word in dict.fromkeys(words)]


def observed_in(text: str) -> str:
    """What a text says was seen: without its quotations, and without the sentences that say "unknown: …"."""
    plain = QUOTED.sub(A_QUOTATION, text[:LONGEST_TEXT]).replace("’", "'")
    sentences = [sentence for sentence in SENTENCE_END.split(plain) if not UNKNOWN.match(sentence)]
    return "\n".join(sentences)
