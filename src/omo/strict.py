"""What people and agents write, read strictly: every defect at once, with its field, its value and what was meant."""

from __future__ import annotations

import difflib
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from omo.errors import BadInput
from omo.shown import clip

Model = TypeVar("Model", bound=BaseModel)


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def validated(model: type[Model], document: object, *, what: str, fix: str) -> Model:
    """The document as a model. Raises BadInput with everything that is wrong in `defects`."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        defects = defects_of(error, model, what)
    raise BadInput(f"{what} cannot be used: {'; '.join(defects)}", fix=fix, defects=defects)


def defects_of(error: ValidationError, model: type[BaseModel], what: str = "the file") -> list[str]:
    """One line each: the field, what is wrong with it, its value; for a field nobody knows, the one that was meant."""
    lines = []
    for defect in error.errors(include_url=False):
        field = _field(defect["loc"]) or what
        if defect["type"] == "extra_forbidden":
            lines.append(f"{field}: no such field{_meant(defect['loc'], model)}")
        elif defect["type"] == "missing":
            lines.append(f"{field}: is missing")
        else:
            message = defect["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
            lines.append(f"{field}: {clip(message, 300)}, got {clip(repr(defect['input']), 80)}")
    return lines


def _field(place: tuple[int | str, ...]) -> str:
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def _meant(place: tuple[int | str, ...], model: type[BaseModel]) -> str:
    known = _fields_at(place[:-1], model)
    near = difflib.get_close_matches(str(place[-1]), known, n=1, cutoff=0.5)
    if near:
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
