"""Whether this machine could push the current branch, asked before any work is done.

Git is asked with `push --dry-run --porcelain`: exit status 0 means yes, a line with the flag `!` names a refused ref.
Where git gives up before it comes to a ref (exit status 128) its words depend on version, language and transport, so
they are not read. What tells the causes apart is asked separately: a connection to the remote's host fails: network;
it is made, and git is still turned away: auth. A remote on this machine is looked at as the directory it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from omo.evidence import changes
from omo.evidence.run import Outcome, run
from omo.shown import clip
from omo.ultraplan import reach
from omo.ultraplan.reach import Place, place_of

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

UNASKED = "a dry run does not ask the hooks of the server, which may still refuse"


@dataclass(frozen=True)
class Push:
    """`kind` is ok, no_repository, no_commit, detached, no_remote, auth, network, rejected or unknown."""

    kind: str
    detail: str


def check(root: Path, environ: Mapping[str, str]) -> Push:
    standing = _standing(root)
    if standing is not None:
        return standing
    named = _programs(root, environ)
    if named:
        return Push("unknown", f"{clip(named[0], 80)} in the repository's own configuration names a program or how to "
                    "start one; it is not started here. Set it with git config --global")  # fmt: skip
    remote = remote_of(root, environ)
    if remote is None:
        return Push("no_remote", _which_remote(remotes(root)))
    outcome = _git(
        root, environ, "push", "--dry-run", "--porcelain", "--no-recurse-submodules", "--no-signed", "--no-verify",
        "--receive-pack=git-receive-pack", remote, "HEAD",
    )  # fmt: skip
    return _judged(outcome, remote, root, environ)


def remotes(root: Path) -> list[str]:
    """The names of the repository's remotes; none outside git."""
    outcome = changes._git(root, "remote")
    return outcome.stdout.splitlines() if outcome.ok else []


def remote_of(root: Path, environ: Mapping[str, str]) -> str | None:
    """As git chooses for a push of the current branch, and the only one there is where git would not choose."""
    known = remotes(root)
    branch = changes.current_branch(root)
    keys = (f"branch.{branch}.pushRemote", "remote.pushDefault", f"branch.{branch}.remote")
    wanted = [_git(root, environ, "config", "--get", key).stdout.rstrip("\n") for key in keys]
    chosen = next((name for name in [*wanted, "origin"] if name in known), None)
    return chosen or (known[0] if len(known) == 1 else None)


def _standing(root: Path) -> Push | None:
    """What keeps the branch from being pushed anywhere."""
    if not changes._git(root, "rev-parse", "--git-dir").ok:
        return Push("no_repository", "not a git repository, or git is missing: git init")
    if not changes.current_branch(root):
        return Push("detached", "no branch is checked out: git switch BRANCH, or git switch -c BRANCH")
    if changes.commit_of(root, "HEAD") is None:
        return Push("no_commit", "the branch has no commit yet, so there is nothing to push: commit first")
    return None


def _which_remote(known: list[str]) -> str:
    if not known:
        return "the repository has no remote: git remote add origin URL"
    names = clip(", ".join(known), 200)
    return f"none of the remotes is chosen for this branch: git config remote.pushDefault NAME ({names})"


def _judged(outcome: Outcome, remote: str, root: Path, environ: Mapping[str, str]) -> Push:
    refused = [line.split("\t") for line in outcome.stdout.splitlines() if line.startswith("!\t")]
    if refused:
        return Push("rejected", f"{clip(remote, 80)}: {clip(' '.join(refused[0][1:]), 200)}")
    place = place_of(_git(root, environ, "remote", "get-url", "--push", remote).stdout.split("\n")[0])
    if outcome.ok:
        return _allowed(remote, place, root)
    if not place.scheme:
        return Push("unknown", f"{clip(remote, 80)} is reached in a way that is not known here ({PROTOCOLS} are)")
    if not place.host:
        return _local(remote, place, root, environ)
    known = {**environ, **_proxy(place, root, environ)}
    return _distant(remote, _through_ssh(place, root, environ), known, timed_out=outcome.timed_out)


def _allowed(remote: str, place: Place, root: Path) -> Push:
    """A dry run writes nothing, so for a directory of this machine it says nothing about writing."""
    if place.scheme == "file":
        objects = [path for path in (_directory(place, root) / "objects", _directory(place, root) / ".git" / "objects")
                   if path.is_dir()]  # fmt: skip
        if objects and not os.access(objects[0], os.W_OK):
            return Push("auth", f"{clip(remote, 80)} is a directory that may not be written")
    return Push("ok", f"{clip(remote, 80)} takes the branch; {UNASKED}")


def _local(remote: str, place: Place, root: Path, environ: Mapping[str, str]) -> Push:
    directory = _directory(place, root)
    try:
        readable = os.access(directory, os.R_OK | os.X_OK) or not directory.stat()
    except PermissionError:
        readable = False
    except OSError:
        return Push("no_remote", f"{clip(remote, 80)} names a directory that is not there")
    if readable and not _git(root, environ, "ls-remote", "--quiet", remote).ok:
        return Push("no_remote", f"{clip(remote, 80)} names a directory that is no git repository")
    return Push("auth", f"{clip(remote, 80)} is there and may not be pushed to")


def _distant(remote: str, place: Place, environ: Mapping[str, str], *, timed_out: bool) -> Push:
    at = f"{clip(remote, 80)} at {clip(place.host, 100)}"
    port = place.port or reach.PORTS[place.scheme]
    reached = reach.reaches(place.host, port, environ, scheme=place.scheme) if port > 0 else None
    if reached is False:
        return Push("network", f"{at}: no connection to port {port}")
    if reached is None:
        return Push("unknown", f"{at}: git failed, and behind a proxy it cannot be told why")
    if timed_out:
        return Push("unknown", f"{at} can be reached, but git was not done within {SECONDS:g} s")
    return Push("auth", f"{at} answers and turns git away: check credentials, permissions and the repository's name")


def _directory(place: Place, root: Path) -> Path:
    return Path(os.path.join(root, place.path))


def _through_ssh(place: Place, root: Path, environ: Mapping[str, str]) -> Place:
    """An ssh host may be a name of the user's own; ssh says what it stands for. Behind a jump host nothing is known."""
    if place.scheme != "ssh" or place.host.startswith("-"):
        return place
    port = ["-p", str(place.port)] if place.port else []
    outcome = run(["ssh", "-G", *port, "--", place.host], cwd=root, timeout=reach.SECONDS, env=_environment(environ))
    if not outcome.ok:
        return place
    said = dict(line.split(" ", 1) for line in outcome.stdout.splitlines() if " " in line)
    if {said.get("proxyjump", "none"), said.get("proxycommand", "none")} != {"none"}:
        return Place("ssh", place.host, -1)
    return Place("ssh", said.get("hostname", place.host), int(said.get("port", place.port or reach.PORTS["ssh"])))


def _proxy(place: Place, root: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """A proxy that is set in git's configuration, as the variable it would be."""
    said = _git(root, environ, "config", "--get-urlmatch", "http.proxy", f"{place.scheme}://{place.host}")
    return {f"{place.scheme}_proxy": said.stdout.strip()} if said.ok and said.stdout.strip() else {}


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
    environment = {**_environment(environ), **changes._own(root)}
    if arguments[0] in ("push", "ls-remote") and not _has_ssh_command(root, environment):
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
