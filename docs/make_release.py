"""Makes the branch `release`, from which a URL installs omo: the files that run, without tests, benches and docs.

./bin/release VERSION                 makes a release; nothing is pushed
python docs/make_release.py --check   exits 1 if HEAD has other files than the branch has under the same version

A client that has a version does not look at it again, so one version has one set of files. A branch, not a directory of
links: `claude plugin validate --strict` refuses that, and Codex copies an empty plugin from it.
"""

from __future__ import annotations

import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from docs import make_versions  # noqa: E402

ROOT = make_versions.ROOT
BRANCH = "release"
MANIFEST = ".claude-plugin/plugin.json"
CHANGELOG = ROOT / "CHANGELOG.md"
RUNTIME = (
    *(".claude-plugin", ".codex-plugin", ".gitattributes", "plugin.json", "requirements.txt"),
    *("agents", "action.yml", "bin/omo", "bin/proof-action", "hooks", "skill-fragments", "skills", "src"),
    *("CHANGELOG.md", "LICENSE", "README.md"),
    *("docs/quality-gate.md", "docs/verify.md"),  # which commands name
)
LARGEST = 3_000_000  # bytes of files that a user gets with each version


class Refused(Exception):
    """A release that cannot be made, and what to type."""


def git(*arguments: str, index: str = "", cwd: Path = ROOT) -> str:
    environ = {**os.environ, "GIT_INDEX_FILE": index} if index else None
    done = subprocess.run(["git", *arguments], cwd=cwd, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def last_release() -> str:
    """Return the newest release that this clone or its remotes have; an empty string if there is none."""
    listed = git("for-each-ref", "--format=%(objectname)", f"refs/heads/{BRANCH}", f"refs/remotes/*/{BRANCH}")
    return max(listed.split(), key=lambda commit: numbers(version_of(commit)), default="")


def runtime_tree(tree: str) -> str:
    """Return the tree that has only the runtime files of this one."""
    with tempfile.TemporaryDirectory() as directory:
        index = str(Path(directory, "index"))
        git("read-tree", tree, index=index)
        names = git("ls-files", "-z", index=index).split("\0")
        others = [name for name in names if name and not is_runtime(name)]
        for start in range(0, len(others), 500):
            git("rm", "-q", "--cached", "--", *others[start : start + 500], index=index)
        return git("write-tree", index=index)


def is_runtime(name: str) -> bool:
    return any(name == kept or name.startswith(f"{kept}/") for kept in RUNTIME)


def size(tree: str) -> int:
    lines = git("ls-tree", "-r", "-l", tree).splitlines()
    return sum(int(line.split()[3]) for line in lines)


def version_of(commit: str) -> str:
    found = make_versions.OF_MANIFEST.search(git("show", f"{commit}:{MANIFEST}") + "\n")
    return found[2] if found else ""


def check() -> int:
    released = last_release()
    version = make_versions.current()
    if not released:
        print(f"there is no branch {BRANCH} yet: ./bin/release {version} makes it")
        return 0
    if version_of(released) != version or runtime_tree("HEAD") == git("rev-parse", f"{released}^{{tree}}"):
        return 0
    following = next_version(version)
    print(
        f"the branch {BRANCH} has other files under the version {version}, and nobody who has it would get these.\n"
        f"  to begin the next version: python docs/make_versions.py {following}, and its section in CHANGELOG.md\n"
        f"  to release it at once: ./bin/release {following}",
        file=sys.stderr,
    )
    return 1


def next_version(version: str) -> str:
    begin, _, last = version.rpartition(".")
    return f"{begin}.{int(last) + 1}"


def release(version: str) -> str:
    """Make the release, and return what to type to publish it."""
    released = last_release()
    ask_whether_it_can_be_made(version, released)
    branch = git("rev-parse", "--abbrev-ref", "HEAD")
    make_versions.write(version)
    try:
        date_section(version)
        git("add", "--", "CHANGELOG.md", make_versions.SOURCE, *make_versions.COPIES)
        tree = runtime_tree(git("write-tree"))
        if (bytes_of_files := size(tree)) > LARGEST:
            raise Refused(f"a version would have {bytes_of_files:,} bytes of files, more than {LARGEST:,}")
        parents = ["-p", released] if released else []
        candidate = git("commit-tree", tree, *parents, "-m", f"omo {version}")
        ask_client(candidate)
    except BaseException:
        git("reset", "-q", "--hard")  # the work tree was clean before
        raise
    if git("status", "--porcelain"):
        git("commit", "-q", "-m", f"omo {version}")
    git("update-ref", f"refs/heads/{BRANCH}", candidate)
    return (
        f"omo {version}: the branch {BRANCH} has {bytes_of_files:,} bytes of files. Nothing was pushed. To publish:\n\n"
        f"    git push origin {branch} {BRANCH}\n"
        f"    git push origin {BRANCH}:refs/tags/omo--v{version}\n"
    )


def ask_whether_it_can_be_made(version: str, released: str) -> None:
    if not make_versions.VERSION.fullmatch(version):
        raise Refused(f"{version} is not a version; it has three numbers, such as 0.2.1")
    if git("status", "--porcelain"):
        raise Refused("there are changes that are not committed: commit them first")
    if numbers(version) < numbers(make_versions.current()):
        raise Refused(f"{version} is older than {make_versions.current()}, the version of these files")
    if released and numbers(version) <= numbers(version_of(released)):
        following = next_version(version_of(released))
        raise Refused(f"the branch {BRANCH} has version {version_of(released)}: type ./bin/release {following}")


def numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


def date_section(version: str) -> None:
    """Put today's date behind the changelog's section of this version, or of what is not released yet."""
    today = datetime.date.today().isoformat()
    text = CHANGELOG.read_text(encoding="utf-8")
    heading = re.compile(rf"(?m)^## (?:{re.escape(version)}|Unreleased)(?: \(.*\))?$")
    if not heading.search(text):
        raise Refused(
            f"CHANGELOG.md has no section {version}: write what changes for users below a line '## {version}'"
        )
    CHANGELOG.write_text(heading.sub(f"## {version} ({today})", text, count=1), encoding="utf-8")


def ask_client(commit: str) -> None:
    """Have Claude Code check the plugin, its marketplace, and the tag that the version would get."""
    from tests.e2e.client import find_binary

    found = shutil.which("claude")
    client = find_binary() or (Path(found) if found else None)
    if client is None:
        print("no claude was found, so the plugin was not validated")
        return
    with checked_out(commit) as directory, tempfile.TemporaryDirectory() as home:
        for command in (
            ["validate", "--strict", MANIFEST],
            ["validate", "--strict", ".claude-plugin/marketplace.json"],
            ["validate", "--strict", "--profile", "directory", "."],
            ["tag", "--dry-run", "."],
        ):
            environ = {"HOME": home, "PATH": os.environ["PATH"]}
            line = [str(client), "plugin", *command]
            done = subprocess.run(line, cwd=directory, env=environ, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Refused(f"claude plugin {' '.join(command)}: {done.stdout}{done.stderr}")
            print(f"claude plugin {' '.join(command)}: passed")


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory, "omo")
        git("worktree", "add", "-q", "--detach", str(place), commit)
        try:
            yield place
        finally:
            git("worktree", "remove", "--force", str(place))


def main(arguments: list[str]) -> int:
    try:
        if arguments == ["--check"]:
            return check()
        if len(arguments) != 1 or arguments[0].startswith("-"):
            version = make_versions.current()
            print(f"usage: ./bin/release VERSION (these files are {version})", file=sys.stderr)
            return 0 if arguments in (["-h"], ["--help"]) else 2
        print(release(arguments[0]))
    except Refused as refused:
        print(f"no release was made: {refused}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
