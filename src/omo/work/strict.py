"""What people and agents write, read strictly: every defect by its field, with the field that was probably meant."""

from __future__ import annotations

import difflib
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from omo.shown import clip


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def defects_of(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Field, what is wrong with it, and its value; for a field nobody knows, the one that was probably meant."""
    lines = []
    for defect in error.errors():
        field = ".".join(str(part) for part in defect["loc"]) or "the file"
        if defect["type"] == "extra_forbidden":
            lines.append(f"{field}: no such field{_nearest(defect['loc'], model)}")
            continue
        line = f"{field}: {defect['msg'].removeprefix('Value error, ')}"
        if defect["type"] not in ("missing", "value_error"):
            line += f", not {clip(repr(defect['input']), 60)}"
        lines.append(line)
    return lines


def _nearest(location: tuple[int | str, ...], model: type[BaseModel]) -> str:
    known = _fields_at(location[:-1], model)
    near = difflib.get_close_matches(str(location[-1]), known, n=1, cutoff=0.5)
    if near:
        return f"; did you mean {near[0]}?"
    return f"; there are {', '.join(known)}" if known else ""


def _fields_at(location: tuple[int | str, ...], model: type[BaseModel]) -> list[str]:
    for part in location:
        if isinstance(part, int):
            continue
        field = model.model_fields.get(part)
        inner = _model_in(field.annotation) if field else None
        if inner is None:
            return []
        model = inner
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model of a field, inside a list or an optional as well."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in get_args(annotation):
        if model := _model_in(argument):
            return model
    return None
