"""Manifests: whether a change of one only adds or bumps packages, or says something else about the project.

Where the old manifest alone makes a gate fail, it may stand as it is now, provided that no runner can read anything
else in it: a script, a runner's configuration, a profile, a package from somewhere else than before.
"""

from __future__ import annotations

import json
import posixpath
import re
import sys
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
# A package that comes from a place of its own may be anything, also under the name of a runner.
PLACE = re.compile(r"[/@]|\w:|'(?:path|git|url|file|registry|package|source|branch|rev|tag)'")
LOCKED_PLACE = re.compile(r"\b(?:file|link|portal|patch|git[+\w]*):|\"link\"|\b(?:path|directory|editable|git|type) = ")
LOCK_FILE = re.compile(r".*[.-]lock(?:b|\.json|\.yaml)?|go\.sum")
REQUIREMENT = re.compile(r"\s*(?P<name>[A-Za-z0-9][\w.-]*)(?P<version>.*)")
GO_REQUIRE = re.compile(r"^\s*(?:require\s+)?(\S+)[ \t]+(v\S+)(?:\s*//.*)?$", re.MULTILINE)


def only_adds(path: str, before: bytes, after: bytes) -> bool:
    """Whether the change adds and bumps dependencies, and changes the version and metadata, but nothing else. Of a
    manifest that cannot be read it is not known: no."""
    name = posixpath.basename(path)
    try:
        old, new = _keys(_table(name, before.decode())), _keys(_table(name, after.decode()))
    except (ValueError, TypeError, RecursionError):
        return False
    for (key, package), value in new.items():
        is_same = (key, package) in old and old[key, package] == value
        if not is_same and (not package or PLACE.search(str(value))):
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
    if LOCK_FILE.fullmatch(name):  # it says which packages its manifest came to: only where they are from is news
        return {"places": [line for line in text.splitlines() if LOCKED_PLACE.search(line)]}
    raise ValueError(f"{name} is not read")


def _keys(table: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """By dotted names; a package is a key of its own, with its name beside."""
    keys: dict[tuple[str, str], Any] = {}
    for name, value in table.items():
        if METADATA.fullmatch(name):
            continue
        if DEPENDENCIES.fullmatch(name) and isinstance(value, dict):
            keys.update({(name, package): version for package, version in value.items()})
        elif DEPENDENCIES.fullmatch(name) and isinstance(value, list):
            for requirement in filter(None, value):
                match = REQUIREMENT.fullmatch(str(requirement))
                if match:
                    package = re.sub(r"[-_.]+", "-", match["name"]).lower()  # Foo_Bar and foo-bar are one
                    keys[name, package] = keys.get((name, package), "") + match["version"]
                else:
                    keys[f"{name}: {requirement}", ""] = ""  # an option, or a group
        elif isinstance(value, dict) and value:
            keys.update(_keys({f"{name}.{below}": inner for below, inner in value.items()}))
        else:
            keys[name, ""] = value
    return keys
