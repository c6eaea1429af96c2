"""JSON through CPython's own C core, without the json package around it.

The package imports re, enum and functools: 11 ms on every hook, as much as the interpreter itself needs to start.
Values and texts are those of json.loads and json.dumps; where the core is missing or has changed, json does the work.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeAlias

    _Encode: TypeAlias = Callable[[Any, int], tuple[str, ...]]

Json: TypeAlias = "dict[str, Any]"  # an object of JSON, where it is read or written; inside the house things have types
WHITE = " \t\n\r"
CONSTANTS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class _Options:
    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = CONSTANTS.__getitem__


def _refuse(value: object) -> object:
    raise TypeError(f"{type(value).__name__} is not JSON")


def _core() -> tuple[Callable[[str, int], tuple[Any, int]], _Encode, _Encode]:
    from _json import encode_basestring, make_encoder, make_scanner

    scan = make_scanner(_Options())  # type: ignore[arg-type]  # it reads six attributes of whatever it is given
    encode = make_encoder(None, _refuse, encode_basestring, None, ": ", ", ", False, False, True)
    encode_row = make_encoder(None, _refuse, encode_basestring, None, ":", ",", False, False, True)
    if scan('{"a": [1, null]}', 0) != ({"a": [1, None]}, 16) or "".join(encode({"ü": [1]}, 0)) != '{"ü": [1]}':
        raise ImportError("the C core behaves in a way we do not know")
    return scan, encode, encode_row


try:
    _scan, _encode, _encode_row = _core()
except (ImportError, TypeError, AttributeError):
    import json

    _scan = json.JSONDecoder().raw_decode
    _encode = lambda value, level: (json.dumps(value, ensure_ascii=False),)  # noqa: E731
    _encode_row = lambda value, level: (json.dumps(value, ensure_ascii=False, separators=(",", ":")),)  # noqa: E731


def loads(text: str) -> Any:
    """Raises ValueError on anything that is not exactly one JSON value."""
    start = len(text) - len(text.lstrip(WHITE))
    try:
        value, end = _scan(text, start)
    except StopIteration as stopped:
        raise ValueError(f"no JSON value at character {stopped.value}") from None
    except SystemError:  # the core wants to raise json's own error and does not find json imported
        from json import loads as spell_out

        return spell_out(text)
    if text[end:].strip(WHITE):
        raise ValueError(f"more text after the JSON value, at character {end}")
    return value


def dumps(value: object) -> str:
    """On one line, letters as they are."""
    return "".join(_encode(value, 0))


def dumps_row(value: object) -> str:
    """Return the text of a row that omo keeps. It has no blanks: orjson, with which commands write, puts none."""
    return "".join(_encode_row(value, 0))


def without_repeats(pairs: list[tuple[str, Any]]) -> Json:
    """For json, as its `object_pairs_hook`: in what strangers wrote a repeated key hides the first one."""
    value_of: Json = {}
    for key, value in pairs:
        if key in value_of:
            raise ValueError(f"the key {key[:60]!r} is there twice")
        value_of[key] = value
    return value_of


def refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def part(values: Mapping[str, Any], key: str) -> Json:
    """One object of what was read as JSON, empty where it is missing or something else."""
    value = values.get(key)
    return value if isinstance(value, dict) else {}


def objects(value: object) -> list[Json]:
    """Those in a list of JSON, none where it is something else."""
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, dict)]
