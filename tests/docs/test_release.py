"""`./bin/release` and the version that files repeat, in a clone of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs import make_release
from omo import __version__
from tests import texts
from tests.docs.pages import ROOT
from tests.e2e import releases
from tests.e2e.releases import Clone

FOLLOWING = make_release.next_version(__version__)


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return releases.clone(tmp_path / "a clone")


def check(clone: Clone, script: str = "make_release") -> subprocess.CompletedProcess[str]:
    return clone.python(f"docs/{script}.py", "--check")


def test_the_files_that_repeat_the_version_say_it() -> None:
    done = subprocess.run([sys.executable, str(ROOT / "docs" / "make_versions.py"), "--check"], check=False)
    assert done.returncode == 0


def test_one_place_says_the_version(clone: Clone) -> None:
    source = clone.root / "src" / "omo" / "__init__.py"
    source.write_text(source.read_text().replace(__version__, "7.8.9"))
    assert "plugin.json, .claude-plugin/plugin.json" in check(clone, "make_versions").stderr
    clone.python("docs/make_versions.py").check_returncode()
    assert check(clone, "make_versions").returncode == 0
    changed = clone.git("diff", "--name-only").split()
    assert {"plugin.json", ".claude-plugin/plugin.json", ".codex-plugin/plugin.json", "pyproject.toml"} <= set(changed)
    assert clone.git("diff", "--numstat").count("1\t1\t") == len(changed) == 5


def test_a_release_has_the_files_that_run_and_nobody_pushed(clone: Clone) -> None:
    before = check(clone)
    assert before.returncode == 0
    assert texts.says(before.stdout, "release-no-branch-yet", version=__version__)
    said = clone.release(__version__)
    assert "Nothing was pushed" in said
    assert "git push origin main release" in said
    names = clone.git("ls-tree", "-r", "--name-only", "release").split("\n")
    top = {name.partition("/")[0] for name in names}
    assert {"hooks", "src", "skills", "bin", ".claude-plugin", "README.md"} <= top
    assert not top & {"tests", "bench", "evals", ".ci", "CONTRIBUTING.md", "requirements-dev.txt"}
    assert "bin/release" not in names
    assert make_release.LARGEST == 3_000_000
    assert re.search(r"(?m)^## \S+ \(\d{4}-\d\d-\d\d\)$", clone.read("CHANGELOG.md"))
    assert clone.git("status", "--porcelain") == ""
    assert check(clone).returncode == 0


def test_other_files_under_a_version_that_was_released_are_refused(clone: Clone) -> None:
    clone.release(__version__)
    clone.write("tests/test_more.py", "")
    clone.commit("what no user gets")
    assert check(clone).returncode == 0
    clone.write("src/omo/more.py", "")
    clone.commit("what a user would get")
    refused = check(clone)
    assert refused.returncode == 1
    assert f"./bin/release {FOLLOWING}" in refused.stderr
    assert f"python docs/make_versions.py {FOLLOWING}" in refused.stderr
    clone.add_section(FOLLOWING)
    clone.release(FOLLOWING)
    assert check(clone).returncode == 0
    for name in ("plugin.json", ".claude-plugin/plugin.json", ".codex-plugin/plugin.json"):
        assert json.loads(clone.git("show", f"release:{name}"))["version"] == FOLLOWING
    assert clone.git("rev-list", "--count", "release") == "2"


def test_a_release_follows_the_one_that_was_published_from_another_clone(clone: Clone, tmp_path: Path) -> None:
    clone.release(__version__)
    clone.publish()
    clone.git("clone", "-q", str(clone.hosted), str(tmp_path / "another clone"))
    another = Clone(tmp_path / "another clone")
    assert check(another).stdout == ""
    another.write("README.md", "other")
    another.git("config", "user.name", "Test")
    another.git("config", "user.email", "test@example.org")
    another.commit("other files")
    assert f"./bin/release {FOLLOWING}" in check(another).stderr
    another.add_section(FOLLOWING)
    another.release(FOLLOWING)
    assert another.git("rev-parse", "release~1") == clone.git("rev-parse", "release")


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("0.0.1", f"0.0.1 is older than {__version__}"),
        ("next", "next is not a version"),
        (FOLLOWING, f"CHANGELOG.md has no section {FOLLOWING}"),
    ],
)
def test_a_release_that_is_refused_changes_nothing(clone: Clone, version: str, said: str) -> None:
    head = clone.git("rev-parse", "HEAD")
    refused = clone.python("docs/make_release.py", version)
    assert refused.returncode == 1
    assert texts.says(refused.stderr, "release-not-made")
    assert said in refused.stderr
    assert (clone.git("status", "--porcelain"), clone.git("rev-parse", "HEAD")) == ("", head)
    assert clone.git("branch", "--list", "release") == ""


def test_changes_that_are_not_committed_are_in_no_release(clone: Clone) -> None:
    clone.write("src/omo/more.py", "")
    refused = clone.python("docs/make_release.py", __version__)
    assert refused.returncode == 1
    assert " commit them " in refused.stderr


def test_a_release_is_made_in_a_clone_alone(clone: Clone, tmp_path: Path) -> None:
    """The directory of omo's program is on the PATH of agents, who work elsewhere."""
    command = [str(clone.root / "bin" / "release"), __version__]
    done = subprocess.run(command, cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert texts.says(done.stderr, "release-only-in-a-clone")
