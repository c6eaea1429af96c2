"""The fenced `manifest:` of a step, read strictly: a misspelt key must not weaken the contract."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from typing import Any

from omo.errors import BadInput
from omo.evidence import documents, globs
from omo.shown import clip
from omo.ultraplan.document import Content, Defect, Manifest
from omo.ultraplan.markdown import Fenced

MOST_ITEMS = 100

# The first six must be there, even when empty: what was left out cannot be told from what was forgotten.
REQUIRED = (
    "expected_paths",
    "min_file_count",
    "commit_message_pattern",
    "bash_syntax_check",
    "forbidden_paths",
    "must_contain",
)
OPTIONAL = ("absent_paths", "sandbox_preflight", "skip_commit_check")
KEYS = (*REQUIRED, *OPTIONAL)
# Names other tools and models use; nearer in meaning than in letters.
OTHER_NAMES = {
    "files": "expected_paths",
    "paths": "expected_paths",
    "outputs": "expected_paths",
    "commit_pattern": "commit_message_pattern",
    "commit_message": "commit_message_pattern",
    "commit_regex": "commit_message_pattern",
    "syntax_check": "bash_syntax_check",
    "never_touch": "forbidden_paths",
    "forbidden": "forbidden_paths",
    "contains": "must_contain",
    "must_contains": "must_contain",
    "deleted_paths": "absent_paths",
    "removed_paths": "absent_paths",
    "must_not_exist": "absent_paths",
    "skip_commit": "skip_commit_check",
    "preflight": "sandbox_preflight",
}


def is_manifest(block: Fenced) -> bool:
    return block.language in ("", "yaml", "yml") and re.match(r"manifest\s*:", block.first) is not None


def read(block: Fenced, step: int) -> tuple[Manifest | None, list[Defect]]:
    """None where it is no YAML mapping; a key that cannot be used has its default and a defect."""
    reader = Reader(block, f"step {step}")
    data = reader.mapping("manifest", "commit_message_pattern: …")
    if data is None:
        return None, reader.defects
    reader.names(data)
    values = {key: reader.value(key, data[key], READERS[key]) for key in KEYS if key in data}
    usable = {key: value for key, value in values.items() if value is not None}
    return Manifest(**usable, line=block.line), reader.defects


class Unfit(ValueError):
    pass


class Unusable(Unfit):
    """Some entries of a list cannot be used: each with what is wrong, and those that can."""

    def __init__(self, items: list[tuple[str, str]], usable: tuple[Any, ...]) -> None:
        super().__init__("; ".join(said for _, said in items))
        self.items = items
        self.usable = usable


class Reader:
    """One fenced block of YAML: its values, and the line in the plan that each defect is about."""

    def __init__(self, block: Fenced, where: str) -> None:
        self._block = block
        self._where = where
        self.defects: list[Defect] = []

    def defect(self, code: str, message: str, *names: str, is_advisory: bool = False) -> None:
        line = line_of(self._block.content, self._block.line, *names)
        self.defects.append(Defect(line, code, f"{self._where}: {message}", is_advisory))

    def mapping(self, key: str, example: str) -> dict[Any, Any] | None:
        data = self._load(key)
        inner = data.get(key) if isinstance(data, dict) else None
        if isinstance(data, dict) and isinstance(inner, dict):
            for other in [one for one in data if one != key]:
                self.defect("manifest-form", f"{clip(str(other), 60)} stands beside {key}:, not in it; indent it")
            return inner
        if isinstance(data, dict):
            self.defect("manifest-form", f"{key}: holds nothing; indent its keys below it, such as `  {example}`", key)
        return None

    def _load(self, key: str) -> object:
        name = f"{key}.yaml"
        try:
            return documents.parse(self._block.content, name)
        except BadInput as error:
            said = error.message.removeprefix(name).strip()
            at = re.search(r"\s*\(line (\d+)\)$", said)
            line = self._block.line + int(at[1]) - 1 if at else self._block.line
            said = said[: at.start()] if at else said
            self.defects.append(Defect(line, "manifest-yaml", f"{self._where}: the {key} {said}"))
            return None

    def names(self, data: Mapping[Any, Any]) -> None:
        for key in [key for key in data if key not in KEYS]:
            self._unknown(clip(str(key), 60), [one for one in KEYS if one not in data])
        for key in [key for key in REQUIRED if key not in data]:
            empty = {"min_file_count": "0", "commit_message_pattern": '""'}.get(key, "[]")
            self.defect("manifest-key", f"manifest.{key} is missing; write it even when empty: `{key}: {empty}`")

    def _unknown(self, key: str, missing: list[str]) -> None:
        """A misspelt key leaves its check out; one that is nothing like ours may belong to a newer tool."""
        near = nearest(key)
        if near:
            self.defect("manifest-key", f"manifest.{key} is no key; did you mean {near}?", key)
        else:
            known = ", ".join(missing or KEYS)
            self.defect(
                "manifest-key", f"manifest.{key} is no key of ours and checks nothing ({known})", key, is_advisory=True
            )

    def value(self, key: str, value: object, read_as: Callable[[object], Any]) -> Any:
        try:
            return read_as(value)
        except Unusable as error:
            for item, said in error.items:
                self.defect("manifest-value", f"manifest.{key} {said}", key, item)
            return error.usable
        except Unfit as error:
            self.defect("manifest-value", f"manifest.{key} {error}", key)
            return None


def line_of(content: str, first: int, *names: str) -> int:
    """The line of a key and, below it, of the entry named after it, as far as they are found; else `first`."""
    lines = content.splitlines()
    wanted = [re.compile(rf"""\s*['"]?{re.escape(name)}['"]?\s*:""").match for name in names[:1]]
    wanted += [re.compile(re.escape(name)).search for name in names[1:] if name]
    at = 0
    for is_there in wanted:
        at = next((index for index in range(at, len(lines)) if is_there(lines[index])), at)
    return first + at


def nearest(key: str) -> str | None:
    wanted = re.sub(r"[\s-]+", "_", key.strip().lower())
    if wanted in KEYS:
        return wanted
    if wanted in OTHER_NAMES:
        return OTHER_NAMES[wanted]
    return next(iter(difflib.get_close_matches(wanted, KEYS, n=1, cutoff=0.7)), None)


def _list_of(read_one: Callable[[object], Any]) -> Callable[[object], tuple[Any, ...]]:
    def read_all(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise Unfit(f"must be a list, not {shown(value)}")
        if len(value) > MOST_ITEMS:
            raise Unfit(f"has {len(value)} entries, at most {MOST_ITEMS} are allowed")
        usable, unusable = [], []
        for one in value:
            try:
                usable.append(read_one(one))
            except Unfit as error:
                unusable.append((one if isinstance(one, str) else "", str(error)))
        if unusable:
            raise Unusable(unusable, tuple(usable))
        return tuple(usable)

    return read_all


def _path(value: object) -> str:
    if not isinstance(value, str):
        raise Unfit(f"holds {shown(value)}, which is no path; quote it")
    try:
        path = globs.normal(_text(value))
    except ValueError as error:
        raise Unfit(f"names {clip(value, 80)!r}: {error}") from None
    if not path:
        raise Unfit(f"names {clip(value, 80)!r}, the project itself; write a path inside it")
    return path


def _text(value: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise Unfit("is not valid text") from None
    return value


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 10_000:
        raise Unfit(f"must be a whole number from 0 on, not {shown(value)}")
    return value


def _pattern(value: object) -> str:
    if not isinstance(value, str):
        raise Unfit(f"must be text, not {shown(value)}; quote it")
    return _text(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise Unfit(f"must be true or false, not {shown(value)}")
    return value


def _content(value: object) -> Content:
    if not isinstance(value, dict) or set(value) != {"path", "pattern"}:
        raise Unfit(f"holds {shown(value)}; each entry is {{path: FILE, pattern: REGEX}}")
    return Content(_path(value["path"]), _pattern(value["pattern"]))


READERS: Mapping[str, Callable[[object], Any]] = {
    "expected_paths": _list_of(_path),
    "min_file_count": _count,
    "commit_message_pattern": _pattern,
    "bash_syntax_check": _list_of(_path),
    "forbidden_paths": _list_of(_path),
    "must_contain": _list_of(_content),
    "absent_paths": _list_of(_path),
    "sandbox_preflight": _flag,
    "skip_commit_check": _flag,
}


def shown(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return clip("{" + ", ".join(str(key) for key in value) + "}", 80)
    return f"the text {clip(value, 60)!r}" if isinstance(value, str) else clip(repr(value), 60)
