"""Files that people and agents write: JSON or YAML, plain data, bounded, and every refusal says what to mend."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import yaml

from omo import safe_open
from omo.errors import BadInput
from omo.json_text import refuse_constant, without_repeats
from omo.text import clip

LARGEST_FILE = 1_000_000
MOST_YAML_NODES = 50_000


def load(path: Path) -> object:
    fix = "name a JSON or YAML file, and keep data out of it"
    return parse(read_text(path, LARGEST_FILE, fix, follow_link=True), str(path))


def parse(text: str, name: str) -> object:
    """JSON or YAML by the name's ending, else by how the text begins."""
    if len(text) > LARGEST_FILE:
        raise BadInput(f"{name} has more than {LARGEST_FILE} characters", fix="keep data out of it; name files instead")
    ending = name.lower().rpartition(".")[2]
    if ending == "json" or (ending not in ("yaml", "yml") and text.lstrip()[:1] in ("{", "[")):
        return _load_json(text, name)
    return _load_yaml(text, name)


def of_option(given: str, cwd: str | Path, option: str, *, fix: str = "") -> object:
    """The JSON itself where the text begins like it, else what the file of that name holds."""
    fix = fix or f"{option} takes JSON that begins with {{ or [, or the name of a file that holds it"
    if not given.strip():
        raise BadInput(f"{option} is empty", fix=fix)
    if given.lstrip()[:1] in ("{", "["):
        return parse(given.strip(), option)
    path = Path(cwd, given)
    if "\0" in given or not os.path.lexists(path):
        raise BadInput(f"{option} {clip(given, 200)!r} is neither JSON nor a file", fix=fix)
    return load(path)


def read_text(path: Path | str, largest: int, fix: str, *, follow_link: bool = False) -> str:
    """Raises BadInput for a file that is not there, is too large or not UTF-8."""
    try:
        return safe_open.read_file(path, largest, follow_link=follow_link).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8: {error.reason} at byte {error.start}", fix="save it as UTF-8") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadInput(f"{path} cannot be read: {why}", fix=fix) from None


def _load_json(text: str, name: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=without_repeats, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{name} is not valid JSON: {clip(str(error), 200)}", fix="mend the file") from None


def _load_yaml(text: str, name: str) -> object:
    try:
        loader = _Loader(text)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        problem = clip(str(error.problem or error.context or error), 200)
        where = f" (line {line})" if line else ""
        raise BadInput(
            f"{name} is not usable YAML: {problem}{where}", fix="mend the file", problem=problem, line=line
        ) from None
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise BadInput(f"{name} is not usable YAML: {clip(str(error), 200)}", fix="mend the file") from None


class _Loader(yaml.SafeLoader):
    """Plain data only: an alias can make a few lines mean gigabytes, and a repeated key hides the first one."""

    _nodes = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        self._nodes += 1
        if self._nodes > MOST_YAML_NODES:
            raise yaml.composer.ComposerError(None, None, "it holds too many values", event.start_mark)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise yaml.composer.ComposerError(
                None, None, "anchors and aliases are not allowed; write it out", event.start_mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        names = set()
        for key, _ in node.value:
            problem = None
            if not isinstance(key, yaml.ScalarNode) or key.tag == "tag:yaml.org,2002:merge":
                problem = "a key must be plain text"
            elif key.value in names:
                problem = f"the key {clip(key.value, 60)!r} is there twice"
            if problem:
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            names.add(key.value)
        return super().construct_mapping(node, deep)
