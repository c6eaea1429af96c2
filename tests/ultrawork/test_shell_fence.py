"""The rules of a plan session over shell text: what is refused, what only looks like it, and that it stays quick."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omo import globs
from omo.fence import Fence, Never, commands, fence_for, open_fence
from omo.shell import reader
from omo.state.rows import read_row
from tests import texts
from tests.ultrawork.shell_commands import DENIED, HARMLESS

TOUCH = ["src/**", "docs/*.md", "tests/new/test_a.py"]
NEVER = ["src/gen/**"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("fenced") / "a project"
    for name in ("src/gen/api.py", "src/a.py", "src/old/x.py", "docs/x.md", "tests/test_x.py", "README.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x\n")
    return root


@pytest.fixture
def fence(project: Path) -> Fence:
    fence = Fence(TOUCH, NEVER, str(project), "", {"HOME": "/home/me"})
    fence.has_begun = True
    return fence


def refused(text: str, fence: Fence) -> list[str]:
    return commands.refusals(text, fence, fence.root)


def test_the_table_is_large_and_even() -> None:
    assert len(set(DENIED)) == len(DENIED) >= 150
    assert len(set(HARMLESS)) == len(HARMLESS) >= 120
    assert not set(DENIED) & set(HARMLESS)


# What no shell can read is no command; it is refused when it is to be run.
UNREADABLE = ("rm -rf 'unfinished", "echo )( ; rm -rf src/old")
LISTED = DENIED[: DENIED.index("echo x > README.md")]
WITHOUT_A_FENCE = [text for text in LISTED if text not in UNREADABLE]


def test_the_security_list_needs_no_limits(project: Path) -> None:
    unlimited = fence_for([], [], str(project))
    assert [text for text in WITHOUT_A_FENCE if not refused(text, unlimited)] == []
    reason = refused("echo x > /dev/ttyS0", unlimited)[0]
    assert texts.says(reason, "fence-no-plan-may-change", kind="a device")


def test_only_the_security_list_is_never_lifted(fence: Fence) -> None:
    outside = DENIED[DENIED.index("touch tests/b.py") :][:6]
    for text in [*HARMLESS, *outside, "pytest -q && git diff"]:
        assert not any(isinstance(reason, Never) for reason in refused(text, fence)), text


def test_a_reason_names_the_path_the_fence_and_the_way_out(fence: Fence) -> None:
    (reason,) = refused("echo x > README.md", fence)
    assert texts.says(reason, "fence-outside", path="README.md", touch=", ".join(TOUCH))
    assert texts.says(reason, "fence-keep-to-fence")
    (reason,) = refused("echo x > src/gen/api.py", fence)
    assert texts.says(reason, "fence-never", never="src/gen/**")
    (reason,) = refused("rm -rf src/old", fence)
    assert reason.startswith("`rm -rf src/old`: rm -rf")


def test_every_reason_is_told_once(fence: Fence) -> None:
    script = "echo x > README.md; echo y >> README.md; rm -rf src/old"
    assert len(refused(script, fence)) == 2


@pytest.mark.parametrize(
    "text", ["rm -rf 'x", "$(rm -rf x", "echo ) ; chmod 777 x", "echo 'x", "echo )(", "\0\ud800))"]
)
def test_what_cannot_be_read_is_denied_and_said_to_be_so(text: str, fence: Fence) -> None:
    assert any("cannot be" in one for one in refused(text, fence))
    assert not any(isinstance(reason, Never) for reason in refused("it's done", fence))
    fence.has_begun = False
    assert refused("none (nothing)", fence) == []


@pytest.mark.parametrize("text", ["if ls", "", " \n", "case x in", "declare -a x=(1 2)", "time (ls)", "x=(a b); ls"])
def test_what_is_not_whole_or_rarely_written_passes(text: str, fence: Fence) -> None:
    assert refused(text, fence) == []


LONG = {
    "pipes": "ls | " * 20_000 + "sh",
    "nested": "echo " + "$(echo " * 3000 + ")" * 3000,
    "too long": "echo x;" * 40_000 + "rm -rf x",
    "open": "$(" * 20_000 + "rm -rf x",
    "errors": "echo ) " * 20_000,
    "braces": "echo " + "${a:-" * 3000 + "}" * 3000,
    "arithmetic": "echo " + "$((" * 3000 + "))" * 3000,
    "backquotes": "echo " + "`echo \\`" * 3000,
    "quotes": "echo " + '"$(' * 3000,
    "substitutions": 'bash -c "' + "$(x)" * 20_000 + '"',
}


LET_THROUGH = ("substitutions", "arithmetic")


@pytest.mark.parametrize("name", LONG)
def test_the_longest_text_is_still_judged_right(name: str, fence: Fence) -> None:
    assert bool(refused(LONG[name], fence)) == (name not in LET_THROUGH)


def test_a_text_too_long_to_be_parsed_is_still_looked_at(fence: Fence) -> None:
    assert refused("echo x;" * 60_000 + "rm -rf x", fence)


def test_shells_too_deep_to_be_opened_are_still_looked_at(fence: Fence) -> None:
    text = "rm -rf x"
    for _ in range(reader.DEEPEST + 1):
        text = f"eval {text}"
    assert refused(text, fence)


# Paths.


def test_links_do_not_lead_out_of_the_fence(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "other").mkdir()
    (root / "src" / "out").symlink_to("/etc")
    (root / "src" / "side").symlink_to(root / "other")
    (root / "src" / "file").symlink_to(root / "other" / "x")
    (root / "in").symlink_to(root / "src")
    (tmp_path / "back").symlink_to(root)
    fence = Fence(["src/**"], [], str(root), "", {})
    for path in ("src/out/hosts", "src/side/x", "src/file", str(tmp_path / "back" / "README.md")):
        assert fence.refusal(path, str(root)), path
    for path in ("src/a", "in/a", str(tmp_path / "back" / "src" / "a"), str(tmp_path / "scratch.txt")):
        assert not fence.refusal(path, str(root)), path


def test_the_spec_itself_is_never_edited(project: Path) -> None:
    fence = Fence([], [], str(project), "docs/x.md", {})
    assert "contract" in fence.refusal("docs/x.md", str(project))
    assert not fence.refusal("README.md", str(project))


def test_without_a_touch_list_the_project_is_the_fence(project: Path) -> None:
    fence = fence_for(["."], ["docs/**"], str(project))
    assert not fence.refusal("anything/at/all.txt", str(project))
    for path in ("docs/x.md", "/etc/hosts", ".env", ".git/config", "~/x", "~other/x", "/tmp"):
        assert fence.refusal(path, str(project)), path


def test_a_temporary_directory_that_is_everything_opens_nothing(project: Path) -> None:
    fence = Fence([], [], str(project), "", {"TMPDIR": "/"})
    assert fence.refusal("/etc/hosts", str(project))


def test_a_name_that_no_file_can_have_hides_nothing_behind_it(fence: Fence) -> None:
    assert refused("touch 'a\0b'; rm -rf src/old", fence)


def test_a_tree_goes_only_with_all_that_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "src" / "deep" / ".env").write_text("A=b")
    fence = Fence(["src/**"], ["**/*.key"], str(tmp_path), "", {})
    assert "an .env" in refused("rm -r src", fence)[0]
    (tmp_path / "src" / "deep" / ".env").rename(tmp_path / "src" / "deep" / "a.KEY")
    assert texts.says(refused("mv src src2", fence)[0], "fence-never")
    os.remove(tmp_path / "src" / "deep" / "a.KEY")
    assert refused("rm -r src", fence) == []


def test_a_number_in_a_name_hides_no_link_from_a_temporary_directory_into_the_project(tmp_path: Path) -> None:
    root, scratch = tmp_path / "root", tmp_path / "scratch"
    for directory in (root / "src", scratch):
        directory.mkdir(parents=True)
    (root / "README.md").write_text("x\n")
    fence = Fence(["src/**"], [], str(root), "", {"TMPDIR": str(scratch)})
    assert refused(f"echo x > {scratch}/out-$$.log", fence) == []
    (scratch / "in").symlink_to(root)
    (scratch / "out-77.log").symlink_to(root / "README.md")
    for command, name in (
        (f"echo x > {scratch}/in/$$.log", "in/[0-9]*.log"),
        (f"tee {scratch}/out-$$.log", "out-77.log"),
    ):
        reason = refused(command, fence)[0]
        assert texts.says(reason, "fence-outside")
        assert name in reason
    assert refused(f"echo x > {scratch}/in/src/$$.py", fence) == []


def test_a_link_is_changed_by_its_name_and_with_a_slash_what_lies_behind_it(tmp_path: Path) -> None:
    (tmp_path / "src" / "gen").mkdir(parents=True)
    (tmp_path / "src" / "gen" / ".env").write_text("A=b")
    (tmp_path / "link").symlink_to("src")
    fence = Fence(["src/**", "link"], ["src/gen/**"], str(tmp_path), "", {})
    assert refused("rm link", fence) == []
    assert texts.says(refused("rm -r link/", fence)[0], "fence-never")


def test_a_name_that_is_not_known_may_be_one_that_the_plan_names(project: Path) -> None:
    fence = fence_for(["src/**/*.py"], [], str(project))
    assert refused('touch "src/a/b/$NAME.py"', fence) == []


def test_state_kept_elsewhere_is_kept_too(tmp_path: Path) -> None:
    fence = Fence([], [], str(tmp_path / "p"), "", {"OMO_STATE_DIR": str(tmp_path / "kept")})
    assert "omo's own state" in fence.refusal(str(tmp_path / "kept" / "x"), "")


def test_a_tree_too_large_to_be_looked_at_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src").mkdir()
    for at in range(6):
        (tmp_path / "src" / str(at)).write_text("x")
    fence = fence_for(["src/**"], ["src/gen/**"], str(tmp_path))
    assert refused("rm -r src", fence) == []
    monkeypatch.setattr("omo.fence.MOST_BELOW", 5)
    assert "too many" in refused("rm -r src", fence)[0]


def test_a_copied_glob_arrives_under_the_names_it_finds(tmp_path: Path) -> None:
    for name in ("new/a.py", "new/gen", "src/gen/x.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    fence = fence_for(["src/**"], ["src/gen/**"], str(tmp_path))
    assert refused("cp -r new/* src/", fence)
    os.remove(tmp_path / "new" / "gen")
    assert refused("cp -r new/* src/", fence) == []


def test_brackets_are_letters_to_a_plan_and_a_choice_to_the_shell(tmp_path: Path) -> None:
    for name in ("app/[slug]/page.tsx", "src/a.py", "src/b.py", "src/c.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    fence = fence_for(["app/[slug]/page.tsx", "src/**"], ["src/c.py"], str(tmp_path))
    assert fence.refusal("app/[slug]/page.tsx", str(tmp_path)) == ""
    assert texts.says(fence.refusal("app/s/page.tsx", str(tmp_path)), "fence-outside")
    for let_go in ("rm 'app/[slug]/page.tsx'", "rm src/[ab].py", "rm src/[!c].py", "find src -name '[ab].py' -delete"):
        assert refused(let_go, fence) == [], let_go
    for held in ("rm src/[a-c].py", "rm src/[!a].py", "find src -name '[bc].py' -delete"):
        assert texts.says(refused(held, fence)[0], "fence-never"), held


def test_a_fence_is_made_without_a_session(tmp_path: Path) -> None:
    fence = fence_for(["./src/"], ["SRC/gen"], str(tmp_path))
    assert (fence.touch, fence.never, fence.root) == (["src"], ["src/gen"], str(tmp_path))


def test_a_fence_is_read_as_it_was_written() -> None:
    written = {"touch": ["./src/", "a//b"], "never": ["X/"], "root": "/p", "spec": "s.md"}
    fence = open_fence(read_row({"work": {"ultraplan": {"fence": written}}}), {"HOME": "/h"})
    assert fence is not None
    assert (fence.touch, fence.never, fence.root, fence.spec, fence.home) == (
        ["src", "a/b"],
        ["x"],
        "/p",
        "/p/s.md",
        "/h",
    )


NAMES = st.text(alphabet="ab.-[", min_size=1, max_size=4)
PARTS = st.sampled_from(["**", "*", "?", "a*", "*.b", "a[", "**a", "?*", "a", "ab", "."])


@given(NAMES, st.lists(st.one_of(PARTS, NAMES), min_size=1, max_size=3).map("".join))
def test_a_glob_for_one_name_means_what_it_means_to_python(name: str, glob: str) -> None:
    assert globs.name_matches(name, glob) == fnmatchcase(name, glob)


@given(st.lists(NAMES, min_size=1, max_size=4), st.lists(NAMES, min_size=1, max_size=3))
def test_a_directory_leads_to_what_is_below_it(path: list[str], below: list[str]) -> None:
    directory = "/".join(path)
    assert globs.leads_to(directory, "/".join([*path, *below]))
    assert globs.leads_to(directory, f"{directory}/*/x")
    assert not globs.leads_to(directory, "other")
