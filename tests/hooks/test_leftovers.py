"""What is changed outside the fence of a plan session: a session may take back what it left; the user's stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from omo.workflows.ultraplan import start as starting
from tests import texts
from tests.hooks.conftest import Host
from tests.hooks.test_tool_gates import bash as bash_of
from tests.hooks.test_tool_gates import denied
from tests.kept import copied
from tests.project import SESSION as AGENTS
from tests.project import Project
from tests.ultraplan.plans import carry_out, commit, git, plan_text

IN_PROCESS = True
WHY = "no critic in this test"


def bash(host: Host, command: str) -> str:
    """Why it is denied, empty where it is not."""
    return denied(bash_of(host, command, session_id=AGENTS))


@pytest.fixture
def shell(host: Host) -> Project:
    copied(host.project, begin)
    return Project(host.project)


def begin(root: Path) -> None:
    """A plan of two steps that is begun, with files of the user's beside it: tracked, ignored, in a submodule."""
    other = root.with_name("other")
    other.mkdir()
    for argv in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "begin"]):
        git(other, "-c", "user.name=Test", "-c", "user.email=test@example.org", *argv)
    git(root, "init", "-q")
    git(root, "config", "user.name", "Test")
    git(root, "config", "user.email", "test@example.org")
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "lib")
    (root / "plan.md").write_text(plan_text(2), encoding="utf-8")
    (root / "README.md").write_text("read me\n")
    (root / ".gitignore").write_text("*.db\nbuild\n")
    commit(root, "docs: a plan")
    (root / "local.db").write_text("kept by nobody else\n")
    (root / "build").mkdir()
    (root / "build" / "out").write_text("built before\n")
    (root / "lib" / "new.c").write_text("in the submodule\n")
    git(root / "lib", "add", "new.c")
    git(root / "lib", "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-q", "-m", "new")
    commit(root, "chore: the submodule")


def start(shell: Project) -> None:
    ran = shell.user("plan", "start", "plan.md", "--unreviewed", WHY, session=shell.session)
    assert ran.code == 0, ran.err


DESTROYS = ("git restore", "git checkout", "git clean", "git stash", "git reset", "rm ")


@pytest.mark.parametrize("is_committed", [False, True])
@pytest.mark.parametrize("path", ["README.md", "notes.txt", "infra/main.tf", "src/app.py"])
def test_no_command_that_is_printed_throws_away_what_the_user_wrote(
    host: Host, shell: Project, path: str, is_committed: bool
) -> None:
    start(shell)
    for number in (1, 2):
        carry_out(host.project, number)
    theirs = "by the user, in an editor of their own\n"
    shell.write(path, theirs)
    if is_committed:
        commit(host.project, "docs: by the user")
    shown = [bash(host, f"echo x >> {path}")]
    for argv in (["audit", "plan.md"], ["status"], ["recover", "plan.md"], ["finish"]):
        ran = shell.agent("plan", *argv)
        shown.append(ran.out + ran.err)
    shown.append(shell.agent("next").out)
    assert [text for text in shown if any(command in text for command in DESTROYS)] == []
    assert (host.project / path).read_text() == theirs


def test_what_the_user_changed_outside_is_told_as_theirs_and_the_plan_ends(host: Host, shell: Project) -> None:
    start(shell)
    for number in (1, 2):
        carry_out(host.project, number)
    shell.write("README.md", "by the user\n")
    ran = shell.agent("plan", "finish", "--json")
    assert (ran.code, ran.json["closed"], ran.json["verdict"]) == (0, True, "pass")
    ended = shell.summary("ultraplan")["outcome"]
    assert ended["verdict"] == "waived"
    (exception,) = ended["exceptions"][1:]
    assert texts.says(exception["what"], "end-changed-outside-fence", path="README.md")
    assert exception["by"].startswith("user")


@pytest.mark.parametrize("path", ["README.md", "infra/main.tf", "src/app.py"])
def test_what_the_user_allows_is_let_through_as_it_is_and_no_further(host: Host, shell: Project, path: str) -> None:
    start(shell)
    for number in (1, 2):
        carry_out(host.project, number)
    shell.write(path, "by the user\n")
    assert shell.prompt(f"/omo:allow {path}").says_to_user("prompt-change-allowed", path=path)
    shell.write(path, "and then by somebody\n")
    assert shell.agent("plan", "status", "--json").json["audit"]["session"]["allowed"] == []
    shell.write(path, "by the user\n")
    ran = shell.agent("plan", "finish", "--json")
    assert (ran.code, ran.json["closed"]) == (0, True)
    exceptions = shell.summary("ultraplan")["outcome"]["exceptions"]
    (exception,) = exceptions[1:]
    assert texts.says(exception["what"], "end-changed-beside-plan", path=path)
    assert exception["by"] == "user"


@pytest.fixture
def left(host: Host, shell: Project) -> Host:
    start(shell)
    (host.project / ".coverage").write_text("new\n")
    (host.project / "out dir" / "deep").mkdir(parents=True)
    (host.project / "out dir" / "deep" / "log").write_text("new\n")
    (host.project / "late.db").write_text("new and ignored\n")
    return host


@pytest.mark.parametrize(
    "command",
    [
        *("rm .coverage", "rm -f ./.coverage", "rm -- .coverage", "git clean -f .coverage", "rm late.db .coverage"),
        *("rm -r 'out dir'", "rm 'out dir/deep/log'", "cd 'out dir' && rm deep/log", "git clean -fd 'out dir'"),
        *("git restore README.md", "git checkout -- README.md", "git checkout HEAD -- README.md"),
        *("git restore --source=HEAD README.md", "git restore -SW README.md"),
    ],
)
def test_what_is_new_is_removed_and_what_was_changed_is_restored(left: Host, command: str) -> None:
    assert bash(left, command) == ""


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("rm README.md", "fence-outside"),
        ("rm readme.MD", "fence-outside"),
        ("rm .coverage README.md", "fence-outside"),
        ("rm local.db", "fence-was-there-before"),
        ("rm build/out", "fence-was-there-before"),
        ("rm -r build", "fence-was-there-before"),
        ("rm lib/new.c", "fence-outside"),
        ("rm -r lib", "fence-outside"),
        ("rm -r .", "fence-outside"),
        ("git clean -fd", "fence-outside"),
        ("git clean -fdx build", "fence-outside"),
        ("git restore -s HEAD~1 README.md", "fence-outside"),
        ("git checkout HEAD~1 -- README.md", "fence-outside"),
        ("mv .coverage /tmp/x", "fence-outside"),
        ("mv 'out dir' /tmp/x", "fence-outside"),
        ("echo x >> .coverage", "fence-outside"),
        ("rm -rf 'out dir'", "fence-rm-rf"),
        ("echo .coverage >> .gitignore", "fence-outside"),
        ("rm /etc/hosts", "fence-outside-project"),
    ],
)
def test_nothing_else_is(left: Host, command: str, why: str) -> None:
    assert texts.says(bash(left, command), why)


def test_a_new_link_is_removed_but_not_what_lies_behind_it(left: Host) -> None:
    (left.project / "docs").mkdir()
    (left.project / "docs" / "kept.md").write_text("x\n")
    commit(left.project, "docs: kept")
    (left.project / "link").symlink_to("docs")
    assert bash(left, "rm link") == ""
    for command in ("rm -r link/", "rm link/kept.md", "rm -r docs"):
        assert texts.says(bash(left, command), "fence-outside"), command


def test_the_third_denial_waits_for_the_user(left: Host) -> None:
    for _ in range(3):
        bash(left, "mv .coverage /tmp/x")
    assert left.row(AGENTS)["work"]["ultraplan"]["state"] == "waiting"
    left.prompt("continue", session_id=AGENTS)
    assert left.row(AGENTS)["work"]["ultraplan"]["state"] == "active"
    assert bash(left, "rm .coverage") == ""


def test_where_too_much_was_there_nothing_is_removed_and_it_is_said_why(
    host: Host, shell: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "MOST_UNCOMMITTED", 1)
    start(shell)
    shell.write(".coverage", "new\n")
    assert texts.says(bash(host, "rm .coverage"), "fence-not-known-what-was-there")
    assert bash(host, "git restore README.md")


def test_a_plan_that_was_not_committed_when_it_began_is_nobodys_to_restore(host: Host, shell: Project) -> None:
    shell.write("plan.md", plan_text(2) + "\nA word of the user's.\n")
    start(shell)
    assert bash(host, "git restore plan.md")
    assert bash(host, "git checkout -- .")


def test_a_directory_that_holds_something_older_is_not_removed(host: Host, shell: Project) -> None:
    shell.write("notes/tracked", "x\n")
    shell.write("notes/todo.db", "ignored, and kept by nobody else\n")
    commit(host.project, "docs: notes")
    start(shell)
    git(host.project, "rm", "-q", "notes/tracked")
    assert texts.says(bash(host, "rm -r notes"), "fence-was-there-before")


def test_an_index_that_git_cannot_read_removes_nothing(left: Host) -> None:
    git(left.project, "update-index", "--index-version", "4", "--split-index")
    assert bash(left, "rm README.md")
    assert bash(left, "rm .coverage") == ""
    (left.project / ".git" / "index").write_text("broken")
    assert bash(left, "rm .coverage")


def test_in_a_worktree_the_index_of_that_worktree_counts(host: Host, shell: Project) -> None:
    tree = host.project.parent / "tree"
    git(host.project, "worktree", "add", "-q", "-b", "other", str(tree))
    inside = Project(tree)
    there = Host(tree, data=host.data)
    start(inside)
    inside.write(".coverage", "new\n")
    assert bash(there, "rm .coverage") == ""
    assert bash(there, "rm README.md")
