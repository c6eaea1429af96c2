"""What `omo proof` found, as people see it: in a terminal, as Markdown, as SARIF. Each takes the data of --json."""

from __future__ import annotations

import json

from omo.errors import BadInput
from omo.json_text import Json, refuse_constant, without_repeats
from omo.text import clip

MAKE_IT = "make it anew: omo proof --json > FILE"


def read(text: str, what: str = "the verdict") -> Json:
    """Return what `omo proof --json` printed. Raises BadInput with every field that is wrong, and its value."""
    from omo import strict
    from omo.views.proof.form import ProofForm

    try:
        document = json.loads(text, object_pairs_hook=without_repeats, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{what} is not valid JSON: {clip(str(error), 200)}", fix=MAKE_IT) from None
    if isinstance(document, dict) and isinstance(document.get("error"), dict):
        error_of_omo = document["error"]
        message, fix = clip(str(error_of_omo.get("message", "")), 400), clip(str(error_of_omo.get("fix", "")), 400)
        raise BadInput(f"{what} holds no verdict, as omo proof ended with an error: {message}", fix=fix or MAKE_IT)
    # As it was written, not as the form has it: a newer omo may have written more.
    strict.validated(ProofForm, document, what=what, fix=MAKE_IT)
    data: Json = document
    return data
