"""What people and agents write, read strictly: every defect at once, with its field, its value and what was meant."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from omo.errors import BadInput
from omo.text import clip

Model = TypeVar("Model", bound=BaseModel)

# The validator's kinds of defect in words that need no knowledge of it.
IN_WORDS = {
    "missing": "is missing",
    "string_type": "must be a text",
    "string_too_short": "needs at least {min_length} characters",
    "string_too_long": "may have at most {max_length} characters",
    "string_pattern_mismatch": "must match {pattern}",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "too_short": "needs at least {min_length}, has {actual_length}",
    "too_long": "may have at most {max_length}, has {actual_length}",
}
OTHER_NAMES = {"verification": "checks"}  # of a criterion, as seed 002 has it


def _written(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Written = Annotated[str, AfterValidator(_written)]


def lowered(value: object) -> object:
    """For words of a fixed list, which may be written in any case."""
    return value.strip().lower() if isinstance(value, str) else value


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def validated(model: type[Model], document: object, *, what: str, fix: str) -> Model:
    """The document as a model. Raises BadInput with everything that is wrong in `defects`."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        defects = defects_of(error, model, what)
    raise BadInput(f"{what} cannot be used: {'; '.join(defects)}", fix=fix, defects=defects)


def defects_of(
    error: ValidationError,
    model: type[BaseModel],
    what: str = "the file",
    *,
    where: tuple[int | str, ...] = (),
    of: str = "",
) -> list[str]:
    """One line each: the field, what is wrong with it, its value; for a field nobody knows, the one that was meant.

    `where` is the place of the whole, `of` says what has no such field.
    """
    lines = []
    for defect in error.errors(include_url=False):
        field = field_name((*where, *defect["loc"])) or what
        if defect["type"] == "extra_forbidden":
            known = _fields_at(defect["loc"][:-1], model)
            lines.append(f"{field}: no such field{of}{meant(str(defect['loc'][-1]), known)}")
        elif defect["type"] == "missing":
            lines.append(f"{field}: {message_of(defect)}")
        else:
            lines.append(f"{field}: {clip(message_of(defect), 300)}, got {clip(repr(defect['input']), 80)}")
    return lines


def message_of(defect: Mapping[str, Any]) -> str:
    """What is wrong with a field; a rule of ours has said it itself."""
    if defect["type"] in IN_WORDS:
        return IN_WORDS[defect["type"]].format_map(defect.get("ctx") or {})
    return str(defect["msg"]).removeprefix("Value error, ").replace("Input should be", "must be")


def field_name(place: tuple[int | str, ...]) -> str:
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{clip(part, 60)}"
    return text.removeprefix(".")


def meant(name: str, known: Sequence[str]) -> str:
    """What was probably meant by a name that is none of the known ones, as the end of a sentence."""
    wanted = name[:60].replace("-", "_").replace(" ", "_")
    wanted = OTHER_NAMES.get(wanted, wanted)
    if near := difflib.get_close_matches(wanted, known, n=1, cutoff=0.6):
        return f"; did you mean {near[0]}?"
    return f"; there are {', '.join(known)}" if known else ""


def _fields_at(place: tuple[int | str, ...], model: type[BaseModel]) -> list[str]:
    for part in place:
        if isinstance(part, int):
            continue
        field = model.model_fields.get(part)
        inner = _model_in(field.annotation) if field else None
        if inner is None:
            return []
        model = inner
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in get_args(annotation):
        inner = _model_in(argument)
        if inner is not None:
            return inner
    return None
