"""Which locales get the plain form."""

from __future__ import annotations

import pytest

from omo.cli.status import takes_utf8


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, True),
        ({"LC_CTYPE": "C.UTF-8"}, True),
        ({"LC_CTYPE": "UTF-8"}, True),
        ({"LANG": "de_DE.UTF-8"}, True),
        ({"LANG": "de_DE.utf8@euro"}, True),
        ({"LANG": "de_DE"}, True),
        ({"LC_ALL": "de_DE.UTF-8", "LANG": "C"}, True),
        ({"LC_CTYPE": "en_US.UTF-8", "LANG": "C"}, True),
        ({"LC_ALL": "C"}, False),
        ({"LC_CTYPE": "ja_JP.eucJP"}, False),
        ({"LC_ALL": "POSIX", "LC_CTYPE": "de_DE.UTF-8"}, False),
        ({"LC_ALL": "de_DE.ISO-8859-1"}, False),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, False),  # Python wrote the second
        ({"LANG": "de_DE.ISO-8859-1", "LC_CTYPE": "C.UTF-8"}, False),
    ],
)
def test_a_locale_that_names_another_charset_takes_no_drawing(environ: dict[str, str], expected: bool) -> None:
    assert takes_utf8(environ, "utf-8") is expected


def test_where_no_charset_is_named_python_decides() -> None:
    assert not takes_utf8({}, "ascii")
    assert not takes_utf8({"LANG": "de_DE"}, None)
