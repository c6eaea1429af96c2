"""Which lines of a document that the user named as what to do are gone at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from omo.digest import sha256
from omo.work.task_documents import lost
from tests import texts
from tests.project import Project

THEN = "# To do\n\n- [ ] add the sum\n- [ ] mul the product\n\nA line of prose that is long\nand goes on here.\n"


def asked(text: str = THEN, path: str = "TASK.md") -> list[dict[str, object]]:
    document = {"name": path, "path": path, "digest": sha256(text.encode()), "text": text}
    return [{"kind": "activated", "actor": "user", "documents": [document]}]


def lost_lines(root: Path, then: str = THEN, allowed: dict[str, str] | None = None) -> list[str]:
    rows: object = asked(then)
    found = lost(str(root), rows, allowed or {}, None)  # type: ignore[arg-type]
    return [line for each in found for line in each.lines]


@pytest.mark.parametrize(
    ("now", "gone"),
    [
        (THEN, []),
        (THEN.replace("[ ]", "[x]"), []),
        (THEN.replace("- [ ]", "1."), []),
        (THEN.replace("\n", "\r\n"), []),
        (THEN.replace("    ", "\t").replace("- ", "  -   "), []),
        ("- [ ] mul the product\n- add the sum\nTo do\nA line of prose that\nis long and goes on\nhere.\n", []),
        (THEN + "- [ ] div, too\n", []),
        (THEN.replace("add the sum", "~~add the sum~~ (done)"), []),
        (THEN.replace("- [ ] mul the product\n", ""), ["- [ ] mul the product"]),
        (THEN.replace("mul the product", "mul, if there is time"), ["- [ ] mul the product"]),
        (THEN.replace("add the sum", "add the summary"), ["- [ ] add the sum"]),
        (THEN.replace("and goes on here.\n", ""), ["and goes on here."]),
        (
            "",
            [
                "# To do",
                "- [ ] add the sum",
                "- [ ] mul the product",
                "A line of prose that is long",
                "and goes on here.",
            ],
        ),
    ],
)
def test_a_line_is_lost_where_it_is_nowhere_in_the_file(tmp_path: Path, now: str, gone: list[str]) -> None:
    (tmp_path / "TASK.md").write_text(now)
    assert lost_lines(tmp_path) == gone


def test_a_line_that_stood_twice_is_lost_where_it_stands_once(tmp_path: Path) -> None:
    (tmp_path / "TASK.md").write_text("- test it\n- [x] add\n")
    then = "- test it\n- [ ] add\n- test it\n"
    assert lost_lines(tmp_path, then) == ["- test it"]


def test_what_was_cut_or_masked_when_it_was_kept_is_not_compared(tmp_path: Path) -> None:
    (tmp_path / "TASK.md").write_text("- add\n- the key is of another user\n")
    then = "- add\n- the key is ***\n- mul the produ…"
    assert lost_lines(tmp_path, then) == []


def test_a_file_that_is_gone_has_lost_all(tmp_path: Path) -> None:
    assert len(lost_lines(tmp_path)) == 5
    assert lost_lines(tmp_path, allowed={"TASK.md": "gone"}) == []


def test_the_sentence_names_the_first_lines(tmp_path: Path) -> None:
    [found] = lost(str(tmp_path), asked(), {}, None)  # type: ignore[arg-type]
    named = "“# To do”, “- [ ] add the sum”, “- [ ] mul the product” and 2 more"
    assert texts.says(str(found), "proof-document-lost-lines", file="TASK.md", count=5, lines=named, allow="TASK.md")


def test_a_document_that_git_ignores_is_allowed_like_any_other(project: Project) -> None:
    project.write(".gitignore", "TASK.md\n")
    project.write("TASK.md", THEN)
    project.commit()
    project.prompt("ulw do what TASK.md says")
    (project.root / "TASK.md").unlink()
    assert project.prompt("/omo:allow TASK.md").says_to_user("prompt-change-allowed", path="TASK.md")
    refused = project.check("ulw", "done", code=3)
    assert "TASK.md lost" not in refused.err
    assert project.prompt("/omo:allow NONE.md").says_to_user("typed-allow-unknown", name="NONE.md")


def test_the_refusal_and_the_end_name_what_is_gone(project: Project) -> None:
    project.write("TASK.md", THEN)
    project.commit()
    project.prompt("ulw do what TASK.md says")
    project.write("TASK.md", THEN.replace("- [ ] mul the product\n", ""))
    lost = "TASK.md lost 1 line since the user named it: “- [ ] mul the product”"
    refused = project.check("ulw", "done", code=3)
    assert lost in refused.err
    assert "/omo:allow TASK.md" in refused.err
    assert lost in project.check("ulw", "done", "--because", "not-needed").out
