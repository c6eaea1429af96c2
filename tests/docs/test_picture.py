"""The recorded terminal; that a picture is what the terminal shows today is checked by .ci/run."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from docs import make_icon, make_picture
from docs.make_picture import PANES, PICTURES, SCENES, Pane, Scene, Terminal

ROOT = Path(__file__).resolve().parents[2]
TEXT = "{http://www.w3.org/2000/svg}text"
CHARACTER = 12.2  # pixels of a column


def rows(svg: str) -> list[str]:
    """The text of a picture without its title and its empty lines: what stands at one height is one line."""
    lines: dict[str, str] = {}
    for element in ElementTree.fromstring(svg).iter(TEXT):
        text, y = (element.text or "").replace("\xa0", " "), element.attrib["y"]
        if "clip-path" in element.attrib and text.strip():
            lines[y] = lines.get(y, "").ljust(round(float(element.attrib["x"]) / CHARACTER)) + text
    return [line.rstrip() for line in lines.values()]


def drawn(screen: str, columns: int = 20) -> str:
    return make_picture.draw(Scene("try", "title", columns, lambda terminal: None), screen)


def test_every_scene_has_its_picture_and_every_picture_its_scene() -> None:
    assert {path.name for path in PICTURES.iterdir()} == {f"{each.name}.svg" for each in (*SCENES, *PANES)}
    assert "docs/make_picture.py --check" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.parametrize("scene", [*SCENES, *PANES], ids=lambda scene: scene.name)
def test_a_picture_needs_nothing_but_itself(scene: Scene | Pane) -> None:
    svg = (PICTURES / f"{scene.name}.svg").read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^\s\"']+", svg)) == {"http://www.w3.org/2000/svg"}
    assert set(re.findall(r"url\((.)", svg)) == {"#"}
    assert all(name.startswith(f"omo-{scene.name}-") for name in re.findall(r' id="([^"]+)"', svg))
    assert str(ROOT) not in unescape(svg)


def test_the_picture_shows_the_story_of_the_demo() -> None:
    shown = rows((PICTURES / "demo.svg").read_text(encoding="utf-8"))
    assert "$ ./bin/omo demo" in shown
    story = [
        "you    > ulw fix the failing check",
        "you    > /omo:pin check -- python3 -B check.py",
        "agent  $ omo ulw done",
        "       |   - check: fails (1 failed: test_sum (__main__.Add.test_sum))",
        "agent  : The check passes. (ends its turn)",
    ]
    places = [shown.index(line) for line in story]
    assert places == sorted(places)
    assert max(len(line) for line in shown) <= 80


@pytest.mark.parametrize("pane", PANES, ids=lambda pane: pane.name)
def test_a_pane_of_the_client_shows_what_omo_says_today(pane: Pane) -> None:
    assert make_picture.missing_from(pane) == []
    assert make_picture.missing_from(pane._replace(lines=("omo: said by nobody",))) == ["omo: said by nobody"]
    shown = rows((PICTURES / f"{pane.name}.svg").read_text(encoding="utf-8"))
    assert max(len(line) for line in shown) <= pane.columns


def test_a_command_that_fails_is_not_drawn(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="ended with 3"):
        Terminal(80, tmp_path).run("x", "sh", "-c", "echo no; exit 3")


def test_what_a_terminal_prints_cannot_break_the_picture() -> None:
    assert rows(drawn("<script>&amp;</svg>")) == ["<script>&amp;</svg>"]


def test_the_icon_is_what_is_drawn() -> None:
    with Image.open(make_icon.ICON) as icon:
        assert icon.size == (512, 512)
        assert icon.convert("RGBA").tobytes() == make_icon.drawn().convert("RGBA").tobytes()
