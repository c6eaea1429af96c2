"""What many tests begin with, made once in a process: a copy for each of them, or the same place put back."""

from __future__ import annotations

import atexit
import copy
import os
import py_compile
import shutil
import subprocess
import tempfile
import venv
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

PYCACHE = "OMO_TEST_PYCACHE"  # names the directory in which a run keeps what hooks and commands have compiled

# What the standard library imports and rarely needs: a quarter of what a small run of unittest takes.
RARELY_USED = ("bz2", "difflib", "lzma", "pprint", "textwrap", "zlib")
LOAD_WHEN_USED = f"""import sys

class Later(type(sys)):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        del sys.modules[self.__name__]
        module = __import__(self.__name__)
        self.__dict__.update(vars(module))
        return getattr(module, name)

for name in {RARELY_USED}:
    sys.modules[name] = Later(name)
"""

_templates: dict[Hashable, Path] = {}


def copied(root: Path, make: Callable[[Path], object], *key: Hashable) -> None:
    """Put into `root` what `make` makes of a directory; whatever else that depends on is in `key`."""
    shutil.copytree(shared(make, *key), root, symlinks=True, dirs_exist_ok=True)


def shared(make: Callable[[Path], object], *key: Hashable) -> Path:
    """The directory itself that `make` has filled, for tests that only read it."""
    name = (make.__module__, make.__qualname__, *key)
    if name not in _templates:
        template = _shelf() / f"template{len(_templates)}"
        template.mkdir()
        make(template)
        _templates[name] = template
    return _templates[name]


def git_init(root: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)


@cache
def interpreter(programs: str = "", packages: str = "") -> Path:
    """The programs of an environment with this Python, which finds what lies in `packages`. They are links of now, or
    are those in the directory `programs`, as old as they are there: omo trusts none that is newer than a run.

    It does not look for garbage, nor at its end: a fifth of what a small run of unittest or pytest takes. What is
    rarely used is loaded when it is used. Nor does its pytest load plugins because they lie beside it: no project has
    asked for ours, which take longer than its tests.
    """
    environment = Path(tempfile.mkdtemp(prefix="python-", dir=_shelf()))
    venv.EnvBuilder(symlinks=True).create(environment)
    if programs:
        shutil.rmtree(environment / "bin")
        (environment / "bin").symlink_to(programs)
    (site,) = environment.glob("lib/python*/site-packages")
    no_garbage = "import atexit, gc; gc.disable(); atexit.register(gc.freeze)"
    no_plugins = "import os; os.environ['PYTEST_DISABLE_PLUGIN_AUTOLOAD'] = '1'"
    later = site / "load_when_used.py"
    later.write_text(LOAD_WHEN_USED, encoding="utf-8")
    py_compile.compile(str(later))  # else gates with -B compile it each time
    (site / "tests.pth").write_text(f"{packages}\n{no_garbage}\n{no_plugins}\nimport {later.stem}\n", encoding="utf-8")
    return environment / "bin"


@dataclass
class _Place:
    directory: Path
    aside: Path  # a copy of it as it was made
    made: object  # what `make` returned
    home: str  # in which it was made
    last_test: Path  # the tmp_path of the test that got it last


_places: dict[Hashable, _Place] = {}


def put_back(tmp_path: Path, make: Callable[[Path], T], *key: Hashable) -> T:
    """What `make` returns for a directory, for state that names its own place and so cannot be copied elsewhere.

    The directory is put back as it was for each test, and a test gets it once, in the home in which it was made.
    """
    name = (make.__module__, make.__qualname__, *key)
    place = _places.get(name)
    if place is None:
        directory, aside = _shelf() / f"place{len(_places)}", _shelf() / f"aside{len(_places)}"
        directory.mkdir()
        made = make(directory)
        shutil.copytree(directory, aside, symlinks=True)
        place = _places[name] = _Place(directory, aside, made, os.environ["HOME"], tmp_path)
    else:
        assert place.last_test != tmp_path, "the same place twice in one test"
        shutil.rmtree(place.directory)
        shutil.copytree(place.aside, place.directory, symlinks=True)
        place.last_test = tmp_path
    os.environ["HOME"] = place.home
    return copy.deepcopy(place.made)  # type: ignore[return-value]


@cache
def _shelf() -> Path:
    shelf = Path(tempfile.mkdtemp(prefix="omo-kept-")).resolve()
    atexit.register(shutil.rmtree, shelf, ignore_errors=True)
    return shelf
