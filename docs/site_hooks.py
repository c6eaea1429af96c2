"""What mkdocs.yml cannot say: pages from beside docs/, files that pages link to, GitHub's anchors, no network."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Container
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
PAGES = {"README.md": "readme.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
SOURCES = "repository"  # where the site keeps copies of files that are no pages, such as a script

LINK = re.compile(r"(?<=\]\()(?P<target>[^\s)#:]+)(?=[)#\s])")
FETCHED = re.compile(
    r"""<(?:script|link|img|iframe|source|object)\b[^>]*?\b(?:src|href|data)\s*=\s*["']?(?:https?:)?//"""
    r"""|url\(\s*["']?(?:https?:)?//|@import\s+["'](?:https?:)?//""",
    re.I,
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    config.mdx_configs["toc"]["slugify"] = anchor
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for name, uri in PAGES.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    def replace(match: re.Match[str]) -> str:
        led, copied = lead(page.file.src_uri, match["target"], files.src_uris)
        if copied:
            files.append(File.generated(config, copy_of(copied), abs_src_path=str(ROOT / copied)))
        return led

    return LINK.sub(replace, markdown)


def lead(here: str, target: str, known: Container[str]) -> tuple[str, str]:
    """Where a link leads in the site, and the file of the repository that has to be copied there first, if any."""
    source = next((name for name, uri in PAGES.items() if uri == here), f"docs/{here}")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    uri = PAGES.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else "")
    copied = ""
    if uri not in known:
        if path.startswith(("/", "..")) or not (ROOT / path).is_file():
            return target, ""  # MkDocs says that it leads nowhere
        uri = copy_of(path)
        copied = "" if uri in known else path
    return posixpath.relpath(uri, posixpath.dirname(here) or "."), copied


def copy_of(path: str) -> str:
    """Where the site keeps a file of the repository; a text in Markdown that is no page of it stays text."""
    return f"{SOURCES}/{path}.txt" if path.endswith(".md") else f"{SOURCES}/{path}"


def on_post_build(config: MkDocsConfig) -> None:
    site = Path(config.site_dir)
    for path in sorted(path for kind in ("html", "css", "svg") for path in site.rglob(f"*.{kind}")):
        if found := FETCHED.search(path.read_text(encoding="utf-8")):
            raise PluginError(f"{path.relative_to(site)} fetches something from a network: {found[0]}")


def anchor(heading: str, separator: str = "-") -> str:
    """As GitHub makes it, so that a link that works there works here."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def anchors(markdown: str) -> set[str]:
    """Of the headings of a page, numbered where they repeat."""
    found: dict[str, int] = {}
    for heading in re.findall(r"^#{1,6} +(.+?) *$", without_code(markdown), re.M):
        name = anchor(plain(heading))
        found[name] = found.get(name, -1) + 1
    return {name if number == 0 else f"{name}-{number}" for name, last in found.items() for number in range(last + 1)}


def without_code(markdown: str) -> str:
    return re.sub(r"^(`{3,}|~{3,}).*?^\1`*$", "", markdown, flags=re.M | re.S)


def plain(heading: str) -> str:
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
