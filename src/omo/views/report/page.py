"""The report as one HTML page that needs nothing else: no network, no script, every value escaped."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from jinja2 import Undefined
from markupsafe import Markup

from omo import __version__, masking
from omo.text import block
from omo.views.report.gather import Report
from omo.views.report.template import HERE, MOST_ITEMS, template

MARKER = "<!doctype html>\n<!-- made by omo report -->\n"
LONGEST_VALUE = 200_000


def render(report: Report) -> str:
    css = (HERE / "page.css").read_text(encoding="utf-8")
    return MARKER + template("page.html.j2", _shown, is_html=True).render(
        report=report,
        css=Markup(css),  # ours, and the only thing on the page that is not escaped
        css_digest=base64.b64encode(hashlib.sha256(css.encode("utf-8")).digest()).decode("ascii"),
        version=__version__,
        most_items=MOST_ITEMS,
    )


def _shown(value: Any) -> Any:
    """Whatever is put on the page: without secrets, without control characters, bounded. What is missing in a template
    is an error."""
    if isinstance(value, (Markup, Undefined)):
        return value
    return block(masking.mask(str(value)), LONGEST_VALUE)
