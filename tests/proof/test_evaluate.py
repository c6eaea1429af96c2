"""Every type of check, passing, failing and unknown, on real trees and real repositories."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from omo.errors import BadInput
from omo.proof import changes, globs
from omo.proof import evaluate as module
from omo.proof.checks import digest_of_check, parse_checks
from omo.proof.evaluate import CheckedTree, ChecksVerdict, Observation, evaluate
from tests import texts
from tests.project import git


def write(root: Path, name: str, text: str = "text\n") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def commit(root: Path, subject: str = "work") -> str:
    git(root, "add", "--all")
    git(root, "commit", "-q", "--allow-empty", "-m", subject)
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    write(project, "README.md", "# Title\n\n## Install\r\n")
    write(project, "src/a.py", "print(1)\n")
    write(project, "src/deep/.hidden/b.py", "print(2)\n")
    return project


@pytest.fixture
def repo(root: Path) -> Path:
    git(root, "init", "-q")
    write(root, "infra/main.tf")
    commit(root, "start")
    return root


def look(root: Path, item: object, *, pin: bool = True, base: str | None = "HEAD", **options: Any) -> Observation:
    (observation,) = verdict_of(root, [item], pin=pin, base=base, **options).checks
    return observation


def verdict_of(
    root: Path, items: list[Any], *, pin: bool = True, base: str | None = "HEAD", **options: Any
) -> ChecksVerdict:
    checks = parse_checks(items)
    pinned = {digest_of_check(one): base for one in checks} if pin else {}
    return evaluate(checks, CheckedTree(root, pinned, **options))


def python(code: str, **fields: Any) -> dict[str, Any]:
    return {"type": "command", "argv": [sys.executable, "-c", code], **fields}


def metric(code: str, extract: str, **fields: Any) -> dict[str, Any]:
    return {"type": "metric", "argv": [sys.executable, "-c", code], "extract": extract, **fields}


FILES: list[tuple[dict[str, Any], str, str]] = [
    ({"type": "path", "path": "README.md"}, "pass", "1 found"),
    ({"type": "path", "path": "./src//a.py"}, "pass", "1 found"),
    ({"type": "path", "path": "src"}, "pass", "1 found"),
    ({"type": "path", "path": "src/**/*.py", "min_count": 2}, "pass", "2 found"),
    ({"type": "path", "path": "**/*.py", "min_count": 2}, "pass", "2 found"),
    ({"type": "path", "path": "**/**/**/**/b.py"}, "pass", "1 found"),
    ({"type": "path", "path": "src/*.py", "min_count": 2}, "fail", "1 found, 2 needed"),
    ({"type": "path", "path": "dist/*.whl"}, "fail", "0 found, 1 needed"),
    ({"type": "path", "path": "README.md/x"}, "fail", "0 found"),
    ({"type": "path", "path": "old.py", "absent": True}, "pass", "is gone"),
    ({"type": "path", "path": "old/**", "absent": True}, "pass", "is gone"),
    ({"type": "path", "path": "README.md", "absent": True}, "fail", "must be gone"),
    ({"type": "content", "path": "README.md", "regex": "^## Install$"}, "pass", "1 of 1 files with"),
    ({"type": "content", "path": "README.md", "regex": "^## Usage"}, "fail", "0 of 1 files with"),
    ({"type": "content", "path": "**/*.py", "regex": "print"}, "pass", "2 of 2"),
    ({"type": "content", "path": "**/*.py", "regex": r"print\(1"}, "fail", "1 of 2"),
    ({"type": "content", "path": "**/*.py", "regex": r"print\(1", "any": True}, "pass", "1 of 2"),
    ({"type": "content", "path": "**/*.py", "regex": "TODO", "absent": True}, "pass", "2 of 2 files without"),
    ({"type": "content", "path": "**/*.py", "regex": r"print\(1", "absent": True}, "fail", "1 of 2 files without"),
    ({"type": "content", "path": "**/*.py", "regex": r"print\(1", "absent": True, "any": True}, "pass", "1 of 2"),
    ({"type": "content", "path": "missing.md", "regex": "x"}, "fail", "no file is named by"),
    ({"type": "content", "path": "missing.md", "regex": "x", "absent": True}, "fail", "no file is named by"),
    ({"type": "content", "path": "src", "regex": "x"}, "fail", "no file is named by"),
]  # fmt: skip


@pytest.mark.parametrize(("item", "result", "reason"), FILES)
def test_path_and_content(root: Path, item: dict[str, Any], result: str, reason: str) -> None:
    found = look(root, item)
    assert found.result == result
    assert reason in found.reason


COMMANDS: list[tuple[dict[str, Any], str, str]] = [
    (python("print('2 passed')", stdout="passed"), "pass", "exit 0"),
    (python("import sys; sys.exit(3)", exit=3), "pass", "exit 3"),
    (python("import os; print(os.path.basename(os.getcwd()))", cwd="src", stdout=r"\Asrc\Z|^src$"), "pass", ""),
    (python("pass", stdout=r"\A\Z"), "pass", ""),
    (python("import sys; sys.exit(1)"), "fail", "exit 1, 0 needed"),
    (python("import absent_module"), "fail", "0 needed: ModuleNotFoundError: No module named 'absent_module'"),
    (python("import os; os.kill(os.getpid(), 15)"), "fail", "ended by signal 15"),
    (python("print('1 failed')", stdout="passed"), "fail", "has no /passed/"),
    (python("pass", cwd="nowhere"), "fail", "directory nowhere is not there"),
    (python("print('x' * 3_000_000)", stdout="needle"), "unknown", "not in the part"),
    ({"type": "command", "argv": ["no-such-program"]}, "unknown", "program not found: no-such-program; install it"),
    ({"type": "command", "argv": ["sh", "-c", "no-such"]}, "fail", "exit 127, 0 needed: no-such is not here: "),
    ({"type": "command", "argv": ["python3", "-m", "no_such"]}, "fail", "no_such is not here: if the work is not to"),
    (python("import time; time.sleep(60)", timeout=0.3), "unknown", "timed out after"),
    (metric("print(7)", "stdout_int", max=7), "pass", "7, needed at most 7"),
    (metric("print(8)", "stdout_int", max=7), "fail", "8, needed at most 7"),
    (metric("print(-1.5e1)", "stdout_float", min=-15, max=0), "pass", "at least -15 and at most 0"),
    (metric("print('[1, 2]')", "json_length", min=3), "fail", "2, needed at least 3"),
    (metric("print('{}')", "json_length", max=0), "pass", "0"),
    (metric("import sys; sys.exit(4)", "exit_code", max=3), "fail", "4"),
    (metric("print('seven')", "stdout_int", max=7), "unknown", "no stdout_int to be had"),
    (metric("print('7.5')", "stdout_int", max=8), "unknown", "no stdout_int"),
    (metric("print('nan')", "stdout_float", max=8), "unknown", "no stdout_float"),
    (metric("print('1e999')", "stdout_float", min=8), "unknown", "no stdout_float"),
    (metric("print(3)", "json_length", min=0), "unknown", "no json_length"),
    (metric("print(7); import sys; sys.exit(1)", "stdout_int", max=7), "unknown", "exit 1"),
    ({**metric("", "stdout_int", max=7), "argv": ["no-such-program"]}, "unknown", "program not found"),
]  # fmt: skip


@pytest.mark.parametrize(("item", "result", "reason"), COMMANDS)
def test_command_and_metric(root: Path, item: dict[str, Any], result: str, reason: str) -> None:
    found = look(root, item)
    assert found.result == result, found
    assert reason in found.reason


@pytest.mark.parametrize("item", [python("open('ran', 'w')"), {**metric("open('ran', 'w')", "exit_code", max=0)}])
def test_a_command_that_is_not_pinned_does_not_run(root: Path, item: dict[str, Any]) -> None:
    found = look(root, item, pin=False)
    assert found.result == "unknown"
    assert "omo verify add" in found.reason
    assert not (root / "ran").exists()


def test_parsing_a_script_does_not_run_it(root: Path) -> None:
    write(root, "-x.sh", "touch ran\n")
    assert look(root, {"type": "syntax", "path": "-x.sh", "language": "bash"}).result == "pass"
    assert not (root / "ran").exists()


@pytest.mark.parametrize("language", ["bash", "python"])
def test_syntax_of_what_is_not_there(root: Path, language: str) -> None:
    assert look(root, {"type": "syntax", "path": "gone", "language": language}).result == "fail"


def test_without_the_interpreter_syntax_is_unknown(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(root))
    write(root, "run.sh", "true\n")
    found = look(root, {"type": "syntax", "path": "run.sh", "language": "bash"})
    assert found.result == "unknown"
    assert texts.says(found.reason, "check-program-missing", program="bash")


def test_commit(repo: Path) -> None:
    item = {"type": "commit", "subject": r"^feat\(x\):"}
    base = git(repo, "rev-parse", "HEAD")
    assert look(repo, item, base=base).result == "fail"
    commit(repo, "feat(x): add it\n\nfeat(y): body")
    found = look(repo, item, base=base)
    assert (found.result, found.observed) == ("pass", "feat(x): add it")
    assert look(repo, {**item, "subject": "body"}, base=base).result == "fail"
    assert look(repo, {**item, "subject": "^start"}, base=base).result == "fail"
    assert look(repo, item, base="HEAD").result == "fail"


def test_rewritten_history_is_unknown(repo: Path) -> None:
    commit(repo, "feat(x): first")
    base = git(repo, "rev-parse", "HEAD")
    git(repo, "commit", "-q", "--amend", "--allow-empty", "-m", "feat(x): second")
    found = look(repo, {"type": "commit", "subject": "feat"}, base=base)
    assert found.result == "unknown"
    assert texts.says(found.reason, "check-base-no-ancestor", base=base[:12])


FORBIDDEN = {"type": "forbidden", "paths": ["infra/**"]}
SCOPE = {"type": "scope", "touch": ["src/**"]}


def edit(root: Path, *command: str) -> None:
    write(root, "infra/main.tf", "other\n")
    if command:
        git(root, *command)


def edit_unseen(root: Path) -> None:
    """Of the same size, and at the same time."""
    path = root / "infra/main.tf"
    before = path.stat()
    path.write_text("TEXT\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


EDITS: dict[str, Callable[[Path], object]] = {
    "edited": edit,
    "staged": lambda root: edit(root, "add", "--all"),
    "committed": lambda root: edit(root, "commit", "-qam", "work"),
    "new": lambda root: write(root, "infra/deep/.env"),
    "removed": lambda root: (root / "infra/main.tf").unlink(),
    "moved": lambda root: git(root, "mv", "infra/main.tf", "src/main.tf"),
    "mode": lambda root: (root / "infra/main.tf").chmod(0o755),
    "out of the index": lambda root: edit(root, "rm", "-q", "--cached", "infra/main.tf"),
    "unseen": edit_unseen,
}


@pytest.mark.parametrize("change", EDITS.values(), ids=EDITS)
def test_forbidden_and_scope_see_every_kind_of_change(repo: Path, change: Callable[[Path], object]) -> None:
    base = git(repo, "rev-parse", "HEAD")
    assert {look(repo, item, base=base).result for item in (FORBIDDEN, SCOPE)} == {"pass"}
    change(repo)
    for item in (FORBIDDEN, SCOPE):
        found = look(repo, item, base=base)
        assert found.result == "fail"
        assert "infra/" in found.observed


def test_what_was_put_back_is_unchanged(repo: Path) -> None:
    base = git(repo, "rev-parse", "HEAD")
    edit(repo, "commit", "-qam", "work")
    write(repo, "infra/main.tf")
    os.utime(repo / "infra/main.tf", (1, 1))
    assert look(repo, FORBIDDEN, base=base).result == "pass"


def test_scope_allows_what_it_names_our_state_and_the_checks_file(repo: Path) -> None:
    write(repo, "src/new.py")
    write(repo, ".sisyphus/cc-omo/runtime.local.json", "{}")
    write(repo, "checks.yaml")
    assert look(repo, SCOPE, inputs=frozenset(["checks.yaml"])).result == "pass"
    assert look(repo, SCOPE).result == "fail"
    assert look(repo, {"type": "scope", "touch": ["src", "checks.yaml"]}).result == "pass"


def test_ignored_files_are_no_change(repo: Path) -> None:
    write(repo, ".gitignore", "*.log\n")
    commit(repo)
    write(repo, "infra/x.log")
    assert look(repo, FORBIDDEN).result == "pass"


def test_what_a_rule_of_the_base_ignores_stays_ignored_when_rules_are_added(repo: Path) -> None:
    write(repo, ".gitignore", "*.log\nbuild/\n")
    base = commit(repo)
    write(repo, "infra/x.log")
    write(repo, "infra/build/deep/out.bin")
    write(repo, "src/.gitignore", "*.pyc\n")
    assert {look(repo, item, base=base).result for item in (FORBIDDEN, SCOPE)} == {"pass"}


# By path, what is written to hide a new file; None for a file that is removed.
HIDING: dict[str, dict[str, str | None]] = {
    "a rule that hides itself": {".gitignore": "infra/new.tf\n.gitignore\n"},
    "a rule beside it": {"infra/.gitignore": "*\n"},
    "a rule for the directory": {"infra/deep/new.tf": "", ".gitignore": "infra/deep/\n"},
    "an exception removed": {"infra/sub/.gitignore": None, "infra/sub/x.kept": ""},
    "a rule of this clone": {".git/info/exclude": "infra/new.tf\n"},
}


@pytest.mark.parametrize("is_committed", [False, True])
@pytest.mark.parametrize("files", HIDING.values(), ids=HIDING)
def test_a_new_file_is_not_hidden_by_a_rule_the_base_has_not(
    repo: Path, files: dict[str, str | None], is_committed: bool
) -> None:
    write(repo, ".gitignore", "*.kept\n")
    write(repo, "infra/sub/.gitignore", "!*.kept\n")
    base = commit(repo)
    for path, text in files.items():
        if text is None:
            (repo / path).unlink()
        else:
            write(repo, path, text)
    if is_committed:
        commit(repo)
    write(repo, "infra/new.tf")
    items = ({"type": "forbidden", "paths": ["infra/**/new.tf", "infra/sub/*.kept"]}, SCOPE)
    for found in (look(repo, item, base=base) for item in items):
        assert found.result == "fail"
        assert "infra/" in found.observed


def test_rules_above_a_project_that_is_below_its_repository(repo: Path) -> None:
    write(repo, ".gitignore", "/infra/old.log\n")
    base = commit(repo)
    write(repo, "infra/old.log")
    item = {"type": "scope", "touch": ["main.tf"]}
    assert look(repo / "infra", item, base=base).result == "pass"
    write(repo, ".gitignore", "/infra/*\n")
    write(repo, "infra/new.tf")
    assert look(repo / "infra", item, base=base).observed == "new.tf"


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_an_edit_git_is_told_to_overlook_is_unknown(repo: Path, flag: str) -> None:
    git(repo, "update-index", flag, "infra/main.tf")
    edit(repo)
    found = look(repo, FORBIDDEN)
    assert found.result == "unknown"
    assert "git update-index --no-assume-unchanged" in found.reason


def test_a_project_below_the_top_of_its_repository(repo: Path) -> None:
    below = repo / "src"
    write(repo, "README.md", "changed\n")
    assert look(below, {"type": "scope", "touch": ["a.py"]}).result == "pass"
    write(below, "new.py")
    assert look(below, {"type": "scope", "touch": ["a.py"]}).observed == "new.py"


@pytest.mark.parametrize("item", [FORBIDDEN, SCOPE, {"type": "commit", "subject": "x"}])
@pytest.mark.parametrize("base", ["no-such-rev", "", None, "--all", "HEAD~99", "\ud800", "HEAD:README.md"])
def test_a_base_that_cannot_be_found_is_unknown(repo: Path, item: dict[str, Any], base: str | None) -> None:
    assert look(repo, item, base=base).result == "unknown"


@pytest.mark.parametrize("item", [FORBIDDEN, SCOPE, {"type": "commit", "subject": "x"}])
def test_outside_git_history_is_unknown(root: Path, item: dict[str, Any]) -> None:
    found = look(root, item)
    assert found.result == "unknown"
    assert texts.says(found.reason, "check-without-git")


def test_without_git_history_is_unknown(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repo))
    assert look(repo, FORBIDDEN).result == "unknown"


def test_a_repository_without_commits_has_the_empty_tree_as_base(root: Path) -> None:
    git(root, "init", "-q")
    base = changes.head(root)
    assert base
    assert look(root, {"type": "commit", "subject": "feat"}, base=base).result == "fail"
    assert look(root, FORBIDDEN, base=base).result == "pass"
    assert look(root, SCOPE, base=base).observed == "README.md"
    commit(root, "feat: all")
    assert look(root, {"type": "commit", "subject": "feat"}, base=base).result == "pass"


def test_judge(root: Path) -> None:
    found = look(root, {"id": "clear", "type": "judge", "question": "clear?"})
    assert (found.result, found.observed) == ("unknown", "clear?")
    assert texts.says(found.reason, "check-unanswered")


PASS = {"type": "path", "path": "README.md"}


def test_links(root: Path, tmp_path: Path) -> None:
    write(tmp_path, "outside/secret.txt", "needle\n")
    (root / "out.txt").symlink_to(tmp_path / "outside/secret.txt")
    (root / "outdir").symlink_to(tmp_path / "outside")
    (tmp_path / "empty").mkdir()
    (root / "outempty").symlink_to(tmp_path / "empty")
    (root / "broken").symlink_to("nowhere")
    (root / "in.md").symlink_to("README.md")
    (root / "loop").symlink_to("loop")
    for path in ("out.txt", "*.txt", "outdir/secret.txt", "outdir/*", "outdir", "outempty/*", "broken", "loop"):
        found = look(root, {"type": "path", "path": path})
        assert found.result == "fail", path
        assert texts.says(found.reason, "check-links-do-not-count"), path
        assert look(root, {"type": "path", "path": path, "absent": True}).result == "fail", path
        assert look(root, {"type": "content", "path": path, "regex": "needle"}).result == "fail", path
    assert look(root, {"type": "path", "path": "in.md"}).result == "pass"
    assert look(root, {"type": "content", "path": "in.md", "regex": "Install"}).result == "pass"
    led_out = look(root, python("print(1)", cwd="outdir"))
    assert led_out.result == "unknown"
    assert texts.says(led_out.reason, "proof-leads-out-of-project", path="outdir")


def test_pipes_and_unreadable_files_do_not_hang(root: Path) -> None:
    os.mkfifo(root / "pipe")
    assert look(root, {"type": "content", "path": "pipe", "regex": "x"}).result == "fail"
    write(root, "closed").chmod(0)
    if os.geteuid():
        assert look(root, {"type": "content", "path": "closed", "regex": "x"}).result == "unknown"


def test_a_huge_file_is_read_within_bounds(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_READ", 1000)
    monkeypatch.setattr(module, "LARGEST_PARSED", 1000)
    write(root, "huge.txt", "early\n" + "x" * 2000 + "\nlate\n")
    assert look(root, {"type": "content", "path": "huge.txt", "regex": "early"}).result == "pass"
    for item in ({"regex": "late"}, {"regex": "never", "absent": True}):
        found = look(root, {"type": "content", "path": "huge.txt", **item})
        assert found.result == "unknown"
        assert texts.says(found.reason, "check-only-beginning-read", most=1000)
    assert look(root, {"type": "syntax", "path": "huge.txt", "language": "python"}).result == "unknown"


@pytest.mark.parametrize("pattern", [r"^(?:(?:a|aa)+)+!$", r"((a{1,1000}){1,1000}){1,1000}b"])
def test_a_regex_that_explodes_is_unknown_soon(root: Path, pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omo.proof.patterns.SECONDS", 0.3)
    write(root, "a.txt", "a" * 5000 + "\n")
    started = time.process_time()
    for item in (
        {"type": "content", "path": "a.txt", "regex": pattern},
        {"type": "content", "path": "a.txt", "regex": pattern, "absent": True},
        python("print('a' * 5000)", stdout=pattern),
    ):
        found = look(root, item)
        assert found.result == "unknown"
        assert texts.says(found.reason, "check-regex-too-slow")
    assert time.process_time() - started < 20


def test_the_regexes_of_one_evaluation_have_one_time_together(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omo.proof.patterns.SECONDS", 0.3)
    monkeypatch.setattr("omo.proof.evaluate.SEARCH_SECONDS", 0.3)
    write(root, "a.txt", "a" * 5000 + "\n")
    slow = {"type": "content", "path": "a.txt", "regex": r"^(?:(?:a|aa)+)+!$"}
    quick = {"type": "content", "path": "a.txt", "regex": "aa"}
    found = verdict_of(root, [quick, slow, quick, python("print('aa')", stdout="aa"), PASS]).checks
    assert [one.result for one in found] == ["pass", "unknown", "unknown", "unknown", "pass"]


def test_a_glob_that_names_too_much_is_unknown(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(globs, "MOST_ENTRIES", 2)
    found = look(root, {"type": "path", "path": "**/*.none"})
    assert (found.result, "narrower" in found.reason) == ("unknown", True)


@pytest.mark.parametrize(
    ("path", "glob", "covers"),
    [
        ("a/b/c", "a/**", True),
        ("a", "a/**", True),
        ("a/b/c", "a", True),
        ("a/b/c", "a/*", True),
        ("a/b/c", "**/c", True),
        ("c", "**/c", True),
        ("a/b/c", "**/b", True),
        ("ab", "a", False),
        ("a/b", "*", True),
        (".env", "*", True),
        ("A", "a", False),
        ("a/b/c/d", "a/**/d", True),
        ("x/a", "a/**", False),
        ("app/[slug]/page.tsx", "app/[slug]/page.tsx", True),
        ("app/[slug]/page.tsx", "app/**/page.*", True),
        ("app/s/page.tsx", "app/[slug]/page.tsx", False),
    ],
)
def test_globs(path: str, glob: str, covers: bool) -> None:
    assert globs.covers(path, glob) == covers


@pytest.mark.parametrize("glob", ["app/[slug]/page.tsx", "app/[slug]/*.tsx", "app/[s*/page.tsx", "**/[slug]/*"])
def test_brackets_are_letters_of_a_name(root: Path, glob: str) -> None:
    write(root, "app/[slug]/page.tsx", "export default 1\n")
    write(root, "app/s/page.ts", "export default 1\n")
    assert look(root, {"type": "path", "path": glob}).reason == "1 found, 1 needed"


def test_a_glob_made_to_explode_does_not() -> None:
    path = "/".join(["a" * 50] * 30)
    assert not globs.covers(path, "/".join(["**", "*a" * 40 + "b"] * 3))


def test_what_is_observed_is_one_short_clean_line(root: Path) -> None:
    found = look(root, python("print('\\x1b[31mred\\r\\n' * 5000); import sys; sys.exit(1)"))
    assert len(found.observed) <= 500
    assert found.observed.isprintable()


PARTS = st.sampled_from(["**", "*", "src", "a.py", "README.md", "[", "x]", "é", " ", "-n", "*.py", ".git", "?"])
PATHS = st.lists(PARTS, min_size=1, max_size=4).map("/".join)
REGEXES = st.text("ab(|)*+?[]^$.\\{}1,", max_size=12)
ITEMS = st.one_of(
    st.fixed_dictionaries({"type": st.just("path"), "path": PATHS, "absent": st.booleans()}),
    st.fixed_dictionaries({"type": st.just("content"), "path": PATHS, "regex": REGEXES, "any": st.booleans()}),
    st.fixed_dictionaries(
        {"type": st.just("syntax"), "path": PATHS, "language": st.sampled_from(["python", "json", "yaml"])}
    ),
    st.fixed_dictionaries({"type": st.just("command"), "argv": st.lists(st.text(max_size=4), max_size=2)}),
    st.text(max_size=5),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=200)
@given(items=st.lists(ITEMS, max_size=3))
def test_evaluate_never_raises(root: Path, items: list[Any]) -> None:
    try:
        checks = parse_checks(items)
    except BadInput:
        return
    found = evaluate(checks, CheckedTree(root))
    assert found.verdict in ("pass", "fail", "unknown")
    assert found.verdict != "pass" or all(one.result == "pass" for one in found.checks)
    assert stat.S_ISDIR(root.stat().st_mode)


@pytest.mark.parametrize("root", ["/nonexistent/place", "relative"])
def test_a_tree_that_is_not_there_raises_nothing(root: str) -> None:
    items = [*(item for item, _, _ in FILES), python("print(1)"), FORBIDDEN, SCOPE, {"type": "commit", "subject": "x"}]
    assert verdict_of(Path(root), items).verdict != "pass"
