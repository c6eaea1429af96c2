"""Evidence made fit to be shown: held against the digest that was recorded, decoded anew, and bounded."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import warnings
from dataclasses import replace

from omo import safe_open
from omo.proof import globs
from omo.text import block, clip
from omo.work.sections import SCREENSHOT, Attachment, Picture, name_in

LONGEST_TEXT = 12_000
WIDEST, TALLEST = 1280, 3200
LARGEST_FILE = 32_000_000  # bytes; this and the next as the gate of a goal has them
MOST_PIXELS = 40_000_000


def show(root: str, attachment: Attachment) -> Attachment:
    """A text is bounded; a file is shown only while it is what was recorded."""
    shown = replace(
        attachment,
        name=clip(attachment.name, 120),
        kind=clip(attachment.kind, 60),
        about=clip(attachment.about, 300),
        path=clip(attachment.path, 300),
    )
    text = shown.text
    if attachment.path:
        raw, problem = recorded_bytes(root, attachment.path, attachment.digest)
        if problem:
            return replace(shown, problem=problem)
        if attachment.kind == SCREENSHOT:
            image = picture(raw)
            if isinstance(image, str):
                return replace(shown, cut=image)
            return replace(shown, picture=image)
        text = attachment.in_words(raw)
    cut = f"{LONGEST_TEXT:,} of {len(text):,} characters shown" if len(text) > LONGEST_TEXT else ""
    return replace(shown, text=block(text, LONGEST_TEXT), cut=cut)


def recorded_bytes(root: str, path: str, digest: object) -> tuple[bytes, str]:
    """What the file holds, and why it cannot be shown: gone, elsewhere, or no longer what was recorded."""
    if not isinstance(digest, str):
        return b"", "not recorded by the receipt, so it is not shown"
    top = os.path.realpath(root)
    name = name_in(root, path)
    real = os.path.normpath(os.path.join(top, name))
    if not globs.is_inside(top, real) or globs.is_own(name) or name.split("/")[0] == ".git":
        return b"", "is not a file of the project's work"
    try:
        raw = safe_open.read_file(real, LARGEST_FILE)
    except (OSError, ValueError) as error:
        return b"", f"cannot be read any more: {clip(getattr(error, 'strerror', None) or str(error), 80)}"
    if hashlib.sha256(raw).hexdigest() != digest:
        return b"", "has changed since it was recorded"
    return raw, ""


def picture(raw: bytes) -> Picture | str:
    """Decoded and encoded anew, so that nothing but pixels reaches the page."""
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(io.BytesIO(raw), formats=["PNG", "JPEG"]) as image:
                if image.width * image.height > MOST_PIXELS:
                    return f"not shown: {image.width}x{image.height} are too many pixels"
                image.draft("RGB", (WIDEST, TALLEST))
                shown = image.convert("RGBA" if "A" in image.mode or "transparency" in image.info else "RGB")
        except Exception as error:  # a decoder raises whatever its input makes it raise
            return f"not shown: it does not decode ({clip(str(error), 80)})"
        shown.thumbnail((WIDEST, TALLEST))
        out = io.BytesIO()
        kind = "png" if shown.mode == "RGBA" else "jpeg"
        shown.save(out, kind, quality=85)
    encoded = base64.b64encode(out.getvalue()).decode("ascii")
    return Picture(f"data:image/{kind};base64,{encoded}", shown.width, shown.height)
