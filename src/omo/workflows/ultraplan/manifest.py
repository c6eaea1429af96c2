"""The manifests of a plan: read strictly, because a misspelt key must not weaken the contract, and written."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import Any

import yaml
from pydantic import ValidationError

from omo.errors import BadInput
from omo.proof import documents
from omo.strict import field_name
from omo.text import clip
from omo.workflows.ultraplan.markdown import Fenced
from omo.workflows.ultraplan.models import Defect, Manifest

# The first six must be there, even when empty: what was left out cannot be told from what was forgotten.
REQUIRED = {
    "expected_paths": "[]",
    "min_file_count": "0",
    "commit_message_pattern": '""',
    "bash_syntax_check": "[]",
    "forbidden_paths": "[]",
    "must_contain": "[]",
}
OPTIONAL = ("absent_paths", "skip_commit_check")
KEYS = (*REQUIRED, *OPTIONAL)
Lines = dict[str, int]


def read(block: Fenced, step: int) -> tuple[Manifest | None, list[Defect]]:
    """None where it is no YAML mapping; an entry that cannot be used is left out and has a defect."""
    where = f"step {step}"
    data, defects = _mapping(block, where)
    if data is None:
        return None, defects
    lines: Lines = {}  # where each key stands
    for number, text in enumerate(block.content.splitlines(), start=block.line):
        name = re.match(r"\s*[\"']?([\w-]+)[\"']?\s*:", text)
        if name and name[1] in data:
            lines.setdefault(name[1], number)
    defects += _name_defects(data, where, lines, block.line)
    values = {key: data[key] for key in KEYS if key in data}
    try:
        manifest = Manifest(**values)
    except ValidationError as error:
        wrong = set()
        for problem in error.errors(include_url=False):
            entry = tuple(problem["loc"][:2])  # the key, and for a list the number of the entry
            if entry not in wrong:
                says = problem["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
                says = f"{says.replace('valid tuple', 'list')}, got {clip(repr(problem['input']), 80)}"
                label = field_name(("manifest", *problem["loc"]))
                line = lines.get(str(entry[0]), block.line)
                defects.append(Defect(line, "manifest-value", f"{where}: {label}: {says}"))
            wrong.add(entry)
        manifest = Manifest(**_usable(values, wrong))
    return manifest.model_copy(update={"line": block.line, "lines": lines}), defects


def _mapping(block: Fenced, where: str) -> tuple[dict[Any, Any] | None, list[Defect]]:
    """What stands below the first key of the block, and what is wrong with the form."""
    try:
        data = documents.parse(block.content, "manifest.yaml")
    except BadInput as error:
        problem = error.details.get("problem") or error.message
        line = error.details.get("line")
        where_it_is = block.line + line - 1 if isinstance(line, int) else block.line
        return None, [Defect(where_it_is, "manifest-yaml", f"{where}: the manifest is not usable YAML: {problem}")]
    if not isinstance(data, dict):
        return None, []
    inner = data.get("manifest")
    if not isinstance(inner, dict):
        message = f"{where}: manifest: holds nothing; indent its keys below it, such as `  commit_message_pattern: …`"
        return None, [Defect(block.line, "manifest-form", message)]
    defects = []
    for other in data:
        if other != "manifest":
            message = f"{where}: {clip(str(other), 60)} stands beside manifest:, not in it; indent it"
            defects.append(Defect(block.line, "manifest-form", message))
    return inner, defects


def _name_defects(data: dict[Any, Any], where: str, lines: Lines, first: int) -> Iterator[Defect]:
    for key in data:
        if key in KEYS:
            continue
        # A misspelt key leaves its check out; one that is nothing like ours may belong to a newer tool.
        shown, line = clip(str(key), 60), lines.get(str(key), first)
        wanted = re.sub(r"[\s-]+", "_", shown.lower())
        near = difflib.get_close_matches(wanted, KEYS, n=1, cutoff=0.7)
        if near:
            yield Defect(line, "manifest-key", f"{where}: manifest.{shown} is no key; did you mean {near[0]}?")
        else:
            message = f"{where}: manifest.{shown} is no key of ours and checks nothing ({', '.join(KEYS)})"
            yield Defect(line, "manifest-key", message, is_advisory=True)
    for key, empty in REQUIRED.items():
        if key not in data:
            message = f"{where}: manifest.{key} is missing; write it even when empty: `{key}: {empty}`"
            yield Defect(first, "manifest-key", message)


def _usable(values: dict[str, Any], wrong: set[tuple[int | str, ...]]) -> dict[str, Any]:
    """The keys and the entries of lists that nothing is wrong with."""
    usable = {}
    for key, value in values.items():
        if (key,) in wrong:
            continue
        if isinstance(value, list):
            value = [entry for index, entry in enumerate(value) if (key, index) not in wrong]
        usable[key] = value
    return usable


# written, so that it reads back exactly, whatever is in it


def bullet(manifest: Manifest, label: str) -> list[str]:
    """The manifest as a field of a step."""
    lines = [
        "manifest:",
        *yaml_list("expected_paths", manifest.expected_paths),
        f"  min_file_count: {manifest.min_file_count}",
        f"  commit_message_pattern: {scalar(manifest.commit_message_pattern)}",
        *yaml_list("bash_syntax_check", manifest.bash_syntax_check),
        *yaml_list("forbidden_paths", manifest.forbidden_paths),
    ]
    if not manifest.must_contain:
        lines.append("  must_contain: []")
    else:
        lines.append("  must_contain:")
    for entry in manifest.must_contain:
        lines.append(f"    - {{path: {scalar(entry.path)}, pattern: {scalar(entry.pattern)}}}")
    if manifest.absent_paths:
        lines += yaml_list("absent_paths", manifest.absent_paths)
    if manifest.skip_commit_check:
        lines.append("  skip_commit_check: true")
    return [f"- {label}:", *(f"  {line}" for line in ("```yaml", *lines, "```"))]


def yaml_list(key: str, items: Sequence[str]) -> list[str]:
    if not items:
        return [f"  {key}: []"]
    return [f"  {key}:", *(f"    - {scalar(item)}" for item in items)]


def scalar(text: str) -> str:
    """Quoted on one line, so that nothing can end the block or begin another key; single quotes keep a pattern as it
    is."""
    if text.isprintable() and text.isascii():
        return "'" + text.replace("'", "''") + "'"
    return str(yaml.safe_dump(text, default_style='"', allow_unicode=True, width=float("inf"))).rstrip("\n")


def code(text: str) -> str:
    """As a code span."""
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"
