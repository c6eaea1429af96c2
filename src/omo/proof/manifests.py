"""Manifests: whether a change of one only adds or bumps packages, or says something else about the project.

Where the old manifest alone makes a gate fail, the new one may stand, provided that nothing else is new in it that a
runner could read: a script, a runner's configuration, a profile, a package from another source.
"""

from __future__ import annotations

import json
import posixpath
import re
import sys
from collections.abc import Iterator
from typing import Any

# By the dotted name of a key. Entry points, scripts, features, overrides and every [tool] of a runner are other keys.
DEPENDENCIES = re.compile(
    r"(?:.*[.-])?dependencies|(?:dev|peer|optional)Dependencies|build-system\.requires"
    r"|(?:dependency-groups|project\.optional-dependencies)\..+"
)
METADATA = re.compile(
    r"(?:(?:project|package|tool\.poetry)\.)?"
    r"(?:version|description|authors?|license|keywords|classifiers|urls|readme)(?:\..*)?"
)
# A package that comes from a source of its own may be anything, also under the name of a runner.
SOURCE = re.compile(r"[/@]|\w:|'(?:path|git|url|file|registry|package|source|branch|rev|tag)'")
LOCKED_SOURCE = re.compile(
    r"\b(?:file|link|portal|patch|git[+\w]*):|\"link\"|\b(?:path|directory|editable|git|type) = "
)
LOCK_FILE = re.compile(r".*[.-]lock(?:b|\.json|\.yaml)?|go\.sum")
REQUIREMENT = re.compile(r"\s*(?P<name>[A-Za-z0-9][\w.-]*)(?P<version>.*)")
GO_REQUIRE = re.compile(r"^\s*(?:require\s+)?(\S+)[ \t]+(v\S+)(?:\s*//.*)?$", re.MULTILINE)


def only_adds(path: str, before: bytes | None, after: bytes | None) -> bool:
    """Whether the change only adds and bumps dependencies, or touches the version and metadata. False for a manifest
    that cannot be read."""
    name = posixpath.basename(path)
    try:
        old, new = _flat(_table(name, (before or b"").decode())), _flat(_table(name, (after or b"").decode()))
    except (ValueError, TypeError, RecursionError):
        return False
    for (key, package), value in new.items():
        is_same = (key, package) in old and old[key, package] == value
        is_dependency = package and not SOURCE.search(str(value))
        if not is_same and not is_dependency:
            return False
    return old.keys() <= new.keys()


def _table(name: str, text: str) -> dict[str, Any]:
    if name == "package.json":
        return dict(json.loads(text))
    if name in ("pyproject.toml", "Cargo.toml") and sys.version_info >= (3, 11):
        import tomllib

        return tomllib.loads(text)
    if name == "go.mod":
        others = GO_REQUIRE.sub("", text).replace("require (", "").replace(")", "").split()
        return {"dependencies": dict(GO_REQUIRE.findall(text)), "others": others}
    if re.fullmatch(r".*requirements.*\.txt", name):
        return {"dependencies": re.sub(r"(?:^|\s)#.*", "", text).splitlines()}
    if LOCK_FILE.fullmatch(name):  # of the packages that its manifest came to, only their sources can be news
        return {"places": [line for line in text.splitlines() if LOCKED_SOURCE.search(line)]}
    raise ValueError(f"{name} is not read")


def _flat(table: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """Each value by its dotted name and the package that it is about; that is empty where it is no dependency. Raises
    ValueError where two have one name: `{"scripts": {"test": …}, "scripts.test": …}` hid a new script once."""
    pairs = list(_pairs(table))
    keys = dict(pairs)
    if len(keys) < len(pairs):
        raise ValueError("a name is there twice")
    return keys


def _pairs(table: dict[str, Any]) -> Iterator[tuple[tuple[str, str], Any]]:
    for name, value in table.items():
        if METADATA.fullmatch(name):
            continue
        if DEPENDENCIES.fullmatch(name) and isinstance(value, dict):
            for package, version in value.items():
                yield (name, package), version
        elif DEPENDENCIES.fullmatch(name) and isinstance(value, list):
            yield from _requirements(name, value).items()
        elif isinstance(value, dict) and value:
            yield from _pairs({f"{name}.{below}": inner for below, inner in value.items()})
        else:
            yield (name, ""), value


def _requirements(name: str, listed: list[Any]) -> dict[tuple[str, str], str]:
    keys: dict[tuple[str, str], str] = {}
    for requirement in filter(None, listed):
        match = REQUIREMENT.fullmatch(str(requirement))
        if match is None:
            keys[f"{name}: {requirement}", ""] = ""  # an option, or a group
            continue
        package = re.sub(r"[-_.]+", "-", match["name"]).lower()  # Foo_Bar and foo-bar are one
        keys[name, package] = keys.get((name, package), "") + match["version"]
    return keys
