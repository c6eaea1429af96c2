"""Whether this machine can do what a session needs, asked before its first step.

Every answer comes from an exit status, a file or a connection. What cannot be confirmed counts as missing: a session
that begins without it fails late, after the work.
"""

from __future__ import annotations

import http.client
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from omo.errors import NotEvaluable
from omo.proof import git
from omo.proof.run import CommandOutcome, run
from omo.text import clip

MISSING = 77  # the exit code that says so
BYPASSES = ("OMO_SKIP_PREFLIGHT", "ULTRAEXECUTE_SKIP_PREFLIGHT")
HOSTS = ("github.com", "gitlab.com", "bitbucket.org")  # one is enough
HTTPS = 443
CONNECT_SECONDS = 8.0
PUSH_SECONDS = 60.0


@dataclass(frozen=True)
class PreflightNeed:
    """`status` is ok, missing or unknown; `detail` says how that was told, and what would help."""

    name: str
    status: str
    detail: str

    def __str__(self) -> str:
        return f"{self.name} is {self.status}: {self.detail}"


@dataclass(frozen=True)
class Preflight:
    """`bypassed_by` is the variable that switched it off; then nothing was asked."""

    needs: tuple[PreflightNeed, ...]
    bypassed_by: str = ""

    @property
    def missing(self) -> list[PreflightNeed]:
        return [need for need in self.needs if need.status != "ok"]


def check(needs: Sequence[str], root: Path, *, environ: Mapping[str, str], by: str) -> Preflight:
    """Every need once, in the order given. Only the user's environment says to skip it: an agent could say so too."""
    for variable in BYPASSES:
        if environ.get(variable) == "1" and by == "user":
            return Preflight((), variable)
    return Preflight(tuple(_check(need, root, environ) for need in dict.fromkeys(needs)))


def _check(need: str, root: Path, environ: Mapping[str, str]) -> PreflightNeed:
    kind, _, value = need.partition(":")
    try:
        if kind == "cmd":
            status, detail = "ok", f"{value} is installed"
            if not shutil.which(value, path=environ.get("PATH", "")):
                status, detail = "missing", f"{value} is not on the PATH: install it, or add its directory to the PATH"
        elif kind == "env":  # whether it is set; what it is set to is nobody's business
            status, detail = "ok", f"{value} is set"
            if not environ.get(value):
                status, detail = "missing", f"set {value} in the environment the session starts from"
        elif kind == "network":
            status, detail = _network(environ)
        else:
            status, detail = _push(root, environ)
    except NotEvaluable as error:
        status, detail = "unknown", error.message
    return PreflightNeed(clip(need, 80), status, clip(detail, 400))


def _network(environ: Mapping[str, str]) -> tuple[str, str]:
    """Its status and detail: a connection is made or it is not, through the proxy that the environment names."""
    names = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
    proxy = next((environ[name] for name in names if environ.get(name)), "")
    for host in HOSTS:
        try:
            connection = http.client.HTTPConnection(host, HTTPS, timeout=CONNECT_SECONDS)
            if proxy:
                url = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
                connection = http.client.HTTPConnection(url.hostname or "", url.port or 80, timeout=CONNECT_SECONDS)
                connection.set_tunnel(host, HTTPS)
            connection.connect()  # OSError also where the proxy's answer is anything but 200
            connection.close()
        except (OSError, http.client.HTTPException, UnicodeError, ValueError):
            continue
        return "ok", f"{host} can be reached"
    return "missing", f"none of {', '.join(HOSTS)} can be reached"


# git push --dry-run

# The repository's own configuration can be written by whoever works in it; a program named there is not started for
# them. The user's own (global, system) configuration names credential helpers and ssh commands that pushing needs.
PROGRAMS = re.compile(
    r"core\.(sshcommand|askpass|gitproxy|alternaterefscommand)|credential\.(.*\.)?helper|gpg\..*program"
    r"|remote\..*\.(receivepack|uploadpack|vcs)|protocol\..*",
    re.IGNORECASE | re.DOTALL,
)
# test_nor_a_remote_that_is_a_command in tests/ultraplan/test_preflight.py.
PROTOCOLS = "file:git:http:https:ssh"  # not ext::, which is a command, nor whatever else is installed as git-remote-*
KEPT = re.compile(
    r"GIT_(SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)|SSL_\w+|HTTP_\w+|PROXY_\w+)"
)
DROPPED = ("SSH_ASKPASS",)  # opens a window on somebody's screen
CREDENTIALS = re.compile(r"//[^/@\s]*@")  # in a URL that git names
SETTINGS = (
    "-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false", "-c", "credential.interactive=false",
    "-c", "push.default=current",
)  # fmt: skip
DRY_RUN = (
    "push", "--dry-run", "--porcelain", "--no-recurse-submodules", "--no-signed", "--no-verify",
    "--receive-pack=git-receive-pack",
)  # fmt: skip


def _push(root: Path, environ: Mapping[str, str]) -> tuple[str, str]:
    """Asked of git itself, to where it would push: its exit code and its words."""
    # Scope, key and value of every setting, what is included too; git writes section and name in small letters.
    printed = _ask(root, environ, "config", "--show-scope", "--includes", "--list", "-z").stdout.split("\0")
    keys = []
    for scope, entry in zip(printed[::2], printed[1::2], strict=False):
        key = entry.partition("\n")[0]
        keys.append(key)
        if scope in ("local", "worktree") and PROGRAMS.fullmatch(key):
            where = f"{clip(key, 80)} in the repository's own configuration"
            why = "names a program or how to start one; it is not started here. Set it with git config --global"
            return "unknown", f"{where} {why}"
    own = {} if "core.sshcommand" in keys or environ.get("GIT_SSH") else {"GIT_SSH_COMMAND": "ssh -oBatchMode=yes"}
    outcome = _ask(root, {**own, **environ}, *DRY_RUN)
    if outcome.ok:
        return "ok", "git takes the branch; a dry run does not ask the hooks of the server, which may still refuse"
    if outcome.exit_code is None:
        return "unknown", f"git push --dry-run gave no exit code within {PUSH_SECONDS:g} s"
    words = CREDENTIALS.sub("//", f"{outcome.stdout} {outcome.stderr}")
    return "missing", f"git push --dry-run ended with exit code {outcome.exit_code}: {clip(words, 300)}"


def has_remote(root: Path) -> bool:
    return bool(git.run(root, "remote").text.strip())


def _ask(root: Path, environ: Mapping[str, str], *arguments: str) -> CommandOutcome:
    """In the caller's own environment, since credentials are found through it; without what would make git speak of
    another place or ask somebody."""
    kept = {}
    for name, value in environ.items():
        if name not in DROPPED and (not name.startswith("GIT_") or KEPT.fullmatch(name)):
            kept[name] = value
    environment = {
        **kept,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": PROTOCOLS,
        "GCM_INTERACTIVE": "never",
        "LC_ALL": "C",
        **git.own_repository(str(root)),
    }
    return run(["git", *SETTINGS, *arguments], cwd=root, timeout=PUSH_SECONDS, env=environment)
