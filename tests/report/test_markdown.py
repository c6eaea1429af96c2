"""Markdown for a pull request: short, and whatever an agent wrote stays the text it is."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from omo.views import markdown_text
from omo.views.report import markdown
from omo.views.report.gather import Report
from omo.views.report.verdict import Headline
from omo.work import outcome
from tests import texts
from tests.tables import read, whole

GITHUB = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
# What GitHub links in the finished text, whatever was escaped before.
LINKED = re.compile(r"@\w|#\w|GH-\d|GHSA-\w|CVE-\d|://|www\.|:[\w+-]+:|(?<![0-9a-z])[0-9a-f]{7,40}(?![0-9a-z])", re.I)
PLAIN = {
    *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
    *("paragraph_open", "paragraph_close", "inline", "text", "text_special"),
}
WRITTEN = whole(read(__file__, "written.txt")["written"])
OURS = {"<!-- made by omo report -->", "<details>", "</details>"}


def tokens(text: str) -> list[tuple[str, str]]:
    """Every block and every piece inside a line."""
    found = []
    for token in GITHUB.parse(text):
        found += [(token.type, token.content)] + [(one.type, one.content) for one in token.children or []]
    return found


def finished(text: str) -> str:
    """What is left for GitHub to link: the text outside of code."""
    return "\n".join(content for kind, content in tokens(text) if kind == "text")


@pytest.mark.parametrize("written", [*WRITTEN, "\u202egnp.exe\x1b[31m\x00"])
def test_what_an_agent_wrote_stays_text(written: str) -> None:
    """Wherever it stands: also first in a line, also after something that is empty."""
    for told in (f"- {markdown_text.text(written)} end", f"-  {markdown_text.text(written)}"):
        found = [(kind, content) for kind, content in tokens(told) if kind not in PLAIN]
        assert all(kind == "code_inline" and re.fullmatch(r"[0-9a-f-]+", content) for kind, content in found), found
        assert [kind for kind, _ in tokens(told)].count("list_item_open") == 1
        assert LINKED.search(finished(told)) is None
        assert "\n" not in told


def test_a_commit_and_the_name_of_a_session_can_be_copied() -> None:
    assert markdown_text.text("commit 0a1b2c3d4e5f by 3f6c1a52-8d0e-4b6b-9a2f-5f1f0c7e2d10") == (
        "commit `0a1b2c3d4e5f` by `3f6c1a52-8d0e-4b6b-9a2f-5f1f0c7e2d10`"
    )


def test_a_table_keeps_its_columns() -> None:
    row = f"| {markdown_text.text('a | b || c |')} | {markdown_text.text('`|`')} |"
    told = f"| one | two |\n|---|---|\n{row}\n"
    assert [kind for kind, _ in tokens(told)].count("td_open") == 2


def test_it_says_what_was_proven_and_what_was_let_through(report: Report) -> None:
    text = markdown.render(report)
    title = {item.id: markdown_text.text(item.title) for part in report.parts for item in part.view.items}
    assert text.splitlines()[0] == markdown.MARKER.strip()
    assert text.splitlines()[1].startswith("## ❌ NOT proven: ")
    assert f"| ✅ | G001 {title['G001']} | complete | 21 min 07 s |" in text
    assert f"| ❌ | G003 {title['G003']} | failed | – |" in text
    for notice in report.notices:
        assert f"- **{markdown_text.text(notice.what)}**" in text
    not_reviewed, not_run_again = [notice for notice in report.notices if notice.where == "G004"]
    assert texts.says(not_reviewed.what, "report-not-reviewed-independently")
    assert texts.says(not_run_again.what, "report-replay-left-out", what="upload", why="requires_network")
    assert not_run_again.text.startswith("by the ")
    assert markdown_text.text(not_run_again.text) in text
    assert "<summary>Evidence, " in text
    assert text.count("<details>") == text.count("</details>")


def test_nothing_of_a_hostile_run_is_more_than_text(trap: Report) -> None:
    text = markdown.render(trap)
    found = tokens(text)
    markup = {content.strip() for kind, content in found if kind in ("html_block", "html_inline")}
    assert {one for one in markup if not re.fullmatch(r"<details>\n<summary>[\w, ]+</summary>", one)} <= OURS
    assert not {kind for kind, _ in found} & {"link_open", "image", "fence", "code_block", "hr", "s_open"}
    code = {content for kind, content in found if kind == "code_inline"}
    assert {one for one in code if not re.fullmatch(r"[0-9A-Fa-f-]+", one)} == {"omo report --md"}
    assert LINKED.search(finished(text)) is None
    assert len(text) < 65_536


def test_it_fits_a_pull_request_whatever_there_is(report: Report) -> None:
    part = report.parts[1]
    long = tuple(part.view.items[0]._replace(id=f"G{at:03}", title="x" * 3000) for at in range(500))
    wide = replace(
        report,
        parts=tuple(replace(part, view=part.view._replace(items=long)) for _ in range(12)),
        notices=report.notices * 50,
    )
    text = markdown.render(wide)
    assert len(text) < 65_536
    assert texts.says(text.splitlines()[-1], "report-and-more")
    assert text.count("<details>") == text.count("</details>")


def test_a_run_with_nothing_let_through_says_so_once_that_is_known(report: Report) -> None:
    calm = replace(report, notices=())
    assert not texts.says(markdown.render(calm), "report-no-exception")
    assert texts.says(markdown.render(calm), "report-nothing-let-through-yet")
    ended_as = outcome.outcome(outcome.JUDGED, "goal complete")
    over = replace(calm, verdict=Headline(outcome.JUDGED, "done, judged", ("goal complete",), ended_as))
    text = markdown.render(over)
    assert "\n## ✅ " in text
    assert texts.says(text, "report-no-exception")


@pytest.mark.parametrize("level", [*outcome.VERDICTS, "gone", "unproven"])
def test_only_what_is_done_has_the_sign_for_it(report: Report, level: str) -> None:
    text = markdown.render(replace(report, verdict=Headline(level, "word", ("why",))))
    assert ("## ✅ word: why." in text) is (level in ("proven", "judged"))
