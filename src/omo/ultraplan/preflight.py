"""Whether this machine can do what a session needs, asked before its first step.

Every answer comes from an exit status, a file or a connection. What cannot be confirmed counts as missing: a session
that begins without it fails late, after the work.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omo.errors import NotEvaluable
from omo.evidence import changes
from omo.shown import clip
from omo.ultraplan import git_push, reach

MISSING = 77  # the exit code that says so
KNOWN = ("git", "git_push", "clean_tree", "network", "cmd:NAME", "env:NAME")
BYPASSES = ("OMO_SKIP_PREFLIGHT", "ULTRAEXECUTE_SKIP_PREFLIGHT")
HOSTS = ("github.com", "gitlab.com", "bitbucket.org")  # where the repository names none; one is enough
MOST_SHOWN = 5


@dataclass(frozen=True)
class Need:
    """`status` is ok, missing or unknown; `kind` says how it was told, such as no_remote or failed for git_push."""

    name: str
    status: str
    kind: str
    detail: str

    @property
    def data(self) -> dict[str, str]:
        return {"name": self.name, "status": self.status, "class": self.kind, "detail": self.detail}


@dataclass(frozen=True)
class Preflight:
    """`bypassed_by` is the variable that switched it off; then nothing was asked."""

    needs: tuple[Need, ...]
    bypassed_by: str = ""

    @property
    def missing(self) -> list[Need]:
        return [need for need in self.needs if need.status != "ok"]

    @property
    def ok(self) -> bool:
        return not self.missing

    @property
    def data(self) -> dict[str, Any]:
        return {
            "needs": [need.data for need in self.needs],
            "missing": [need.name for need in self.missing],
            "bypassed": bool(self.bypassed_by),
            "bypassed_by": self.bypassed_by or None,
        }


def look(needs: Sequence[str], root: Path, *, environ: Mapping[str, str]) -> Preflight:
    """Every need, unless the environment says to skip the preflight."""
    variable = bypass(environ)
    return Preflight((), variable) if variable else Preflight(tuple(check(needs, root, environ=environ)))


def bypass(environ: Mapping[str, str]) -> str:
    """The variable that switches the preflight off; empty where none does."""
    return next((name for name in BYPASSES if environ.get(name) == "1"), "")


def check(needs: Sequence[str], root: Path, *, environ: Mapping[str, str]) -> list[Need]:
    """Each need once, in the order given."""
    return [_check(need, root, environ) for need in dict.fromkeys(needs)]


def defect(need: str) -> str | None:
    """Why nothing can ask for this need, or None."""
    kind, sign, value = need.partition(":")
    if not sign:
        return None if need in PLAIN else f"{clip(need, 80)} is no need that can be asked for ({', '.join(KNOWN)})"
    if kind not in NAMED:
        return f"{clip(need, 80)} is no need that can be asked for ({', '.join(KNOWN)})"
    if not NAMED[kind][0].fullmatch(value):
        return f"{clip(need, 80)} does not name one; write it as {kind}:NAME"
    return None


def _check(need: str, root: Path, environ: Mapping[str, str]) -> Need:
    wrong = defect(need)
    if wrong:
        return Need(clip(need, 80), "missing", "unknown_need", wrong)
    kind, _, value = need.partition(":")
    try:
        status, told, detail = NAMED[kind][1](value, environ) if kind in NAMED else PLAIN[kind](root, environ)
    except NotEvaluable as error:
        status, told, detail = "unknown", "unknown", error.message
    return Need(need, status, told, clip(detail, 400))


Answer = tuple[str, str, str]


def _git(root: Path, environ: Mapping[str, str]) -> Answer:
    stands = changes.head(root)
    if stands is None:
        return "missing", "no_repository", "not a git repository, or git is missing: git init"
    if changes.commit_of(root, "HEAD") is None:
        return "missing", "no_commit", "the repository has no commit yet: commit first"
    return "ok", "ok", f"at commit {stands[:12]}"


def _clean_tree(root: Path, environ: Mapping[str, str]) -> Answer:
    status, kind, detail = _git(root, environ)
    if status != "ok":
        return status, kind, detail
    dirty = changes.changed(root, "HEAD")
    if not dirty:
        return "ok", "ok", "nothing is uncommitted"
    more = f" and {len(dirty) - MOST_SHOWN} more" if len(dirty) > MOST_SHOWN else ""
    return "missing", "dirty", f"not committed: {', '.join(dirty[:MOST_SHOWN])}{more}"


def _network(root: Path, environ: Mapping[str, str]) -> Answer:
    for host in HOSTS:
        if reach.reaches(host, environ):
            return "ok", "ok", f"{host} can be reached"
    return "missing", "network", f"none of {', '.join(HOSTS)} can be reached"


def _command(name: str, environ: Mapping[str, str]) -> Answer:
    if shutil.which(name, path=environ.get("PATH", "")):
        return "ok", "ok", f"{name} is installed"
    return "missing", "not_found", f"{name} is not on the PATH: install it, or add its directory to the PATH"


def _variable(name: str, environ: Mapping[str, str]) -> Answer:
    """Whether it is set; what it is set to is nobody's business."""
    if environ.get(name):
        return "ok", "ok", f"{name} is set"
    return "missing", "empty" if name in environ else "unset", f"set {name} in the environment the session starts from"


PLAIN: Mapping[str, Callable[[Path, Mapping[str, str]], Answer]] = {
    "git": _git,
    "git_push": git_push.check,
    "clean_tree": _clean_tree,
    "network": _network,
}
NAMED: Mapping[str, tuple[re.Pattern[str], Callable[[str, Mapping[str, str]], Answer]]] = {
    "cmd": (re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}"), _command),
    "env": (re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}"), _variable),
}
