"""What can be checked: nine kinds, closed and strict. Defects are told when a check is filed, all of them at once."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args

from pydantic import AfterValidator, Field, FiniteFloat, ValidationError, model_validator

from omo import strict
from omo.digest import sha256
from omo.errors import BadInput
from omo.proof import globs, patterns
from omo.proof.typed_commands import LONGEST_COMMAND
from omo.text import clip, counted

DOCS = Path(__file__).resolve().parents[3] / "docs"  # omo's own: whoever reads a refusal is in another project
MOST_CHECKS = 200
LONGEST_QUESTION = 2000
LONGEST_TIMEOUT = 600.0


def _id(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", text):
        raise ValueError("must be 1 to 64 letters, digits, dots, dashes and underscores")
    return text


def _text(text: str) -> str:
    """JSON can hold half a character, which no file name and no command line can."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("is not valid text") from None
    return text


def _pattern(text: str) -> str:
    if problem := patterns.defect(text):
        raise ValueError(problem)
    return text


def _glob(text: str) -> str:
    path = globs.normal(text)
    if not path:
        raise ValueError("names the project itself; write a path inside it")
    return path


def _directory(text: str) -> str:
    return globs.normal(text) or "."


def _argv(argv: list[str]) -> list[str]:
    if not argv or not argv[0] or "=" in argv[0] or argv[0] in ("cd", ".", "source", "export"):
        raise ValueError("must begin with a program, such as [python3, -m, pytest], [env, A=B, …] or [sh, -c, LINE]")
    if any("\0" in part for part in argv) or sum(map(len, argv)) > LONGEST_COMMAND:
        raise ValueError(f"must hold at most {LONGEST_COMMAND} characters, none of them NUL")
    return argv


def _question(text: str) -> str:
    if not text.strip() or len(text) > LONGEST_QUESTION:
        raise ValueError(f"must be a question of 1 to {LONGEST_QUESTION} characters")
    return text


Id = Annotated[str, AfterValidator(_id)]
Text = Annotated[str, AfterValidator(_text)]
Pattern = Annotated[Text, AfterValidator(_pattern)]
Glob = Annotated[Text, AfterValidator(_glob)]
Globs = Annotated[list[Glob], Field(min_length=1, max_length=100)]
Sealed = Annotated[list[Glob], Field(max_length=100)]
Directory = Annotated[Text, AfterValidator(_directory)]
Argv = Annotated[list[Text], AfterValidator(_argv)]
Seconds = Annotated[FiniteFloat, Field(gt=0, le=LONGEST_TIMEOUT)]


class _Check(strict.Strict):
    id: Id = ""
    guard: bool = False


class PathCheck(_Check):
    type: Literal["path"] = "path"
    path: Glob
    absent: bool = False
    min_count: Annotated[int, Field(ge=1)] = 1

    @model_validator(mode="after")
    def _one_wish(self) -> PathCheck:
        if self.absent and self.min_count != 1:
            raise ValueError("absent and min_count contradict each other; keep one")
        return self


class ContentCheck(_Check):
    type: Literal["content"] = "content"
    path: Glob
    regex: Pattern
    any: bool = False
    absent: bool = False


class CommandCheck(_Check):
    type: Literal["command"] = "command"
    argv: Argv
    cwd: Directory = "."
    exit: Annotated[int, Field(ge=0, le=255)] = 0
    stdout: Pattern | None = None
    timeout: Seconds = 120.0
    sealed: Sealed = Field(default_factory=list)


class SyntaxCheck(_Check):
    type: Literal["syntax"] = "syntax"
    path: Glob
    language: Literal["bash", "sh", "python", "json", "yaml"]


class CommitCheck(_Check):
    type: Literal["commit"] = "commit"
    subject: Pattern


class ForbiddenCheck(_Check):
    type: Literal["forbidden"] = "forbidden"
    paths: Globs


class ScopeCheck(_Check):
    type: Literal["scope"] = "scope"
    touch: Globs


class MetricCheck(_Check):
    type: Literal["metric"] = "metric"
    argv: Argv
    cwd: Directory = "."
    extract: Literal["stdout_int", "stdout_float", "json_length", "exit_code"]
    min: FiniteFloat | None = None
    max: FiniteFloat | None = None
    timeout: Seconds = 120.0
    sealed: Sealed = Field(default_factory=list)

    @model_validator(mode="after")
    def _bounded(self) -> MetricCheck:
        if self.min is None and self.max is None:
            raise ValueError("a metric check needs min, max or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min {self.min:g} is above max {self.max:g}: nothing can pass")
        return self


class JudgeCheck(_Check):
    type: Literal["judge"] = "judge"
    question: Annotated[Text, AfterValidator(_question)]


Check = Annotated[
    Union[  # noqa: UP007  # get_args below wants its members
        PathCheck,
        ContentCheck,
        CommandCheck,
        SyntaxCheck,
        CommitCheck,
        ForbiddenCheck,
        ScopeCheck,
        MetricCheck,
        JudgeCheck,
    ],
    Field(discriminator="type"),
]

MODELS: dict[str, type[_Check]] = {model.model_fields["type"].default: model for model in get_args(get_args(Check)[0])}


def parse_checks(data: object, where: str = "checks") -> list[Check | str]:
    """The checks of a list as it stands in a file. Raises BadInput with every defect there is."""
    if not isinstance(data, list):
        raise _bad([f"{where}: must be a list of checks, got {clip(repr(data), 80)}"])
    if len(data) > MOST_CHECKS:
        raise _bad([f"{where}: {len(data)} checks, at most {MOST_CHECKS} are allowed"])
    checks: list[Check | str] = []
    defects: list[str] = []
    first: dict[str, int] = {}
    for number, item in enumerate(data):
        name = f"check-{number + 1}"
        check, problems = _parse(item, f"{where}[{number}]", name)
        defects += problems
        if check is not None:
            checks.append(check)
        if check is not None and not isinstance(check, str):
            name = check.id
        if name in first:
            also = f"{where}[{first[name]}]"
            defects.append(f"{where}[{number}].id: {name} is also the id of {also}; ids must be unique")
        first.setdefault(name, number)
    if defects:
        raise _bad(defects)
    return checks


def dump(check: Check | str) -> dict[str, Any] | str:
    """The check as it can be written to a file and parsed again."""
    return check if isinstance(check, str) else check.model_dump(mode="json")


def digest_of_check(check: Check | str) -> str:
    """The same for the same meaning: defaults filled in, order of fields and id without effect."""
    content = check if isinstance(check, str) else check.model_dump(mode="json", exclude={"id"})
    return sha256(json.dumps(content, sort_keys=True).encode("ascii"))


def ids_of(checks: Sequence[Check | str]) -> list[str]:
    ids = []
    for number, check in enumerate(checks, start=1):
        own = "" if isinstance(check, str) else check.id
        ids.append(own or f"check-{number}")
    return ids


def _bad(defects: list[str]) -> BadInput:
    return BadInput(
        f"the checks have {counted(len(defects), 'defect')}: {clip(defects[0], 300)}",
        fix=f"mend them in the file; {DOCS / 'checks.md'} shows every type with an example",
        defects=[clip(defect, 600) for defect in defects],
    )


def _parse(item: object, where: str, default_id: str) -> tuple[Check | str | None, list[str]]:
    """The check, or every defect of it."""
    if isinstance(item, str):
        try:
            return _question(_text(item)), []
        except ValueError as error:
            return None, [f"{where}: {error}"]
    if not isinstance(item, dict):
        return None, [f"{where}: must be an object with a type, or a question as text; got {clip(repr(item), 80)}"]
    kind = item.get("type")
    if not isinstance(kind, str):
        return None, [f"{where}.type: missing or no text; one of {', '.join(MODELS)}"]
    if kind not in MODELS:
        return None, [f"{where}.type: no check type {clip(kind, 60)!r}{strict.meant(kind, list(MODELS))}"]
    model = MODELS[kind]
    try:
        return model.model_validate({"id": default_id, **item}), []  # type: ignore[return-value]  # one of Check
    except ValidationError as error:
        return None, strict.defects_of(error, model, where=(where,), of=f" of a {kind} check")
