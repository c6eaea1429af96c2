"""Writes the table of transitions of docs/state-files.md from `omo.state.states`.

python docs/make_states.py            rewrites the table
python docs/make_states.py --check    exits 1 if the page has another
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from omo.state import states  # noqa: E402

PAGE = ROOT / "docs" / "state-files.md"
BEGIN, END = "<!-- from omo.state.states -->\n", "<!-- to here -->\n"


def page() -> str:
    """Return the page with the table as the code has it."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + states.table() + END + after


def main() -> int:
    text = page()
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if text == PAGE.read_text(encoding="utf-8"):
        return 0
    print(f"{PAGE}: the transitions are not those of omo.state.states; run docs/make_states.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
