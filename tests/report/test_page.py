"""The page: what it says of a run, what it never shows, and that it can be read by everybody."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, PngImagePlugin

from omo.context import Context
from omo.errors import BadInput
from omo.state import paths
from omo.views.report import attachments as exhibits
from omo.views.report import gather as whole
from omo.views.report import page
from omo.views.report.gather import Report
from omo.views.report.template import HERE
from omo.work import times as spans
from omo.work.sections import Picture
from omo.workflows.ultragoal import goal_tool
from tests import texts
from tests.report import hostile, sample
from tests.report.sample import Sample
from tests.ultragoal.project import ONE, TWO, Project, make

CSS = (HERE / "page.css").read_text(encoding="utf-8")
TONES = ("good", "warn", "bad", "info", "plain")


def gathered(shop: Project, run: str = "", *, session: str | None = None) -> Report:
    context = Context({}, str(shop.root), shop.now + 60, has_terminal=True)
    return whole.gather(context, shop.session if session is None else session, run)


def finished(directory: Path) -> Project:
    """A plan of one goal that the agent called complete."""
    shop = make(directory / "project")
    shop.create(ONE)
    shop.finish()
    return shop


def judged(directory: Path) -> Project:
    """One that both reviewers found clean."""
    shop = make(directory / "project")
    shop.judged()
    return shop


def told(report: Report) -> str:
    """The text of the page, without its tags."""
    return html.unescape(re.sub(r"<[^>]+>", " ", page.render(report)))


def test_the_files_of_a_plan_are_those_that_it_changed(tmp_path: Path) -> None:
    shop = make(tmp_path / "p")
    shop.commit()
    shop.write("mine.txt", "before the plan")
    shop.prompt(f"/omo:ultragoal {ONE}")
    shop.create(ONE)
    shop.hand_out()
    shop.write("parse.py", "ROWS = []\n")
    shop.complete("G001")
    assert [path for path, _ in gathered(shop).changed.files if "/" not in path] == ["parse.py"]
    goal_tool.operate("complete", shop.run())
    shop.tell()
    shop.write("later.txt", "after its end")
    assert [path for path, _ in gathered(shop).changed.files if "/" not in path] == ["parse.py"]


def test_a_goal_has_the_last_words_that_were_said_of_it_alone(tmp_path: Path) -> None:
    """Reviewers say the same of both."""
    shop = make(tmp_path / "p")
    shop.judged(TWO)
    (part,) = gathered(shop).parts
    for goal in ("G001", "G002"):
        shown = "\n".join(one.name for one in part.evidence(goal).attachments)
        for reviewer in ("omo:architect", "omo:qa"):
            assert texts.says(shown, "report-last-word", who=reviewer)
        assert shown.count("omo:") == 2


def test_a_run_that_passed_is_proven_and_a_change_takes_that_back(tmp_path: Path) -> None:
    shop = judged(tmp_path)
    sample.gate_runs(shop, "pass")  # pinned for something else: it holds nobody, and decides nothing
    found = gathered(shop)
    assert found.verdict.level == "judged"
    assert texts.says(found.verdict.text, "end-goals-judged", complete=1, total="1 goal", which="G001 'Parse'")
    assert texts.says(found.verdict.text, "end-reviewers-saw-each-clean")
    assert texts.says(found.verdict.text, "end-architect-found-all", command="/omo:ultragoal")
    assert texts.says(found.verdict.text, "end-on-files-as-at", clock="17:20:12")
    assert found.notices == ()
    assert texts.says(found.let_through, "report-no-exception")
    (shop.root / "artifacts" / "G001" / "api-report.txt").write_text("other\n")
    after = gathered(shop)
    assert texts.says(after.verdict.text, "report-was-proven")
    assert not after.verdict.is_proven
    gone = {"item": "G001", "file": "artifacts/G001/api-report.txt"}
    assert texts.says(after.verdict.text, "report-goal-evidence-gone", **gone)
    assert after.verdict.text.removesuffix(".") in told(after)


def test_what_a_hook_saw_and_what_the_agent_let_go_head_the_report(tmp_path: Path) -> None:
    shop = make(tmp_path / "project")
    before = shop.create(ONE).run
    shop.create("@goal: Note\nWrite a note.", force=True)
    shop.hand_out()
    shop.reviewed(architect="It looks good to me.")
    shop.complete("G001")
    goal_tool.operate("complete", shop.run())
    shop.run().publish()
    found = gathered(shop)
    assert found.data["outcome"]["verdict"] == "waived"
    assert texts.says(found.verdict.text, "end-exception-plan-given-up", plan=before, open="1 open goal", who="agent")
    assert texts.says(found.verdict.text, "end-no-clean-verdict", who="omo:architect", goal="G001")
    notices = "\n".join(f"{one.what}, {one.text}" for one in found.notices)
    assert texts.says(notices, "report-plan-given-up", plan=before, open="1 open goal", who="agent")
    assert not texts.says(told(found), "report-no-exception")


def test_a_plan_without_its_sessions_row_ends_as_its_own_ledger_says(tmp_path: Path) -> None:
    shop = judged(tmp_path)
    run = shop.plan().run
    Path(paths.runtime_file(shop.state)).unlink()
    found = gathered(shop, run)
    assert found.verdict.level == "judged"
    assert (found.parts[0].view.done, found.parts[0].view.total) == (1, 1)


def test_a_forged_ledger_is_said_before_anything_else(tmp_path: Path) -> None:
    shop = finished(tmp_path)
    lines = shop.ledger.read_text().splitlines()
    shop.ledger.write_text("\n".join([lines[0].replace("Read the file", "Do nothing"), *lines[1:]]) + "\n")
    found = gathered(shop)
    assert texts.says(found.verdict.text, "report-work-not-believed", kind="ultragoal")
    assert found.notices[0].what == "damaged ledger"


def test_ledgers_that_no_run_owns_are_looked_at_too(tmp_path: Path) -> None:
    shop = finished(tmp_path)
    shop.note(kind="activated", rule="keyword")
    before = gathered(shop)
    damage(Path(shop.state, "evidence/ledger.jsonl"))
    found = gathered(shop)
    assert {one.where for one in found.notices if one.what == "damaged ledger"} == {"evidence"}
    assert found.verdict == before.verdict


def test_what_a_damaged_ledger_of_the_session_says_proves_nothing_of_any_kind(tmp_path: Path) -> None:
    shop = make(tmp_path / "project")
    run = shop.create(ONE).run
    shop.finish()
    shop.note(kind="activated", rule="keyword")
    damage(Path(paths.events_file(shop.state, shop.session)))
    for found in (gathered(shop), gathered(shop, run)):
        assert texts.says(found.verdict.text, "report-session-ledger-not-believed")
        assert ("damaged ledger", "session") in [(one.what, one.where) for one in found.notices]


def damage(path: Path) -> None:
    path.write_text(path.read_text().replace('"kind"', '"kinD"', 1))


def test_goals_are_not_proven_any_more_once_what_their_receipts_cite_is_gone(tmp_path: Path) -> None:
    shop = judged(tmp_path)
    cited = shop.root / next(iter(shop.receipt("G001")["artifacts"]))
    kept = cited.read_bytes()
    assert gathered(shop).verdict.is_proven
    cited.write_bytes(b"something else")
    changed = gathered(shop)
    cited.unlink()
    gone = gathered(shop)
    for found in (changed, gone):
        assert texts.says(found.verdict.text, "report-was-proven")
        assert "receipt stale" in told(found)
        assert (found.parts[0].view.items[0].mark, found.parts[0].view.done) == ("stale", 0)
    cited.write_bytes(kept)
    assert gathered(shop).verdict.is_proven


@pytest.mark.parametrize("ledger_name", ["verify/claims", "verify/goals/G1", "laps/l1", "plans/r1", "events"])
def test_one_ledger_that_nobody_can_read_does_not_take_the_report_down(tmp_path: Path, ledger_name: str) -> None:
    shop = finished(tmp_path)
    home = Path(paths.session_dir(shop.state, shop.session))
    at = home / "events.jsonl" if ledger_name == "events" else Path(shop.state, ledger_name, "ledger.jsonl")
    at.unlink(missing_ok=True)
    at.mkdir(parents=True)
    text = page.render(gathered(shop))
    assert "G001" in text


@pytest.mark.parametrize("wrong", [7, None, [], {"a": 1}, "x", True])
def test_values_of_other_types_are_shown_or_refused_and_never_break_the_page(tmp_path: Path, wrong: object) -> None:
    """Anybody can append a row that follows the chain."""
    shop = finished(tmp_path)
    hostile.rewrite(shop.ledger, lambda row: {**row, "completionVerification": _spoiled(row, wrong)})
    desk = sample.rounds(tmp_path / "other")
    hostile.rewrite(
        desk.ledger(),
        lambda row: {**row, **{key: wrong for key in ("results", "gates", "missing", "challenges") if key in row}},
    )
    for root, session, now in ((shop.root, shop.session, shop.now), (desk.root, desk.session, desk.now)):
        text = page.render(whole.gather(Context({}, str(root), now + 60), session))
        assert "NOT proven" in text


def _spoiled(row: dict[str, Any], wrong: object) -> object:
    receipt = row.get("completionVerification")
    kept = ("goalId", "schemaVersion")
    return {key: one if key in kept else wrong for key, one in receipt.items()} if isinstance(receipt, dict) else wrong


def test_evidence_that_changed_or_is_gone_is_named_and_not_shown(tmp_path: Path) -> None:
    shop = make(tmp_path / "project")
    made = sample.work(shop)
    page_png, session = (shop.root / "artifacts" / "G001" / name for name in ("page.png", "session.txt"))
    sample.page(page_png, "Another picture")
    session.unlink()
    found = whole.gather(made.context(), made.session)
    broken = [one.text for one in found.notices if one.what == "evidence changed"]
    assert len(set(broken)) == 2
    assert texts.says("\n".join(broken), "report-evidence-changed", file="artifacts/G001/page.png")
    assert texts.says("\n".join(broken), "report-evidence-gone", file="artifacts/G001/session.txt")
    assert page.render(found).count('src="data:image/') == 1


@pytest.mark.parametrize("path", ["../outside.txt", "/etc/hostname", ".git/config", "link.txt", "pipe", "a\0b"])
def test_only_files_of_the_project_are_read(tmp_path: Path, path: str) -> None:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "config").write_text("secret")
    (tmp_path / "outside.txt").write_text("secret")
    (root / "link.txt").symlink_to(tmp_path / "outside.txt")
    if path == "pipe":
        import os

        os.mkfifo(root / "pipe")
    digest = hashlib.sha256(b"secret").hexdigest()
    raw, why = exhibits.recorded_bytes(str(root), path, digest)
    assert raw == b""
    assert why


def test_a_picture_is_encoded_anew_and_carries_nothing_along() -> None:
    hidden = PngImagePlugin.PngInfo()
    hidden.add_text("Comment", "<script>hidden</script>")
    out = io.BytesIO()
    Image.effect_noise((3000, 800), 60).save(out, "PNG", pnginfo=hidden)
    found = exhibits.picture(out.getvalue() + b"<script>trailing</script>")
    assert isinstance(found, Picture)
    assert (found.width, found.height) == (1280, 341)
    assert b"script" not in base64.b64decode(found.uri.partition(",")[2])
    assert isinstance(exhibits.picture(b"GIF89a...."), str)
    assert isinstance(exhibits.picture(b"<svg onload=alert(1)>"), str)


def test_the_policy_allows_exactly_this_style_and_pictures_inside(report: Report) -> None:
    text = page.render(report)
    style = text.split("<style>")[1].split("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert f'content="{policy}"' in html.unescape(text)
    assert text.startswith(page.MARKER)


def test_no_template_lets_anything_through_unescaped() -> None:
    for path in HERE.glob("*.j2"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*safe|autoescape|Markup|href=\"\{\{|src=\"\{\{(?! one\.picture\.uri)", text), path
        assert set(re.findall(r"ours\(([^}]*)\)", text)) <= {'section.duration or "–"'}, path


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


PALETTES = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in CSS.split(":root {")[1:]]


@pytest.mark.parametrize("palette", PALETTES, ids=["light", "dark", "print"])
def test_text_can_be_read_on_what_it_stands_on(palette: dict[str, str]) -> None:
    """AA: 4.5 to 1."""
    colours = {**PALETTES[0], **palette}
    pairs = [(tone, f"{tone}-back") for tone in TONES]
    pairs += [(text, back) for text in ("text", "soft", "link", "warn") for back in ("page", "card", "code-back")]
    pairs += [
        ("text", "warn-back"),
        ("link", "good-back"),
        ("link", "warn-back"),
        ("link", "bad-back"),
        ("page", "bad"),
    ]
    low = {(one, other): round(contrast(colours[one], colours[other]), 2) for one, other in pairs}
    assert {pair: value for pair, value in low.items() if value < 4.5} == {}


def test_a_run_can_be_reported_alone_also_an_archived_one(tmp_path: Path) -> None:
    shop = judged(tmp_path)
    first = shop.plan()
    second = shop.create("@goal: Another\nDo another thing.", force=True)
    now = gathered(shop)
    assert now.parts[0].view.run == second.run
    with pytest.raises(BadInput) as refused:
        gathered(shop, "unknown")
    assert refused.value.fix.endswith(f"known: {second.run}, {first.run}")
    alone = gathered(shop, first.run, session="")
    assert (alone.session, alone.parts[0].view.run, alone.verdict.is_proven) == (shop.session, first.run, True)


def test_the_runs_of_every_workflow_are_found_by_name(worked: Sample, report: Report) -> None:
    for part in report.parts:
        if part.view.kind in ("ultraplan", "laps", "ultragoal"):
            alone = whole.gather(worked.context(), "", part.view.run)
            assert [one.view.items for one in alone.parts] == [part.view.items]


@pytest.mark.parametrize(
    ("began", "ended", "text"),
    [
        ("2026-02-22T17:00:00.000Z", "2026-02-22T17:00:09.400Z", "9.4 s"),
        ("2026-02-22T17:00:00.000Z", "2026-02-22T17:21:05.000Z", "21 min 05 s"),
        ("2026-02-22T17:00:00.000Z", "2026-02-22T19:02:00.000Z", "2 h 02 min"),
        ("2026-02-22T17:00:00.000Z", "2026-02-25T19:02:00.000Z", "3 d 02 h"),
        ("2026-02-22T17:00:00.000Z", "2026-02-22T16:00:00.000Z", "0 s"),
        ("", "2026-02-22T16:00:00.000Z", ""),
        ("<b>", "2026-02-22T16:00:00.000Z", ""),
    ],
)
def test_durations_are_in_the_two_largest_units(began: str, ended: str, text: str) -> None:
    assert spans.between(began, ended) == text


def test_many_items_are_cut_and_counted(report: Report) -> None:
    part = report.parts[0]
    many = part.view._replace(items=tuple(part.view.items[0]._replace(id=str(at)) for at in range(250)))
    wide = replace(report, parts=(replace(part, view=many),))
    assert texts.says(told(wide), "report-items-not-shown", count=50)
