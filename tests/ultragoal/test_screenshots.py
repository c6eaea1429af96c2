"""What a screenshot must be, by its pixels; whoever encoded it."""

from __future__ import annotations

import os
import random
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from omo.workflows.ultragoal.gate import media
from tests import texts

SIZE = (640, 360)
WORDS = "the quick brown fox jumps over the lazy dog and then does it all over again"


def page(size: tuple[int, int] = SIZE) -> Image.Image:
    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    for top in range(12, size[1] - 20, 24):
        draw.text((12, top), WORDS, fill="black")
    return image


def dashboard() -> Image.Image:
    image = Image.new("RGB", SIZE, (240, 240, 240))
    draw = ImageDraw.Draw(image)
    for at in range(7):
        draw.rectangle((20 + at * 85, 60 + at * 10, 90 + at * 85, 330), fill=(at * 30, 90, 250 - at * 30))
    return image


def pastel() -> Image.Image:
    image = Image.new("RGB", SIZE, "white")
    draw = ImageDraw.Draw(image)
    for at in range(5):
        draw.rectangle((30 + at * 120, 40, 120 + at * 120, 300), fill=(205 + at * 5, 229, 255 - at * 9))
    return image


def photo() -> Image.Image:
    """Shapes, blurred and grainy, as a camera gives them."""
    noise = random.Random(7)
    image = dashboard().resize((160, 90)).resize(SIZE, Image.Resampling.BICUBIC)
    grays = bytes(96 + level % 64 for level in range(256))
    grain = Image.frombytes("L", SIZE, noise.randbytes(SIZE[0] * SIZE[1]).translate(grays))
    return Image.blend(image, Image.merge("RGB", [grain] * 3), 0.15)


def solid() -> Image.Image:
    return Image.new("RGB", SIZE, (30, 60, 90))


def drawn(draw: Callable[[ImageDraw.ImageDraw], object]) -> Image.Image:
    image = solid()
    draw(ImageDraw.Draw(image))
    return image


def noise(size: tuple[int, int] = SIZE) -> Image.Image:
    return Image.frombytes("RGB", size, random.Random(3).randbytes(size[0] * size[1] * 3))


def corner_of_noise() -> Image.Image:
    image = solid()
    image.paste(noise((40, 22)), (0, 0))
    return image


def saved(tmp_path: Path, image: Image.Image, kind: str = "PNG", **options: Any) -> Path:
    path = tmp_path / f"shot.{kind.lower()}"
    image.save(path, kind, **options)
    return path


SHOWS = {"two-colour text": page, "flat dashboard of 8 colours": dashboard, "pale areas": pastel, "photo": photo}
BLANK: dict[str, Callable[[], Image.Image]] = {
    "solid": solid,
    "one pixel": lambda: drawn(lambda draw: draw.point((300, 200), "white")),
    "a line across": lambda: drawn(lambda draw: draw.line((0, 100, 640, 100), "white", width=2)),
    "a line down": lambda: drawn(lambda draw: draw.line((100, 0, 100, 360), "white", width=2)),
    "a watermark": lambda: drawn(lambda draw: draw.text((560, 340), "made by me", fill="white")),
    "noise in a corner": corner_of_noise,
    "a block in a corner": lambda: drawn(lambda draw: draw.rectangle((0, 0, 80, 50), fill="white")),
    "a gradient": lambda: Image.linear_gradient("L").resize(SIZE).convert("RGB"),
    "a radial gradient": lambda: Image.radial_gradient("L").resize(SIZE).convert("RGB"),
}
ENCODERS: dict[str, tuple[str, dict[str, Any]]] = {
    "png, hardly packed": ("PNG", {"compress_level": 1}),
    "png, tightly packed": ("PNG", {"optimize": True}),
    "jpeg 95": ("JPEG", {"quality": 95}),
    "jpeg 60": ("JPEG", {"quality": 60}),
    "jpeg progressive": ("JPEG", {"quality": 85, "progressive": True}),
}


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("name", SHOWS)
def test_a_picture_that_shows_something_counts_whoever_encoded_it(tmp_path: Path, name: str, encoder: str) -> None:
    kind, options = ENCODERS[encoder]
    assert media.screenshot_defects(saved(tmp_path, SHOWS[name](), kind, **options)) == []


@pytest.mark.parametrize("encoder", ["png, tightly packed", "jpeg 60"])
@pytest.mark.parametrize("name", BLANK)
def test_a_picture_that_shows_nothing_never_counts(tmp_path: Path, name: str, encoder: str) -> None:
    kind, options = ENCODERS[encoder]
    (defect,) = media.screenshot_defects(saved(tmp_path, BLANK[name](), kind, **options))
    assert defect.startswith("shot.")
    assert media.ANOTHER_PICTURE in defect


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA"])
def test_every_depth_and_palette_is_decoded(tmp_path: Path, mode: str) -> None:
    for image, is_blank in ((page(), False), (solid(), True)):
        image = image.convert(mode, dither=Image.Dither.NONE)
        assert bool(media.screenshot_defects(saved(tmp_path, image))) is is_blank


def test_sixteen_bits_of_colour_and_interlacing_are_decoded(tmp_path: Path) -> None:
    for interlaced in (0, 1):
        path = tmp_path / f"{interlaced}.png"
        path.write_bytes(png_of_16_bits(page(), interlaced))
        assert media.screenshot_defects(path) == []


def png_of_16_bits(image: Image.Image, interlaced: int) -> bytes:
    passes = ADAM7 if interlaced else ((0, 0, 1, 1),)
    width, height = image.size
    rows = []
    for left, top, across, down in passes:
        for y in range(top, height, down):
            row = image.crop((left, y, width, y + 1)).tobytes()
            colours = [row[start :: 3 * across] for start in range(3)]
            twice = bytearray(6 * len(colours[0]))
            for start in range(6):
                twice[start::6] = colours[start // 2]
            rows.append(b"\0" + twice)
    head = struct.pack(">IIBBBBB", width, height, 16, 2, 0, 0, interlaced)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(b"".join(rows)))
        + chunk(b"IEND", b"")
    )


ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


@pytest.mark.parametrize("kind", ["GIF", "BMP", "WEBP"])
def test_other_formats_are_refused(tmp_path: Path, kind: str) -> None:
    path = saved(tmp_path, page(), kind)
    told = media.screenshot_defects(path.rename(tmp_path / "shot.png"))[0]
    assert texts.says(told, "ultragoal-neither-png-nor-jpeg")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "neither PNG nor JPEG"),
        (b"not a picture at all", "neither PNG nor JPEG"),
        (b"\x89PNG\r\n\x1a\n", "does not end"),
        (b"\x89PNG\r\n\x1a\n" + b"x" * 5000 + media.ENDS["PNG"][1], "does not decode"),
        (b"\xff\xd8\xff\xe0" + b"\0" * 5000 + b"\xff\xd9", "does not decode"),
    ],
)
def test_garbage_is_refused(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "shot.png"
    path.write_bytes(data)
    assert said in media.screenshot_defects(path)[0]


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda data, end: data[: len(data) // 2],
        lambda data, end: data[: len(data) // 2] + end,
        lambda data, end: data + b"more",
        lambda data, end: data[:-1],
    ],
    ids=["cut off", "cut off and closed", "with a tail", "without its last byte"],
)
def test_a_damaged_file_is_refused(tmp_path: Path, kind: str, damage: Callable[[bytes, bytes], bytes]) -> None:
    path = saved(tmp_path, page(), kind)
    closed_early = kind == "JPEG" and damage(b"ab", b"!") == b"a!"
    path.write_bytes(damage(path.read_bytes(), media.ENDS[kind][1]))
    if not closed_early:  # a JPEG that ends early is a JPEG: the rest of it is grey
        assert media.screenshot_defects(path)


def test_a_flipped_bit_in_the_pixels_is_noticed(tmp_path: Path) -> None:
    path = saved(tmp_path, page())
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    assert texts.says(media.screenshot_defects(path)[0], "ultragoal-does-not-decode")


@pytest.mark.parametrize("size", [(319, 180), (320, 179), (1, 1)])
def test_a_small_picture_is_refused(tmp_path: Path, size: tuple[int, int]) -> None:
    assert "at least 320x180" in media.screenshot_defects(saved(tmp_path, page(size)))[0]
    assert media.screenshot_defects(saved(tmp_path, page((320, 180)))) == []


@pytest.mark.parametrize("side", [6_400, 10_000, 60_000])
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, side: int) -> None:
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    path = tmp_path / "bomb.png"
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + parts)
    (defect,) = media.screenshot_defects(path)
    assert texts.says(defect, "ultragoal-does-not-decode")


def test_what_is_too_large_or_no_file_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, page())
    os.truncate(path, media.LARGEST_PICTURE + 1)
    assert "larger than" in media.screenshot_defects(path)[0]
    os.mkfifo(tmp_path / "pipe.png")
    for name in ("pipe.png", "missing.png", "."):
        assert media.screenshot_defects(tmp_path / name)
