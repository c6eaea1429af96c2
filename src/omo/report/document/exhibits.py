"""Evidence made fit to be shown: held against the digest that was recorded, decoded anew, and bounded."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import shlex
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

from omo import safe_open
from omo.errors import BadInput
from omo.evidence import documents, globs, media, records
from omo.evidence.media import plain
from omo.shown import block, clip
from omo.ultragoal.gate import kinds

Row = dict[str, Any]

LONGEST_TEXT = 12_000
MOST_TEXT = 1_500_000
MOST_PICTURES = 24
MOST_PICTURE_BYTES = 8_000_000
WIDEST, TALLEST = 1280, 3200
LARGEST_FILE = media.LARGEST_PICTURE
MOST_ACTIONS = 200
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
class Exhibit:
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

    @property
    def data(self) -> Row:
        told = {name: getattr(self, name) for name in ("name", "kind", "about", "path", "state", "text", "cut")}
        size = f"{self.picture.width}x{self.picture.height}" if self.picture else None
        return {**{key: value or None for key, value in told.items()}, "picture": size}


@dataclass
class Budget:
    """What one page may still hold. Whatever does not fit is named all the same."""

    pictures: int = MOST_PICTURES
    picture_bytes: int = MOST_PICTURE_BYTES
    text: int = MOST_TEXT
    seen: dict[tuple[str, str], Picture | str] = field(default_factory=dict)

    def words(self, text: str) -> tuple[str, str]:
        """As much of a text as may be shown, and what is said of the rest."""
        room = min(LONGEST_TEXT, self.text)
        if room <= 0:
            return "", "not shown: the page is long enough"
        told = block(text, room)
        self.text -= len(told)
        return told, f"{room:,} of {len(text):,} characters shown" if len(text) > room else ""


def text_exhibit(budget: Budget, name: str, kind: str, text: object, *, about: str = "") -> Exhibit:
    told, cut = budget.words(str(text))
    return Exhibit(clip(name, 120), kind, clip(about, 300), text=told, cut=cut)


def file_exhibit(
    budget: Budget, root: str, name: str, path: str, digest: object, *, kind: str = "", about: str = ""
) -> Exhibit:
    """A file of the project, shown only while it is what was recorded; `digest` is None where nobody recorded it."""
    shape = kinds.shape(kind)
    told = Exhibit(clip(name, 120), kinds.NAMES.get(shape, "") or clip(kind, 60), clip(about, 300), clip(path, 300))
    if not isinstance(digest, str):
        return replace(told, state="not recorded by the receipt, so it is not shown")
    raw, problem = recorded_bytes(root, path, digest)
    if problem:
        return replace(told, state=problem)
    if shape == kinds.SCREENSHOT:
        found = _picture_in(budget, raw, digest)
        if isinstance(found, str):
            return replace(told, state=AS_RECORDED, cut=found)
        return replace(told, state=AS_RECORDED, picture=found)
    text, cut = budget.words(in_words(shape, raw, path))
    return replace(told, state=AS_RECORDED, text=text, cut=cut)


def name_in(root: str, path: str) -> str:
    """The file by the name it is recorded under, whichever way it was cited."""
    if "\0" in path:
        return ""
    top = os.path.realpath(root)
    return os.path.relpath(os.path.realpath(os.path.join(top, path)), top).replace(os.sep, "/")


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
    return (raw, "") if hashlib.sha256(raw).hexdigest() == digest else (b"", "has changed since it was recorded")


def in_words(shape: str, raw: bytes, path: str) -> str:
    text = raw.decode("utf-8", "replace")
    if shape == kinds.CAPTURE:
        return media.ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    if shape not in (kinds.AUTOMATION, kinds.REPLAY):
        return text
    try:
        document = documents.parse(text, path)
    except BadInput:
        return text
    return transcript_text(document) if shape == kinds.AUTOMATION else replay_text(document)


def transcript_text(document: object) -> str:
    """What was done, in order, then what was found."""
    if not isinstance(document, dict):
        return str(document)
    head = f"driven with {document.get('tool')}, surface {document.get('surface') or 'not named'}"
    actions, found = (_listed(document.get(name)) for name in ("actions", "assertions"))
    lines = [f"{at:>3}. {_row_text(row, 'type')}" for at, row in enumerate(actions[:MOST_ACTIONS], 1)]
    lines += [f"  ✓  {_row_text(row, 'status')}" for row in found[:MOST_ACTIONS]]
    left = max(0, len(actions) - MOST_ACTIONS) + max(0, len(found) - MOST_ACTIONS)
    return "\n".join([head, *lines, *([f"and {left} more"] if left else [])])


def _row_text(row: object, first: str) -> str:
    if not isinstance(row, dict):
        return clip(str(row), 300)
    rest = [f"{key} {value}" for key, value in row.items() if key != first]
    return clip(f"{row.get(first)}  {', '.join(rest)}", 300)


def replay_text(document: object) -> str:
    """The command as it would be typed, and what came out."""
    try:
        record = records.parse_replay(document)
    except BadInput:
        return json.dumps(document, indent=1, ensure_ascii=False, default=str)
    lines = [f"$ {shlex.join(record.command)}", plain(record.stdout).rstrip("\n")]
    lines += [f"stderr: {plain(record.stderr)}"] if record.stderr else []
    lines += [f"must {'not ' * (one.type == 'not_substring')}say: {one.value}" for one in record.invariants]
    return "\n".join([*lines, f"exit {record.exit_code}"])


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _picture_in(budget: Budget, raw: bytes, digest: str) -> Picture | str:
    """The picture, or why there is none; the same file is decoded once."""
    if budget.pictures <= 0 or budget.picture_bytes <= 0:
        return "not shown: the page holds as many pictures as it may"
    found = budget.seen.get(("picture", digest)) or picture(raw)
    budget.seen["picture", digest] = found
    if isinstance(found, Picture):
        budget.pictures -= 1
        budget.picture_bytes -= len(found.data)
    return found


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
        return min((_encoded(shown, media) for media in _media(shown.mode)), key=lambda one: len(one.data))


def _media(mode: str) -> tuple[str, ...]:
    return ("image/png",) if mode == "RGBA" else ("image/png", "image/jpeg")


def _encoded(image: Any, media: str) -> Picture:
    out = io.BytesIO()
    if media == "image/png":
        image.save(out, "PNG")
    else:
        image.save(out, "JPEG", quality=85)
    return Picture(out.getvalue(), media, image.width, image.height)
