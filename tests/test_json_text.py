"""The same values and texts as the json package, on every Python we run on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omo import json_text

SRC = str(Path(json_text.__file__).parents[1])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES)
def test_writing_is_json_dumps(value: object) -> None:
    assert json_text.dumps(value) == json.dumps(value, ensure_ascii=False)


@given(VALUES, st.sampled_from([None, 0, 2]), st.booleans())
def test_reading_is_json_loads(value: object, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert json_text.loads(f"\n {text}\t\r\n") == value


@given(st.text() | st.from_regex(r'\A[\[\]{}",:0-9truefalsn\\ud ]{0,40}\Z'))
def test_the_same_texts_are_refused(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(ValueError, match=r"."):
            json_text.loads(text)
    else:
        assert repr(json_text.loads(text)) == repr(expected)


def test_nesting_without_end_is_an_error_and_not_a_crash() -> None:
    with pytest.raises((ValueError, RecursionError)):
        json_text.loads("[" * 1_000_000)


@pytest.mark.parametrize("text", ["{", '{"a', "[1,]", '"\\x"', '{"a": 1 "b"}', "\t[\x01", "nul", ""])
def test_errors_are_value_errors_also_where_json_was_never_imported(text: str) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from omo import json_text\n"
        "assert 'json' not in sys.modules\n"
        "try: json_text.loads(sys.argv[2])\n"
        "except ValueError: print('ok')\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code, SRC, text], capture_output=True, text=True, check=True)
    assert done.stdout == "ok\n"


def test_without_the_core_the_package_does_the_work() -> None:
    code = (
        "import sys; sys.modules['_json'] = None; sys.path.insert(0, sys.argv[1])\n"
        "from omo import json_text\n"
        "assert 'json' in sys.modules\n"
        "assert json_text.loads(' {\"ü\": [1, null]} ') == {'ü': [1, None]}\n"
        "assert json_text.dumps({'ü': [1, None]}) == '{\"ü\": [1, null]}'\n"
        "try: json_text.loads('{} x')\n"
        "except ValueError: print('ok')\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-X", "utf8", "-c", code, SRC], capture_output=True, text=True, check=True
    )
    assert done.stdout == "ok\n"
