"""What people and agents write, read strictly: every defect by its field, with the field that was probably meant."""

from __future__ import annotations

import difflib
import json
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from omo.digest import sha256
from omo.shown import clip


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def digest_of(block: dict[str, Any]) -> str:
    return sha256(json.dumps(block, sort_keys=True).encode())[:32]


def defects_of(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Field, what is wrong with it, and its value; for a field nobody knows, the one that was probably meant."""
    lines = []
    for one in error.errors():
        place = ".".join(str(part) for part in one["loc"]) or "the file"
        if one["type"] == "extra_forbidden":
            lines.append(f"{place}: no such field{_nearest(one['loc'], model)}")
        else:
            shown = "" if one["type"] in ("missing", "value_error") else f", not {clip(repr(one['input']), 60)}"
            lines.append(f"{place}: {one['msg'].removeprefix('Value error, ')}{shown}")
    return lines


def _nearest(place: tuple[int | str, ...], model: type[BaseModel]) -> str:
    known = list(_fields_at(place[:-1], model))
    near = difflib.get_close_matches(str(place[-1]), known, n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}" if known else ""


def _fields_at(place: tuple[int | str, ...], model: type[BaseModel]) -> list[str]:
    for part in place:
        if isinstance(part, int):
            continue
        inner = model.model_fields.get(part)
        found = _model_in(inner.annotation) if inner else None
        if found is None:
            return []
        model = found
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for one in get_args(annotation) if (found := _model_in(one))), None)
