"""The page in a real browser: nothing on it runs or asks for anything, it fits, and it prints whole."""

from __future__ import annotations

import io
import re
from itertools import pairwise
from pathlib import Path

import pytest
from PIL import Image

from omo.views.report import page
from omo.views.report.gather import Report
from tests.report.browser import Browser

UNEXPECTED = (
    "script, iframe, form, object, embed, svg, link, base, video, audio, input, textarea, "
    "img:not([src^='data:image/']), a:not([href^='#']), [onerror], [onload], [onclick], [style]"
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, report: Report, trap: Report) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    found = {"report": folder / "report.html", "trap": folder / "trap.html"}
    for name, told in (("report", report), ("trap", trap)):
        found[name].write_text(page.render(told), encoding="utf-8")
    return found


@pytest.mark.parametrize("name", ["report", "trap"])
def test_nothing_runs_nothing_is_asked_for_and_it_fits(chromium: Browser, pages: dict[str, Path], name: str) -> None:
    chromium.open(pages[name])
    assert chromium.value("window.trapped") is None
    assert chromium.value("document.title").startswith("NOT proven: ")
    assert chromium.value(f"document.querySelectorAll(`{UNEXPECTED}`).length") == 0
    assert chromium.requests() == [pages[name].as_uri()]
    assert chromium.said("Page.javascriptDialogOpening") == []
    assert chromium.said("Log.entryAdded") == []  # the policy itself had nothing to stop
    wide = "[...document.querySelectorAll('main *')].filter(one => !one.closest('.scroll, pre'))"
    for width in (1200, 400):
        chromium.look(width, 1000)
        assert chromium.value("document.documentElement.scrollWidth") <= width
        assert chromium.value(f"{wide}.every(one => one.getBoundingClientRect().right <= {width} + 1)")


def test_the_page_is_one_document_with_one_style_and_its_pictures(chromium: Browser, pages: dict[str, Path]) -> None:
    chromium.open(pages["trap"])
    counted = "(what) => document.querySelectorAll(what).length"
    for what, count in (("head", 1), ("body", 1), ("style", 1), ("title", 1), ("h1", 1), ("main", 1), ("meta", 5)):
        assert chromium.value(f"({counted})('{what}')") == count, what
    assert chromium.value("[...document.images].every(one => one.complete && one.naturalWidth > 100 && one.alt)")
    assert chromium.value("document.images.length") == 2
    assert chromium.value("document.compatMode") == "CSS1Compat"


def test_dark_and_light_are_different_pictures_of_the_same_page(chromium: Browser, pages: dict[str, Path]) -> None:
    brightness = []
    for scheme in ("light", "dark"):
        chromium.open(pages["report"], scheme=scheme)
        with Image.open(io.BytesIO(chromium.picture())) as shown:
            colours = shown.convert("RGB").getcolors(1 << 24) or []
            grey = shown.convert("L").resize((1, 1)).getpixel((0, 0))
        assert len(colours) > 100, f"{scheme} is blank"
        brightness.append(grey)
    light, dark = brightness
    assert isinstance(light, int)
    assert isinstance(dark, int)
    assert light > 200
    assert dark < 60


def test_headings_go_down_one_level_at_a_time(chromium: Browser, pages: dict[str, Path]) -> None:
    chromium.open(pages["report"])
    levels = chromium.value("[...document.querySelectorAll('h1,h2,h3,h4')].map(one => Number(one.tagName[1]))")
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert chromium.value("[...document.querySelectorAll('a[href]')].every(one => document.querySelector(one.hash))")
    assert chromium.value("[...document.querySelectorAll('table')].every(one => one.querySelector('th[scope=col]'))")


def test_on_paper_everything_is_open_and_every_goal_is_there(
    chromium: Browser, pages: dict[str, Path], report: Report
) -> None:
    chromium.open(pages["report"], width=800)
    shown = "[...document.querySelectorAll('details pre')].map(one => one.checkVisibility())"
    assert set(chromium.value(shown)) == {False}
    chromium.look(800, 1000, media="print")
    assert set(chromium.value(shown)) == {True}
    uncut = "[...document.querySelectorAll('pre')].every(one => one.scrollHeight <= one.clientHeight + 1)"
    assert chromium.value(uncut)
    outline = re.findall(rb"/Title \((.*?)\)\n", chromium.pdf())
    titles = " ".join(one.decode("latin-1") for one in outline)
    for part in report.parts:
        for item in part.view.items:
            assert f"{item.id} {item.title}"[:20].strip() in titles, titles
