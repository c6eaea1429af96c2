"""Manifests: whether a change of one only adds or bumps packages, or says something else about the project.

Where the old manifest alone makes a gate fail, it may stand as it is now, provided that no runner can read anything
else in it: a script, a runner's configuration, a profile, a package from somewhere else than before.
"""

from __future__ import annotations

import configparser
import fnmatch
import json
import posixpath
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

if sys.version_info >= (3, 11):
    import tomllib

LOCK_FILES = (
    *("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", "deno.lock"),
    *("poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock", "pylock*.toml", "Cargo.lock", "go.sum", "go.work.sum"),
    *("Gemfile.lock", "composer.lock", "mix.lock", "pubspec.lock", "Package.resolved", "gradle.lockfile", "flake.lock"),
)
# By the dotted name of a key. Entry points, scripts, features, overrides and every [tool] of a runner are other keys.
DEPENDENCIES = (
    *("project.dependencies", "project.optional-dependencies.*", "dependency-groups.*", "build-system.requires"),
    *("tool.poetry.dependencies", "tool.poetry.dev-dependencies", "tool.poetry.group.*.dependencies"),
    *("tool.pdm.dev-dependencies.*", "tool.uv.dev-dependencies", "workspace.dependencies", "target.*.dependencies"),
    *("dependencies", "dev-dependencies", "build-dependencies", "target.*.dev-dependencies"),
    *("devDependencies", "peerDependencies", "optionalDependencies", "require", "require-dev"),
    *("options.install_requires", "options.tests_require", "options.setup_requires", "options.extras_require.*"),
)
METADATA = re.compile(
    r"(?:(?:project|package|workspace\.package|tool\.poetry|metadata)\.)?"
    r"(?:version|description|authors?|maintainers?|contributors|licen[cs]e|license-files|license_files|keywords|categories"
    r"|classifiers|urls|readme|homepage|repository|documentation|bugs|funding|url|author_email|long_description)(?:\..*)?"
)
# A package that comes from a place of its own may be anything, also under the name of a runner.
PLACES = frozenset(("path", "git", "url", "file", "registry", "package", "source", "branch", "rev", "tag", "develop"))
LOCKED_PLACE = re.compile(
    r"\b(?:file|link|portal|patch|git|git\+\w+):|\"link\"|\b(?:path|directory|editable|git) = \""
    r"|type = \"(?:directory|file|git|url)\"|\"git\+"
)
REQUIREMENT = re.compile(r"\s*(?P<name>[A-Za-z0-9][\w.-]*)(?P<version>.*)")
GO_REQUIRE = re.compile(r"(?:require\s+)?(?P<name>[^\s()]+)\s+(?P<version>v\S+)")


class Manifest(NamedTuple):
    """Packages with what is said about their versions, and every other key but metadata."""

    packages: Mapping[str, Any]
    others: Mapping[str, Any]


def only_adds(path: str, before: bytes, after: bytes) -> bool:
    """Whether the change adds and bumps dependencies, and changes the version and metadata, but nothing else. Of a
    manifest that cannot be read it is not known: no."""
    name = posixpath.basename(path)
    try:
        old_text, new_text = before.decode(), after.decode()
        if any(fnmatch.fnmatchcase(name, lock) for lock in LOCK_FILES):
            return _has_no_new_place(old_text, new_text)
        read = _reader(name)
        if read is None:
            return False
        old, new = read(old_text), read(new_text)
    except (ValueError, configparser.Error, RecursionError):
        return False
    if old.others != new.others or not old.packages.keys() <= new.packages.keys():
        return False
    for package, version in new.packages.items():
        if version != old.packages.get(package) and not _is_version(version):
            return False
    return True


def _reader(name: str) -> Callable[[str], Manifest] | None:
    if name in ("package.json", "composer.json"):
        return _read_json
    if name in ("pyproject.toml", "Cargo.toml"):
        return _read_toml
    if fnmatch.fnmatchcase(name, "*requirements*.txt"):
        return _read_requirements
    return {"setup.cfg": _read_setup_cfg, "go.mod": _read_go_mod}.get(name)


def _read_json(text: str) -> Manifest:
    table = json.loads(text)
    if not isinstance(table, dict):
        raise ValueError("no object")  # noqa: TRY004
    return _from_keys(table)


def _read_toml(text: str) -> Manifest:
    if sys.version_info >= (3, 11):
        return _from_keys(tomllib.loads(text))
    raise ValueError("Python 3.10 reads no TOML")


def _read_setup_cfg(text: str) -> Manifest:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    table: dict[str, dict[str, Any]] = {}
    for section in parser.sections():
        table[section] = {}
        for key, value in parser.items(section):
            is_list = section == "options.extras_require" or key.endswith("_require") or key == "install_requires"
            table[section][key] = value.split("\n") if is_list else value
    return _from_keys(table)


def _read_requirements(text: str) -> Manifest:
    """Options (`-r`, `-e`, `--index-url`) are other lines."""
    packages: dict[str, str] = {}
    others: dict[str, str] = {}
    for line in text.splitlines():
        requirement = re.sub(r"(?:^|\s)#.*", "", line).strip()
        match = REQUIREMENT.fullmatch(requirement)
        if match:
            packages[_same(match["name"])] = packages.get(_same(match["name"]), "") + match["version"]
        elif requirement:
            others[requirement] = ""
    return Manifest(packages, others)


def _read_go_mod(text: str) -> Manifest:
    packages: dict[str, str] = {}
    others: dict[str, str] = {}
    block = ""
    for line in text.splitlines():
        statement = line.partition("//")[0].strip()
        if statement.endswith("("):
            block = statement.rstrip("( ")
            continue
        match = GO_REQUIRE.fullmatch(statement)
        if match and (block == "require" or statement.startswith("require")):
            packages[match["name"]] = match["version"]
        elif statement and statement != ")":
            others[f"{block} {statement}"] = ""
    return Manifest(packages, others)


def _from_keys(table: Mapping[str, Any]) -> Manifest:
    packages: dict[str, Any] = {}
    others: dict[str, Any] = {}
    pending: list[tuple[str, Any]] = list(table.items())
    while pending:
        key, value = pending.pop()
        if METADATA.fullmatch(key):
            continue
        if any(fnmatch.fnmatchcase(key, pattern) for pattern in DEPENDENCIES) and isinstance(value, (list, dict)):
            for name, version in _requirements(value):
                packages[f"{key}.{name}"] = version
        elif isinstance(value, dict) and value:
            pending += [(f"{key}.{below}", inner) for below, inner in value.items()]
        else:
            others[key] = value
    return Manifest(packages, others)


def _requirements(value: list[Any] | dict[str, Any]) -> Iterable[tuple[str, Any]]:
    if isinstance(value, dict):
        return value.items()
    named: dict[str, str] = {}
    for item in value:
        match = REQUIREMENT.fullmatch(item) if isinstance(item, str) else None
        if match:
            named[_same(match["name"])] = named.get(_same(match["name"]), "") + match["version"]
        elif item:
            named[json.dumps(item)] = ""  # a group that includes another
    return named.items()


def _same(name: str) -> str:
    """To Python's index `Foo_Bar` and `foo-bar` are one."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _is_version(value: Any) -> bool:
    if isinstance(value, dict):
        return PLACES.isdisjoint(value)
    return isinstance(value, str) and not re.search(r"[/:@]", value)


def _has_no_new_place(before: str, after: str) -> bool:
    """A lock file says which packages its manifest came to, and can change nothing but where they are from."""
    known = before.splitlines()
    return not any(LOCKED_PLACE.search(line) and line not in known for line in after.splitlines())
