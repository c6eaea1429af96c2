"""Pieces of a spec that the parser must read back exactly: YAML blocks and code spans, whatever is in them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import yaml

from omo.ultraplan.document import Manifest
from omo.ultraplan.sessions import SessionSpec


def session_manifest(spec: SessionSpec) -> str:
    version = ".".join(map(str, spec.version)) if spec.version else None
    lines = [
        "session_manifest:",
        f"  plan_version: {'null' if version is None else _scalar(version)}",
        f"  legacy_synthesis: {str(spec.is_legacy_synthesis).lower()}",
        f"  needs: [{', '.join(map(_scalar, spec.needs))}]",
        *_list("expected_paths", spec.expected_paths),
        f"  commit_count: {len(spec.patterns)}",
        *_list("commit_message_patterns", spec.patterns),
        *_list("bash_syntax_check", spec.bash_syntax_check),
        *_list("scope_touch", spec.fence.touch),
        *_list("scope_forbidden", spec.forbidden),
    ]
    said = "Computed from the manifests of the steps; the audit reads the steps themselves."
    return f"{said}\n\n" + "\n".join(["```yaml", *lines, "```"])


def step_manifest(manifest: Manifest) -> list[str]:
    contents = [
        f"    - {{path: {_scalar(one.path)}, pattern: {_scalar(one.pattern)}}}" for one in manifest.must_contain
    ]
    lines = [
        "manifest:",
        *_list("expected_paths", manifest.expected_paths),
        f"  min_file_count: {manifest.min_file_count}",
        f"  commit_message_pattern: {_scalar(manifest.commit_message_pattern)}",
        *_list("bash_syntax_check", manifest.bash_syntax_check),
        *_list("forbidden_paths", manifest.forbidden_paths),
        *(["  must_contain:", *contents] if contents else ["  must_contain: []"]),
        *(_list("absent_paths", manifest.absent_paths) if manifest.absent_paths else []),
        *(["  sandbox_preflight: true"] if manifest.sandbox_preflight else []),
        *(["  skip_commit_check: true"] if manifest.skip_commit_check else []),
    ]
    return ["- Manifest:", *(f"  {line}" for line in ("```yaml", *lines, "```"))]


def _list(key: str, items: Sequence[str]) -> list[str]:
    return [f"  {key}:", *(f"    - {_scalar(item)}" for item in items)] if items else [f"  {key}: []"]


def _scalar(text: str) -> str:
    """Quoted on one line, whatever is in it, so that nothing can end the block or begin another key."""
    return str(yaml.safe_dump(text, default_style='"', allow_unicode=True, width=float("inf"))).rstrip("\n")


def code(text: str) -> str:
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"
