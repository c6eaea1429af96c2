"""Evidence made fit to be shown: held against the digest that was recorded, decoded anew, and bounded."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import shlex
import warnings
from dataclasses import dataclass, replace

from omo import safe_open
from omo.errors import BadInput
from omo.proof import documents, globs, media, replay
from omo.proof.media import plain
from omo.text import block, clip
from omo.work.sections import Attachment, name_in
from omo.workflows.ultragoal.gate import proof

LONGEST_TEXT = 12_000
MOST_TEXT = 1_500_000
MOST_PICTURES = 24
MOST_PICTURE_BYTES = 8_000_000
WIDEST, TALLEST = 1280, 3200
LARGEST_FILE = media.LARGEST_PICTURE
AS_RECORDED = "as recorded"


@dataclass(frozen=True)
class Picture:
    data: bytes
    media: str
    width: int
    height: int

    @property
    def uri(self) -> str:
        return f"data:{self.media};base64,{base64.b64encode(self.data).decode('ascii')}"


@dataclass(frozen=True)
class Shown:
    """`state` says whether a file is what was recorded; empty for what is no file. `cut` says how much is not shown."""

    name: str
    kind: str
    about: str = ""
    path: str = ""
    state: str = ""
    text: str = ""
    cut: str = ""
    picture: Picture | None = None

    @property
    def is_broken(self) -> bool:
        return self.state not in ("", AS_RECORDED)


@dataclass
class Budget:
    """What one page may still hold. Whatever does not fit is named all the same."""

    pictures: int = MOST_PICTURES
    picture_bytes: int = MOST_PICTURE_BYTES
    text: int = MOST_TEXT

    def take_text(self, text: str) -> tuple[str, str]:
        """As much of a text as may be shown, and what is said of the rest."""
        room = min(LONGEST_TEXT, self.text)
        if room <= 0:
            return "", "not shown: the page is long enough"
        part = block(text, room)
        self.text -= len(part)
        return part, f"{room:,} of {len(text):,} characters shown" if len(text) > room else ""

    def take_picture(self, raw: bytes) -> Picture | str:
        """The picture, or why there is none."""
        if self.pictures <= 0 or self.picture_bytes <= 0:
            return "not shown: the page holds as many pictures as it may"
        image = picture(raw)
        if isinstance(image, Picture):
            self.pictures -= 1
            self.picture_bytes -= len(image.data)
        return image


def show(budget: Budget, root: str, attachment: Attachment) -> Shown:
    """A text is bounded; a file is shown only while it is what was recorded."""
    shape = proof.shape_of(attachment.kind)
    name, about = clip(attachment.name, 120), clip(attachment.about, 300)
    if attachment.problem:
        return Shown(name, attachment.kind, about, state=attachment.problem)
    if attachment.path:
        kind = shape
        shown = Shown(name, kind, about, clip(attachment.path, 300))
        return _show_file(budget, root, shown, shape, attachment)
    text = attachment.text or ""
    if attachment.document is not None:
        text = replay_text(attachment.document)
    part, cut = budget.take_text(text)
    return Shown(name, clip(attachment.kind, 60), about, text=part, cut=cut)


def _show_file(budget: Budget, root: str, shown: Shown, shape: str, attachment: Attachment) -> Shown:
    if not isinstance(attachment.digest, str):
        return replace(shown, state="not recorded by the receipt, so it is not shown")
    raw, problem = recorded_bytes(root, attachment.path, attachment.digest)
    if problem:
        return replace(shown, state=problem)
    if shape == proof.SCREENSHOT:
        image = budget.take_picture(raw)
        if isinstance(image, str):
            return replace(shown, state=AS_RECORDED, cut=image)
        return replace(shown, state=AS_RECORDED, picture=image)
    text, cut = budget.take_text(in_words(shape, raw, attachment.path))
    return replace(shown, state=AS_RECORDED, text=text, cut=cut)


def recorded_bytes(root: str, path: str, digest: str) -> tuple[bytes, str]:
    """What the file holds, and why it cannot be shown: gone, elsewhere, or no longer what was recorded."""
    top = os.path.realpath(root)
    if "\0" in path:
        return b"", "is no path"
    name = name_in(root, path)
    real = os.path.normpath(os.path.join(top, name))
    if not globs.is_inside(top, real) or globs.is_own(name) or name.split("/")[0] == ".git":
        return b"", "is not a file of the project's work"
    try:
        raw = safe_open.read_file(real, LARGEST_FILE)
    except safe_open.NotAFile:
        return b"", "is not a regular file any more"
    except safe_open.TooLarge:
        return b"", "is too large to be held against what was recorded here"
    except FileNotFoundError:
        return b"", "is gone"
    except (OSError, ValueError) as error:
        return b"", f"cannot be read: {clip(getattr(error, 'strerror', None) or str(error), 80)}"
    if hashlib.sha256(raw).hexdigest() != digest:
        return b"", "has changed since it was recorded"
    return raw, ""


def in_words(shape: str, raw: bytes, path: str) -> str:
    text = raw.decode("utf-8", "replace")
    if shape == proof.CAPTURE:
        return media.ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    if shape != proof.REPLAY:
        return text
    try:
        document = documents.parse(text, path)
    except BadInput:
        return text
    return replay_text(document)


def replay_text(document: object) -> str:
    """The command as it would be typed, and what came out."""
    try:
        record = replay.parse_replay(document)
    except BadInput:
        return json.dumps(document, indent=1, ensure_ascii=False, default=str)
    lines = [f"$ {shlex.join(record.command)}", plain(record.stdout).rstrip("\n")]
    if record.stderr:
        lines.append(f"stderr: {plain(record.stderr)}")
    return "\n".join([*lines, f"exit {record.exit_code}"])


def picture(raw: bytes) -> Picture | str:
    """Decoded and encoded anew, so that nothing but pixels reaches the page."""
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(io.BytesIO(raw), formats=["PNG", "JPEG"]) as image:
                if image.width * image.height > media.MOST_PIXELS:
                    return f"not shown: {image.width}x{image.height} are too many pixels"
                image.draft("RGB", (WIDEST, TALLEST))
                shown = image.convert("RGBA" if "A" in image.mode or "transparency" in image.info else "RGB")
        except Exception as error:  # a decoder raises whatever its input makes it raise
            return f"not shown: it does not decode ({clip(str(error), 80)})"
        shown.thumbnail((WIDEST, TALLEST))
        out = io.BytesIO()
        if shown.mode == "RGBA":
            shown.save(out, "PNG")
            return Picture(out.getvalue(), "image/png", shown.width, shown.height)
        shown.save(out, "JPEG", quality=85)
        return Picture(out.getvalue(), "image/jpeg", shown.width, shown.height)
