"""The site before it is built: .ci/run builds it, and the build is what checks every link and anchor of docs/."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs import site_hooks

ROOT = Path(__file__).resolve().parents[2]
BESIDE = [ROOT / name for name in site_hooks.PAGES]
LINK = re.compile(r"\]\(([^)\s#:]*)#([^)\s]+)\)")


def configuration() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    return loaded


def pages_of(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    return [page for item in nav for page in pages_of(item.values() if isinstance(item, dict) else item)]


def test_the_navigation_names_every_page_once() -> None:
    docs = ROOT / "docs"
    pages = [path.relative_to(docs).as_posix() for path in docs.rglob("*.md")] + list(site_hooks.PAGES.values())
    assert sorted(pages_of(configuration()["nav"])) == sorted(pages)


def test_the_bar_fits_one_line_and_only_pages_are_published() -> None:
    """Five menus beside search, the pages before and after, and the colours: at 1280 pixels they fill the line."""
    assert len(configuration()["nav"]) <= 5
    assert "__pycache__/" in configuration()["exclude_docs"].split()


def test_whatever_leads_nowhere_fails_the_build() -> None:
    validation = configuration()["validation"]
    assert set(validation["links"]) == {"not_found", "anchors", "absolute_links", "unrecognized_links"}
    assert set(validation["nav"]) == {"not_found", "omitted_files", "absolute_links"}
    assert {level for part in validation.values() for level in part.values()} == {"warn"}
    # A build that is told to be quiet drops the warnings before --strict can count them.
    (build,) = [line for line in (ROOT / "docs" / "build").read_text().splitlines() if "mkdocs build" in line]
    assert "--strict" in build
    assert "-q" not in build
    assert "./docs/build" in (ROOT / ".ci" / "run").read_text().splitlines()


@pytest.mark.parametrize("page", BESIDE, ids=lambda page: page.name)
def test_an_anchor_that_is_linked_to_exists(page: Path) -> None:
    for name, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        target = (page.parent / name) if name else page
        assert anchor in site_hooks.anchors(target.read_text(encoding="utf-8")), f"{page.name} links to {name}#{anchor}"


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("What it costs", "what-it-costs"),
        ("omo stop-continuation", "omo-stop-continuation"),
        ("Stop, and why", "stop-and-why"),
        ("The `omo` command", "the-omo-command"),
        ("A & B", "a--b"),
        ("state_files.md", "state_filesmd"),
        ("Über den Stop", "über-den-stop"),
    ],
)
def test_anchors_are_those_of_github(heading: str, anchor: str) -> None:
    assert site_hooks.anchors(f"# {heading}\n") == {anchor}


def test_headings_that_repeat_are_numbered_and_code_has_none() -> None:
    assert site_hooks.anchors("# A\n\n## A\n\n```sh\n# B\n```\n\n## A\n") == {"a", "a-1", "a-2"}


KNOWN = {"index.md", "hooks.md", "decisions/speed.md", "pictures/demo.svg", *site_hooks.PAGES.values()}


@pytest.mark.parametrize(
    ("page", "written", "led", "copied"),
    [
        ("index.md", "../README.md", "readme.md", ""),
        ("index.md", "hooks.md", "hooks.md", ""),
        ("index.md", "../bench/hooks.py", "repository/bench/hooks.py", "bench/hooks.py"),
        ("index.md", "make_cli.py", "repository/docs/make_cli.py", "docs/make_cli.py"),
        ("decisions/lock.md", "../../bench/hooks.py", "../repository/bench/hooks.py", "bench/hooks.py"),
        ("decisions/lock.md", "../../CHANGELOG.md", "../changelog.md", ""),
        ("decisions/lock.md", "speed.md", "speed.md", ""),
        ("readme.md", "docs/pictures/demo.svg", "pictures/demo.svg", ""),
        ("readme.md", "docs/decisions/speed.md", "decisions/speed.md", ""),
        ("contributing.md", "LICENSE", "repository/LICENSE", "LICENSE"),
        ("index.md", "../agents/judge.md", "repository/agents/judge.md.txt", "agents/judge.md"),
        # These lead nowhere where the files are read, so they must not be mended here.
        ("index.md", "../nowhere.md", "../nowhere.md", ""),
        ("index.md", "../hooks.md", "../hooks.md", ""),
        ("index.md", "../bench", "../bench", ""),
        ("index.md", "/bin/sh", "/bin/sh", ""),
        ("index.md", "../" * 20 + "bin/sh", "../" * 20 + "bin/sh", ""),
    ],
)
def test_links_out_of_docs_lead_to_pages_or_copies(page: str, written: str, led: str, copied: str) -> None:
    assert site_hooks.lead(page, written, KNOWN) == (led, copied)


def test_a_file_is_copied_once() -> None:
    assert site_hooks.lead("index.md", "../LICENSE", {"repository/LICENSE"}) == ("repository/LICENSE", "")


@pytest.mark.parametrize(
    ("markdown", "targets"),
    [
        ("[x](hooks.md)", ["hooks.md"]),
        ("![x](a.svg) and [y](b.md#part)", ["a.svg", "b.md"]),
        ("[x](#part) [y](https://example.invalid/a.md) [z](mailto:a@example.invalid)", []),
    ],
)
def test_which_links_are_looked_at(markdown: str, targets: list[str]) -> None:
    assert [match["target"] for match in site_hooks.LINK.finditer(markdown)] == targets


@pytest.mark.parametrize(
    ("text", "fetches"),
    [
        ('<script src="https://cdn.example/x.js"></script>', True),
        ('<link rel="stylesheet" href="//cdn.example/x.css">', True),
        ("@font-face { src: url(https://cdn.example/x.woff2) }", True),
        ('@import "https://cdn.example/x.css";', True),
        ('<a href="https://example.invalid/">', False),
        ('<script src="js/base.js"></script> <a href="https://example.invalid/">', False),
        ("<svg xmlns='http://www.w3.org/2000/svg'>", False),
    ],
)
def test_what_a_reader_would_have_to_fetch_is_seen(text: str, fetches: bool) -> None:
    assert bool(site_hooks.FETCHED.search(text)) == fetches


def test_the_built_site_is_not_committed() -> None:
    assert "site/" in (ROOT / ".gitignore").read_text().splitlines()
