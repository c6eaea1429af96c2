"""Writes docs/quality-gate.schema.json from the models of the quality gate.

python docs/make_schema.py            rewrites the file
python docs/make_schema.py --check    exits 1 if the file is not what the models say
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from omo.workflows.ultragoal.gate.models import QualityGate  # noqa: E402

FILE = ROOT / "docs" / "quality-gate.schema.json"
NOISE = ("title", "default")  # titles repeat the key; a default here only marks a key that may be left out


def render() -> str:
    schema = _tidy(QualityGate.model_json_schema())
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Quality gate of omo"}
    return json.dumps({**head, **schema}, ensure_ascii=False, indent=2) + "\n"


def _tidy(value: Any, is_names: bool = False) -> Any:
    """Without what pydantic adds for itself; the keys below `properties` are names, not words of the schema."""
    if isinstance(value, list):
        return [_tidy(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _tidy(one, is_names=key in ("properties", "$defs") and not is_names)
        for key, one in value.items()
        if is_names or key not in NOISE
    }


def main() -> int:
    text = render()
    if "--check" not in sys.argv:
        FILE.write_text(text, encoding="utf-8")
        return 0
    if not FILE.exists() or FILE.read_text(encoding="utf-8") != text:
        print("docs/quality-gate.schema.json is out of date: python docs/make_schema.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
