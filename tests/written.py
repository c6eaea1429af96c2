"""What is written for models and users, read as tests need it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SKILLS = sorted(ROOT.glob("skills/*/SKILL.md"))
FRAGMENTS = sorted(ROOT.glob("skill-fragments/*/*.md"))
AGENTS = sorted(ROOT.glob("agents/*.md"))


def skill(name: str) -> Path:
    return ROOT / "skills" / name / "SKILL.md"


def fragments(name: str) -> list[Path]:
    return [path for path in FRAGMENTS if path.parent.name == name]


def agent(name: str) -> Path:
    return ROOT / "agents" / f"{name}.md"


def page(name: str) -> Path:
    return ROOT / "docs" / f"{name}.md"


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def frontmatter(path: Path) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in text(path).split("---\n")[1].splitlines())


def body(path: Path) -> str:
    """A skill or an agent without its frontmatter."""
    return text(path).split("---\n", 2)[2]


def flat(path: Path) -> str:
    """Without line breaks, so that a sentence is found wherever it is wrapped."""
    return " ".join(text(path).split())


def section(path: Path, title: str) -> str:
    return text(path).split(f"## {title}\n")[1].split("\n## ")[0]
