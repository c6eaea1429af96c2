"""The fingerprint says what the files hold: equal for equal trees, whatever git is told about them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from omo.errors import NotEvaluable
from omo.proof import base


def fingerprint(root: Path) -> str:
    return base.fingerprint(str(root))


GIT_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


def git(root: Path, *arguments: str, code: int = 0) -> str:
    command = ["git", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main", *arguments]
    done = subprocess.run(command, cwd=root, env=GIT_ENVIRONMENT, capture_output=True, check=False)
    assert done.returncode == code, done.stderr
    return os.fsdecode(done.stdout)


def commit(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "work")


def write(path: Path, text: str = "text\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


@pytest.fixture(autouse=True)
def clean_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    return home


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    write(root / "a.txt", "alpha\n")
    write(root / "dir/b.txt", "beta\n")
    write(root / "script.sh", "#!/bin/sh\n")
    (root / "link").symlink_to("a.txt")
    write(root / ".gitignore", "*.log\n")
    git(root, "init", "--quiet")
    commit(root)
    write(root / "untracked.txt", "new\n")
    return root


def retarget(path: Path) -> None:
    path.unlink()
    path.symlink_to("dir/b.txt")


def edit_in_place(path: Path) -> None:
    """Same size, and the times put back to what they were."""
    before = path.stat()
    path.write_bytes(path.read_bytes().swapcase())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def file_to_directory(root: Path) -> None:
    (root / "a.txt").unlink()
    write(root / "a.txt/inside", "alpha\n")


def drop_and_exclude(root: Path) -> None:
    git(root, "rm", "--quiet", "--cached", "a.txt")
    write(root / ".git/info/exclude", "a.txt\n")


# What single edits of files and of git's index change, `Edits` below tries.
CHANGES: dict[str, Callable[[Path], object]] = {
    "edit with times restored": lambda root: edit_in_place(root / "a.txt"),
    "edit of an untracked file": lambda root: edit_in_place(root / "untracked.txt"),
    "line ends": lambda root: write(root / "a.txt", "alpha\r\n"),
    "link retargeted": lambda root: retarget(root / "link"),
    "file to directory": file_to_directory,
    "no longer tracked, and excluded": drop_and_exclude,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_changes_with(repository: Path, change: Callable[[Path], object]) -> None:
    before = fingerprint(repository)
    change(repository)
    after = fingerprint(repository)
    assert after != before
    git(repository, "update-index", "--no-assume-unchanged", "--no-skip-worktree", "--", ".gitignore")
    git(repository, "add", "--all")
    assert fingerprint(repository) == after


def stash_and_pop(root: Path) -> None:
    write(root / "a.txt", "edited\n")
    git(root, "stash", "--include-untracked", "--quiet")
    git(root, "stash", "pop", "--quiet")
    write(root / "a.txt", "alpha\n")


def conflict(root: Path) -> None:
    """Leaves three entries for a.txt in the index, and the file as it was."""
    git(root, "checkout", "--quiet", "-b", "side")
    write(root / "a.txt", "side\n")
    git(root, "commit", "--quiet", "-am", "side")
    git(root, "checkout", "--quiet", "main")
    write(root / "a.txt", "main\n")
    git(root, "commit", "--quiet", "-am", "main")
    git(root, "merge", "side", code=1)
    write(root / "a.txt", "alpha\n")


def excluded_file(root: Path) -> None:
    write(root / ".git/info/exclude", "secret\n")
    write(root / "secret")


def tracked_state(root: Path) -> None:
    write(root / ".sisyphus/cc-omo/x")
    git(root, "add", "--force", ".sisyphus")


HOSTILE = {
    "core.autocrlf": "true",
    "core.quotepath": "true",
    "core.fileMode": "false",
    "core.trustctime": "false",
    "core.checkStat": "minimal",
    "core.ignoreStat": "true",
    "core.fsmonitor": "touch ran",
    "core.untrackedCache": "true",
    "filter.x.clean": "touch ran",
    "status.showUntrackedFiles": "no",
}


def hostile_settings(root: Path) -> None:
    write(root / ".git/all", "*\n")
    for name, value in {**HOSTILE, "core.excludesFile": str(root / ".git/all")}.items():
        git(root, "config", name, value)


SAME: dict[str, Callable[[Path], object]] = {
    "intent to add": lambda root: git(root, "add", "--intent-to-add", "untracked.txt"),
    "stash and pop": stash_and_pop,
    "merge conflict": conflict,
    "touch": lambda root: os.utime(root / "a.txt", (0, 0)),
    "touch into the future": lambda root: os.utime(root / "a.txt", (4e9, 4e9)),
    "group-writable": lambda root: (root / "a.txt").chmod(0o664),
    "rewritten with the same content": lambda root: write(root / "a.txt", "alpha\n"),
    "ignored file": lambda root: write(root / "build.log"),
    "locally excluded file": excluded_file,
    "empty directory": lambda root: (root / "nothing/in/here").mkdir(parents=True),
    "named pipe": lambda root: os.mkfifo(root / "pipe"),
    "our state": lambda root: write(root / ".sisyphus/cc-omo/runtime.local.json"),
    "our state, tracked": tracked_state,
    "hostile settings": hostile_settings,
}


@pytest.mark.parametrize("change", SAME.values(), ids=SAME.keys())
def test_is_stable_across(repository: Path, change: Callable[[Path], object]) -> None:
    before = fingerprint(repository)
    change(repository)
    assert fingerprint(repository) == before


def test_is_the_same_in_a_clone_and_in_a_linked_worktree(repository: Path, tmp_path: Path) -> None:
    commit(repository)
    git(tmp_path, "clone", "--quiet", "repository", "clone")
    git(repository, "worktree", "add", "--quiet", "--detach", "../worktree")
    assert fingerprint(tmp_path / "clone") == fingerprint(repository) == fingerprint(tmp_path / "worktree")
    edit_in_place(tmp_path / "worktree/a.txt")
    assert fingerprint(tmp_path / "worktree") != fingerprint(repository)


def test_reads_through_line_end_conversion(repository: Path) -> None:
    git(repository, "config", "core.autocrlf", "true")
    write(repository / ".gitattributes", "* text=auto\n")
    commit(repository)
    before = fingerprint(repository)
    write(repository / "a.txt", "alpha\r\n")
    git(repository, "add", "--all")
    assert git(repository, "status", "--porcelain") == ""
    assert fingerprint(repository) != before


def without_git(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(root / "nowhere"))


def without_repository(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(root / ".git")


def with_broken_index(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / ".git/index").write_bytes(b"not an index")


def with_core_bare(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(root, "config", "core.bare", "true")


def without_commits(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(root / ".git")
    git(root, "init", "--quiet")


def without_home(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")


@pytest.mark.parametrize(
    "worsen",
    [without_git, without_repository, with_broken_index, with_core_bare, without_commits, without_home],
)
def test_needs_no_healthy_repository(
    repository: Path, monkeypatch: pytest.MonkeyPatch, worsen: Callable[..., None]
) -> None:
    before = fingerprint(repository)
    worsen(repository, monkeypatch)
    write(repository / ".sisyphus/cc-omo/state")
    assert fingerprint(repository) == before
    edit_in_place(repository / "dir/b.txt")
    assert fingerprint(repository) != before


def test_the_user_s_configuration_and_environment_do_not_count(
    repository: Path, clean_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fingerprint(repository)
    write(clean_home / ".config/git/ignore", "*\n")
    write(clean_home / ".gitconfig", "[core]\n\texcludesFile = ~/.config/git/ignore\n\tfsmonitor = touch ran\n")
    monkeypatch.setenv("GIT_DIR", str(clean_home))
    monkeypatch.setenv("GIT_INDEX_FILE", str(clean_home / "index"))
    assert fingerprint(repository) == before


def test_the_repository_is_left_alone(repository: Path) -> None:
    def state() -> dict[str, tuple[int, bytes]]:
        files = (path for path in (repository / ".git").rglob("*") if path.is_file())
        return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}

    os.utime(repository / "a.txt", (0, 0))
    before = state()
    fingerprint(repository)
    assert state() == before


def test_a_part_of_a_repository(repository: Path) -> None:
    before = fingerprint(repository / "dir")
    edit_in_place(repository / "a.txt")
    write(repository / "dir/ignored.log")
    assert fingerprint(repository / "dir") == before
    edit_in_place(repository / "dir/b.txt")
    assert fingerprint(repository / "dir") != before


def test_a_project_that_an_outer_repository_ignores_counts(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    write(tmp_path / ".gitignore", "*\n")
    write(tmp_path / "project/a.txt", "one\n")
    before = fingerprint(tmp_path / "project")
    write(tmp_path / "project/a.txt", "two\n")
    assert fingerprint(tmp_path / "project") != before


def test_repositories_below_a_plain_directory_keep_their_own_rules(tmp_path: Path, repository: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    repository = repository.rename(workspace / "repository")
    before = fingerprint(workspace)
    write(repository / "build.log")
    commit(repository)
    assert fingerprint(workspace) == before
    edit_in_place(repository / "a.txt")
    assert fingerprint(workspace) != before


def test_links_are_not_followed(repository: Path, tmp_path: Path) -> None:
    write(tmp_path / "outside/file", "one\n")
    (repository / "way-out").symlink_to(tmp_path / "outside")
    (repository / "loop").symlink_to(".")
    before = fingerprint(repository)
    write(tmp_path / "outside/file", "two\n")
    assert fingerprint(repository) == before
    shutil.rmtree(repository / ".git")
    assert fingerprint(repository) == before


def submodule_edit(submodule: Path) -> None:
    edit_in_place(submodule / "lib.txt")


def submodule_new_file(submodule: Path) -> None:
    write(submodule / "new.txt")


def submodule_deletion(submodule: Path) -> None:
    shutil.rmtree(submodule)


@pytest.fixture
def superproject(repository: Path, tmp_path: Path) -> Path:
    library = tmp_path / "library"
    write(library / "lib.txt", "library\n")
    git(library, "init", "--quiet")
    commit(library)
    git(repository, "submodule", "--quiet", "add", str(library), "vendor/lib")
    commit(repository)
    return repository


@pytest.mark.parametrize(
    "change",
    [submodule_edit, submodule_new_file, submodule_deletion],
)
def test_changes_with_a_submodule(superproject: Path, change: Callable[[Path], None]) -> None:
    git(superproject, "config", "submodule.vendor/lib.ignore", "all")
    before = fingerprint(superproject)
    change(superproject / "vendor/lib")
    assert fingerprint(superproject) != before


@pytest.mark.parametrize("damage", [shutil.rmtree, lambda path: (path / "HEAD").unlink()])
def test_a_submodule_with_a_damaged_repository(superproject: Path, damage: Callable[[Path], None]) -> None:
    damage(superproject / ".git/modules/vendor/lib")
    before = fingerprint(superproject)
    git(superproject, "commit", "--quiet", "--allow-empty", "--message", "moves the outer HEAD")
    assert fingerprint(superproject) == before
    write(superproject / "vendor/lib/lib.txt", "edited\n")
    assert fingerprint(superproject) != before


def test_a_submodule_may_be_missing_its_checkout(superproject: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "repository", "clone")
    before = fingerprint(tmp_path / "clone")
    assert before != fingerprint(superproject)
    git(tmp_path / "clone", "submodule", "--quiet", "update", "--init")
    assert fingerprint(tmp_path / "clone") == fingerprint(superproject)


def test_a_nested_repository_counts_before_and_after_it_is_added(repository: Path) -> None:
    nested = repository / "nested"
    write(nested / "file")
    git(nested, "init", "--quiet")
    commit(nested)
    before = fingerprint(repository)
    git(repository, "add", "--all")
    assert fingerprint(repository) == before
    write(nested / "file", "edited\n")
    assert fingerprint(repository) != before


def test_a_nested_repository_with_a_damaged_git_directory(repository: Path) -> None:
    write(repository / "nested/.git/nothing")
    write(repository / "nested/file", "one\n")
    before = fingerprint(repository)
    write(repository / "nested/file", "two\n")
    assert fingerprint(repository) != before


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
@pytest.mark.parametrize("name", ["a.txt", "dir"])
def test_what_cannot_be_read_is_said(repository: Path, name: str) -> None:
    (repository / name).chmod(0)
    try:
        with pytest.raises(NotEvaluable, match=name):
            fingerprint(repository)
    finally:
        (repository / name).chmod(0o755)


@pytest.mark.parametrize("attribute", ["filter=x", "text eol=crlf", "ident", "working-tree-encoding=UTF-16"])
def test_an_attribute_neither_starts_a_program_nor_hides_an_edit(repository: Path, attribute: str) -> None:
    git(repository, "config", "filter.x.clean", "touch ran; echo same")
    git(repository, "config", "filter.x.required", "true")
    write(repository / ".gitattributes", f"* {attribute}\n")
    write(repository / ".git/info/attributes", f"* {attribute}\n")
    before = fingerprint(repository)
    write(repository / "a.txt", "alpha\r\n")
    assert fingerprint(repository) != before
    assert not (repository / "ran").exists()


Model = dict[bytes, tuple[str, bytes]]
NAMES = [b"a", b"b", b"dir/a", b"dir/new\nline", b"dir/deep/sp ace", "ü".encode()]
if sys.platform == "linux":
    NAMES.append(b"dir/\xff\xfe")
KINDS = st.sampled_from(["file", "executable", "link"])


class Edits(RuleBasedStateMachine):
    """Any sequence of edits and of git's doings: equal fingerprints exactly where the files are equal."""

    contents = (b"one", b"two", b"")

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name, "tree")
        self.root.mkdir()
        git(self.root, "init", "--quiet")
        git(self.root, "commit", "--quiet", "--allow-empty", "--message", "start")
        self.model: Model = {}
        self.seen: dict[frozenset[tuple[bytes, tuple[str, bytes]]], str] = {}

    def at(self, name: bytes) -> bytes:
        return os.path.join(os.fsencode(self.root), name)

    @rule(name=st.sampled_from(NAMES), kind=KINDS, choice=st.integers(0, 2))
    def put(self, name: bytes, kind: str, choice: int) -> None:
        content = self.contents[choice] or (b"nowhere" if kind == "link" else b"")
        os.makedirs(os.path.dirname(self.at(name)), exist_ok=True)
        if name in self.model:
            os.unlink(self.at(name))
        if kind == "link":
            os.symlink(content, self.at(name))
        else:
            Path(os.fsdecode(self.at(name))).write_bytes(content)
            os.chmod(self.at(name), 0o755 if kind == "executable" else 0o644)
        self.model[name] = (kind, content)

    @rule(name=st.sampled_from(NAMES))
    def remove(self, name: bytes) -> None:
        if self.model.pop(name, None):
            os.unlink(self.at(name))

    @rule(old=st.sampled_from(NAMES), new=st.sampled_from(NAMES))
    def move(self, old: bytes, new: bytes) -> None:
        if old in self.model:
            os.makedirs(os.path.dirname(self.at(new)), exist_ok=True)
            os.replace(self.at(old), self.at(new))
            self.model[new] = self.model.pop(old)

    @rule()
    def add(self) -> None:
        git(self.root, "add", "--all")

    @rule()
    def commit(self) -> None:
        git(self.root, "commit", "--quiet", "--all", "--allow-empty", "--message", "work")

    @rule(flag=st.sampled_from(["--assume-unchanged", "--skip-worktree"]))
    def hide(self, flag: str) -> None:
        for name in git(self.root, "ls-files", "-z").split("\0")[:-1]:
            git(self.root, "update-index", flag, "--", name)

    @invariant()
    def equal_exactly_if_the_files_are(self) -> None:
        found = fingerprint(self.root)
        model = frozenset(self.model.items())
        assert self.seen.setdefault(model, found) == found
        assert len({*self.seen.values()}) == len(self.seen)

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.folder.cleanup()


SOME = settings(
    max_examples=25, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck), database=None
)


def test_any_edits() -> None:
    run_state_machine_as_test(Edits, settings=SOME)
