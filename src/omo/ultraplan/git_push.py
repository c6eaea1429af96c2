"""Whether this machine could push the current branch, asked before any work is done: `git push --dry-run` says so."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from omo.evidence import changes, git
from omo.evidence.run import Outcome, run
from omo.shown import clip

SECONDS = 60.0
PROTOCOLS = "file:git:http:https:ssh"  # not ext::, which is a command, nor whatever else is installed as git-remote-*

# The repository's own configuration can be written by whoever works in it; a program named there is not started for
# them. The user's own (global, system) configuration names credential helpers and ssh commands that pushing needs.
PROGRAMS = re.compile(
    r"core\.(sshcommand|askpass|gitproxy|alternaterefscommand)|credential\.(.*\.)?helper|gpg\..*program"
    r"|remote\..*\.(receivepack|uploadpack|vcs)|protocol\..*",
    re.IGNORECASE | re.DOTALL,
)
KEPT = re.compile(
    r"GIT_(SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)|SSL_\w+|HTTP_\w+|PROXY_\w+)"
)
DROPPED = ("SSH_ASKPASS",)  # opens a window on somebody's screen

REMOTE = "git remote add origin URL, or git config remote.pushDefault NAME"
CREDENTIALS = re.compile(r"//[^/@\s]*@")  # in a URL that git names
UNASKED = "a dry run does not ask the hooks of the server, which may still refuse"


def check(root: Path, environ: Mapping[str, str]) -> tuple[str, str, str]:
    """The status (ok, missing or unknown), how it was told, and git's exit code and words."""
    named = _programs(root, environ)
    if named:
        where = f"{clip(named[0], 80)} in the repository's own configuration"
        why = "names a program or how to start one; it is not started here. Set it with git config --global"
        return "unknown", "not_asked", f"{where} {why}"
    remote = remote_of(root, environ)
    if remote is None:
        return "missing", "no_remote", f"there is no remote that a push would go to: {REMOTE}"
    outcome = _git(
        root, environ, "push", "--dry-run", "--porcelain", "--no-recurse-submodules", "--no-signed", "--no-verify",
        "--receive-pack=git-receive-pack", remote, "HEAD",
    )  # fmt: skip
    if outcome.ok:
        return "ok", "ok", f"{clip(remote, 80)} takes the branch; {UNASKED}"
    command = f"git push --dry-run {clip(remote, 80)} HEAD"
    if outcome.exit_code is None:
        return "unknown", "no_answer", f"{command} gave no exit code within {SECONDS:g} s"
    words = CREDENTIALS.sub("//", f"{outcome.stdout} {outcome.stderr}")
    return "missing", "failed", f"{command} ended with exit code {outcome.exit_code}: {clip(words, 300)}"


def remotes(root: Path) -> list[str]:
    """The names of the repository's remotes; none outside git."""
    answer = git.run(root, "remote")
    return answer.text.splitlines() if answer.ok else []


def remote_of(root: Path, environ: Mapping[str, str]) -> str | None:
    """As git chooses for a push of the current branch, and the only one there is where git would not choose."""
    known = remotes(root)
    branch = changes.current_branch(root)
    keys = (f"branch.{branch}.pushRemote", "remote.pushDefault", f"branch.{branch}.remote")
    wanted = [_git(root, environ, "config", "--get", key).stdout.rstrip("\n") for key in keys]
    chosen = next((name for name in [*wanted, "origin"] if name in known), None)
    return chosen or (known[0] if len(known) == 1 else None)


def _programs(root: Path, environ: Mapping[str, str]) -> list[str]:
    """Keys of the repository's own configuration, what it includes too, that make git start a program."""
    parts = _git(root, environ, "config", "--show-scope", "--includes", "--list", "-z").stdout.split("\0")
    pairs = [(scope, entry.partition("\n")[0]) for scope, entry in zip(parts[::2], parts[1::2], strict=False)]
    return [key for scope, key in pairs if scope in ("local", "worktree") and PROGRAMS.fullmatch(key)]


def _git(root: Path, environ: Mapping[str, str], *arguments: str) -> Outcome:
    settings = (
        "-c",
        f"core.hooksPath={os.devnull}",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "credential.interactive=false",
    )
    environment = {**_environment(environ), **git.own_repository(str(root))}
    if arguments[0] == "push" and not _has_ssh_command(root, environment):
        environment["GIT_SSH_COMMAND"] = "ssh -oBatchMode=yes"
    return run(["git", *settings, *arguments], cwd=root, timeout=SECONDS, env=environment)


def _has_ssh_command(root: Path, environment: Mapping[str, str]) -> bool:
    if environment.get("GIT_SSH_COMMAND") or environment.get("GIT_SSH"):
        return True
    return run(["git", "config", "--get", "core.sshCommand"], cwd=root, timeout=SECONDS, env=environment).ok


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The caller's own, since credentials are found through it; without what would make git speak of another place."""
    kept = {
        name: value
        for name, value in environ.items()
        if name not in DROPPED and (not name.startswith("GIT_") or KEPT.fullmatch(name))
    }
    return {
        **kept,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": PROTOCOLS,
        "GCM_INTERACTIVE": "never",
        "LC_ALL": "C",
    }
