"""What many tests begin with, made once in a process: a copy for each of them, or the same place put back."""

from __future__ import annotations

import atexit
import copy
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Hashable
from functools import cache
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

PYCACHE = "OMO_TEST_PYCACHE"  # names the directory in which a run keeps what hooks and commands have compiled

_templates: dict[Hashable, Path] = {}


def copied(root: Path, make: Callable[[Path], object], *key: Hashable) -> None:
    """Have in `root` what `make` makes of a directory; whatever else it depends on is in `key`."""
    shutil.copytree(shared(make, *key), root, symlinks=True, dirs_exist_ok=True)


def shared(make: Callable[[Path], object], *key: Hashable) -> Path:
    """What `make` makes of a directory, itself: for tests that only read it."""
    name = (make.__module__, make.__qualname__, *key)
    if name not in _templates:
        template = _shelf() / f"template{len(_templates)}"
        template.mkdir()
        make(template)
        _templates[name] = template
    return _templates[name]


def git_init(root: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)


_places: dict[Hashable, tuple[Path, Path, object]] = {}
_users: dict[Path, Path] = {}
_homes: dict[Path, str] = {}


def put_back(tmp_path: Path, make: Callable[[Path], T], *key: Hashable) -> T:
    """What `make` makes of a directory, for state that names its own place and so cannot be copied elsewhere.

    The directory is put back as it was for each test, and a test gets it once, in the home in which it was made.
    """
    name = (make.__module__, make.__qualname__, *key)
    if name not in _places:
        place, aside = _shelf() / f"place{len(_places)}", _shelf() / f"aside{len(_places)}"
        place.mkdir()
        made = make(place)
        shutil.copytree(place, aside, symlinks=True)
        _places[name] = (place, aside, made)
        _homes[place] = os.environ["HOME"]
    else:
        place, aside, _ = _places[name]
        assert _users[place] != tmp_path, "the same place twice in one test"
        shutil.rmtree(place)
        shutil.copytree(aside, place, symlinks=True)
    _users[place] = tmp_path
    os.environ["HOME"] = _homes[place]
    return copy.deepcopy(_places[name][2])  # type: ignore[return-value]


@cache
def _shelf() -> Path:
    shelf = Path(tempfile.mkdtemp(prefix="omo-kept-")).resolve()
    atexit.register(shutil.rmtree, shelf, ignore_errors=True)
    return shelf
