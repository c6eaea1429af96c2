"""The environment of tox, or the session of nox, that runs a project's tests on the Python that is here.

Called bare, both run all they have: linters, pages, every version of Python. Hooks read this too, so no `re`.
"""

from __future__ import annotations

import os
import sys

from omo.proof.typed_commands import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ENVLIST = ("envlist", "env_list")
SESSION = ("@nox.session", "@session")


def python_here() -> str:
    """Return the file that python3 stands for; empty where there is none."""
    found = resolve("python3", os.curdir, os.environ.get("PATH", ""))
    return os.path.realpath(found) if found else ""


def version_here() -> str:
    """Return its version as 3.12, by its name; where that does not say it, by the Python that runs omo."""
    version = os.path.basename(python_here()).removeprefix("python")
    major, dot, minor = version.partition(".")
    if dot and major.isdigit() and minor.isdigit():
        return version
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def of_tox(text: str, names: Sequence[str]) -> list[list[str]]:
    """Return the calls of tox, the best first: the environment that the list of a tox.ini has for this Python, one with
    one of the `names`, and `py`, which is the Python that tox itself runs with and is there without a list."""
    version = version_here()
    listed = _envlist(text)
    wanted = []
    for factor in (f"py{version.replace('.', '')}", version, "py3"):
        with_factor = [name for name in listed if factor in name.split("-")]
        if factor in with_factor:
            with_factor = [factor]
        wanted += with_factor[:1]
    if "py" not in listed:
        wanted += [name for name in names if name in listed][:1]
    return [["tox", "-e", name] for name in [*wanted[:1], "py"]]


def _envlist(text: str) -> list[str]:
    """The environments that a tox.ini lists, with braces written out."""
    values: list[str] = []
    section, is_listed = "", False
    for line in text.splitlines():
        bare = line.partition("#")[0].strip()
        if line.startswith("["):
            section, is_listed = bare, False
        elif section == "[tox]" and line[:1] not in (" ", "\t", ""):
            key, _, value = bare.partition("=")
            is_listed = key.strip() in ENVLIST
            if is_listed:
                values.append(value)
        elif is_listed:
            values.append(bare)
    names: list[str] = []
    for word in _words("\n".join(values)):
        names += _written_out(word)
    return names


def _words(text: str) -> list[str]:
    """Words between commas and blanks that are in no braces."""
    depth, words = 0, [""]
    for letter in text:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if depth == 0 and (letter == "," or letter.isspace()):
            words.append("")
        elif not letter.isspace():
            words[-1] += letter
    return [word for word in words if word]


def _written_out(word: str) -> list[str]:
    """py{310,311}-unit → py310-unit, py311-unit"""
    before, brace, rest = word.partition("{")
    inside, closing, after = rest.partition("}")
    if not brace or not closing:
        return [word]
    names = []
    for choice in inside.split(","):
        names += [f"{before}{choice}{end}" for end in _written_out(after)]
    return names


def of_nox(text: str, names: Sequence[str]) -> list[list[str]]:
    """Return the calls of nox, the best first: the session with the first of the `names`, or the only one there is, on
    this Python where it lists several. Where no session is known to have the tests, it is all of them."""
    sessions = _sessions(text)
    name = next((name for name in names if name in sessions), "")
    if not name and len(sessions) == 1:
        name = next(iter(sessions))
    if not name:
        return [["nox"]]
    calls = [["nox", "-s", name]]
    if sessions[name]:
        calls.insert(0, ["nox", "-s", f"{name}-{version_here()}"])
    return calls


def _sessions(text: str) -> dict[str, bool]:
    """The sessions of a noxfile, each with whether it names its Pythons."""
    sessions = {}
    decorator = ""
    for line in text.splitlines():
        if line.startswith(SESSION):
            decorator = line
        elif decorator and line.startswith(("def ", "async def ")):
            named = decorator.replace(" ", "").partition("name=")[2]
            name = named[1:].partition(named[0])[0] if named else line.partition("def ")[2].partition("(")[0].strip()
            sessions[name] = "python=" in decorator.replace(" ", "")
            decorator = ""
        elif decorator:
            decorator += line
    return sessions
