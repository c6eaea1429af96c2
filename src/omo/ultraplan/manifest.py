"""The fenced YAML blocks of a plan, read strictly: a misspelt key must not weaken the contract."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Any

import yaml
from pydantic import ValidationError

from omo.errors import BadInput
from omo.evidence import documents
from omo.shown import clip
from omo.ultraplan.markdown import Fenced
from omo.ultraplan.models import MOST_ITEMS, Defect, Manifest

# The first six must be there, even when empty: what was left out cannot be told from what was forgotten.
REQUIRED = {
    "expected_paths": "[]",
    "min_file_count": "0",
    "commit_message_pattern": '""',
    "bash_syntax_check": "[]",
    "forbidden_paths": "[]",
    "must_contain": "[]",
}
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
# By the kind of pydantic's error; `{value}` is what was written.
SAYS = {
    "tuple_type": "must be a list, not {value}",
    "too_long": f"has more than {MOST_ITEMS} entries",
    "string_type": "holds {value}, which is no text; quote it",
    "string_unicode": "is not valid text",
    "int_type": "must be a whole number from 0 on, not {value}",
    "greater_than_equal": "must be a whole number from 0 on, not {value}",
    "less_than_equal": "must be a whole number up to 10000, not {value}",
    "bool_type": "must be true or false, not {value}",
    "model_type": "holds {value}; each entry is {{path: FILE, pattern: REGEX}}",
    "missing": "has an entry {value}; each one is {{path: FILE, pattern: REGEX}}",
    "extra_forbidden": "has an entry with more than {{path: FILE, pattern: REGEX}}",
}


def read(block: Fenced, step: int) -> tuple[Manifest | None, list[Defect]]:
    """None where it is no YAML mapping; an entry that cannot be used is left out and has a defect."""
    where = f"step {step}"
    data, defects = mapping(block, "manifest", "commit_message_pattern: …", where)
    if data is None:
        return None, defects
    lines, entries = _lines(block)
    defects += _name_defects(data, where, lines, block.line)
    values = {key: data[key] for key in KEYS if key in data}
    try:
        manifest = Manifest(**values)
    except ValidationError as error:
        for key, index, says in _problems(error):
            line = lines.get((key,), block.line)
            if index is not None:
                line = entries.get((key, index), line)
            defects.append(Defect(line, "manifest-value", f"{where}: manifest.{key} {says}"))
        manifest = Manifest(**_without(values, error))
    return manifest.model_copy(update={"line": block.line, "lines": lines}), defects


def mapping(block: Fenced, key: str, example: str, where: str) -> tuple[dict[Any, Any] | None, list[Defect]]:
    """What stands below the first key of a block, and what is wrong with the form."""
    try:
        data = documents.parse(block.content, f"{key}.yaml")
    except BadInput as error:
        problem = error.details.get("problem") or error.message
        line = error.details.get("line")
        where_it_is = block.line + line - 1 if isinstance(line, int) else block.line
        return None, [Defect(where_it_is, "manifest-yaml", f"{where}: the {key} is not usable YAML: {problem}")]
    if not isinstance(data, dict):
        return None, []
    inner = data.get(key)
    if not isinstance(inner, dict):
        message = f"{where}: {key}: holds nothing; indent its keys below it, such as `  {example}`"
        return None, [Defect(block.line, "manifest-form", message)]
    defects = []
    for other in data:
        if other != key:
            message = f"{where}: {clip(str(other), 60)} stands beside {key}:, not in it; indent it"
            defects.append(Defect(block.line, "manifest-form", message))
    return inner, defects


def _lines(block: Fenced) -> tuple[dict[tuple[str, ...], int], dict[tuple[str, int], int]]:
    """Where each key stands and, by its value and by its number, each entry of a list. The text was parsed before."""
    lines: dict[tuple[str, ...], int] = {}
    entries: dict[tuple[str, int], int] = {}
    root = yaml.compose(block.content, Loader=yaml.SafeLoader)
    inner = next(value for key, value in root.value if key.value == "manifest")
    for key, value in inner.value:
        name = str(key.value)
        lines[(name,)] = block.line + key.start_mark.line
        if not isinstance(value, yaml.SequenceNode):
            continue
        for index, entry in enumerate(value.value):
            line = block.line + entry.start_mark.line
            entries[name, index] = line
            for text in _scalars(entry):
                lines.setdefault((name, text), line)
    return lines, entries


def _scalars(node: yaml.Node) -> Iterator[str]:
    if isinstance(node, yaml.ScalarNode):
        yield str(node.value)
    elif isinstance(node, yaml.MappingNode):
        for _, value in node.value:
            yield from _scalars(value)


def _name_defects(data: dict[Any, Any], where: str, lines: dict[tuple[str, ...], int], first: int) -> Iterator[Defect]:
    missing = [key for key in KEYS if key not in data]
    for key in data:
        if key in KEYS:
            continue
        # A misspelt key leaves its check out; one that is nothing like ours may belong to a newer tool.
        shown, line = clip(str(key), 60), lines.get((str(key),), first)
        near = nearest(shown)
        if near:
            yield Defect(line, "manifest-key", f"{where}: manifest.{shown} is no key; did you mean {near}?")
        else:
            known = ", ".join(missing or KEYS)
            message = f"{where}: manifest.{shown} is no key of ours and checks nothing ({known})"
            yield Defect(line, "manifest-key", message, is_advisory=True)
    for key, empty in REQUIRED.items():
        if key not in data:
            message = f"{where}: manifest.{key} is missing; write it even when empty: `{key}: {empty}`"
            yield Defect(first, "manifest-key", message)


def nearest(key: str) -> str | None:
    wanted = re.sub(r"[\s-]+", "_", key.strip().lower())
    if wanted in KEYS:
        return wanted
    if wanted in OTHER_NAMES:
        return OTHER_NAMES[wanted]
    return next(iter(difflib.get_close_matches(wanted, KEYS, n=1, cutoff=0.7)), None)


def _problems(error: ValidationError) -> Iterator[tuple[str, int | None, str]]:
    """The key, the number of the entry in its list, and what is wrong; each entry once."""
    known = set()
    for problem in error.errors(include_url=False):
        key, index = _place(problem)
        if (key, index) in known:
            continue
        known.add((key, index))
        if problem["type"] == "value_error":
            yield key, index, str(problem["ctx"]["error"])
        else:
            says = SAYS.get(problem["type"], problem["msg"].replace("{", "{{").replace("}", "}}"))
            yield key, index, says.format(value=_shown(problem["input"]))


def _place(problem: Any) -> tuple[str, int | None]:
    location = problem["loc"]
    index = location[1] if len(location) > 1 and isinstance(location[1], int) else None
    return str(location[0]), index


def _without(values: dict[str, Any], error: ValidationError) -> dict[str, Any]:
    """What can be used: the keys and the entries of lists that nothing is wrong with."""
    places = {_place(problem) for problem in error.errors(include_url=False)}
    usable = {}
    for key, value in values.items():
        if (key, None) in places:
            continue
        if isinstance(value, list):
            value = [entry for index, entry in enumerate(value) if (key, index) not in places]
        usable[key] = value
    return usable


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return clip("{" + ", ".join(str(key) for key in value) + "}", 80)
    if isinstance(value, str):
        return f"the text {clip(value, 60)!r}"
    return clip(repr(value), 60)
