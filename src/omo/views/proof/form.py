"""The form of what `omo proof --json` prints. Unknown fields are ignored: a newer omo may write them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, PlainValidator

from omo.strict import Strict

Verdict = Literal["proven", "nothing to prove", "not proven", "cannot tell"]
HunkWord = Literal["held", "not held", "only breaks the build", "not looked at"]
MutantWord = Literal["killed", "lived", "cannot tell", "not run"]
Number = Annotated[int, Field(ge=0)]
Commit = Annotated[str, Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64}|)$")]  # empty where there is none


def _text(value: object) -> str:
    """Accept any text. The type of pydantic refuses the surrogates that Python has in names that are no UTF-8."""
    if not isinstance(value, str):
        raise ValueError("must be a text")  # noqa: TRY004  # pydantic makes no defect of a TypeError
    return value


def _path(value: object) -> str:
    path = _text(value)
    try:
        path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        path = ""
    if not path:
        raise ValueError("must be a path")
    return path


Text = Annotated[Any, PlainValidator(_text)]
Path = Annotated[Any, PlainValidator(_path)]


class _Form(Strict):
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class _Run(_Form):
    result: Text
    said: Text


class _Command(_Form):
    command: Text
    directory: Text
    verdict: Text
    reason: Text
    runs: dict[str, _Run]
    notes: list[Text]


class _Hunk(_Form):
    path: Path
    first: Number
    last: Number
    place: Text
    word: HunkWord
    why: Text
    before: list[Text]
    after: list[Text]


class _Lines(_Form):
    command: Text
    counts: dict[HunkWord, Number]
    text: Text
    hunks: list[_Hunk]


class _Mutant(_Form):
    path: Path
    line: Number
    kind: Text
    before: Text
    after: Text
    word: MutantWord
    why: Text


class _Mutants(_Form):
    text: Text
    why: Text
    counts: dict[MutantWord, Number]
    is_sampled: bool
    mutants: list[_Mutant]


class ProofForm(_Form):
    omo: Text
    base: Commit
    since: Text
    head: Commit
    is_dirty: bool
    verdict: Verdict
    headline: Text
    exit: Literal[0, 3, 4]
    facts: list[Text]
    fix: Text
    commands: list[_Command]
    files: list[Path] = Field(default_factory=list)
    lines: _Lines | None
    mutants: _Mutants | None
