"""Draws .claude-plugin/icon.png: work that goes round, and ends with a check.

python docs/make_icon.py
"""

from __future__ import annotations

import math
from pathlib import Path

from PIL import Image, ImageDraw

ROOT = Path(__file__).resolve().parents[1]
ICON = ROOT / ".claude-plugin" / "icon.png"
SIDE = 512
FINER = 4  # drawn larger, then made small, so that edges are smooth
GROUND, RING, CHECK = (22, 27, 34), (108, 182, 255), (86, 211, 100)
GAP = 40, 78  # degrees, clockwise from three o'clock, in which the ring is open
POINTS = ((0.345, 0.505), (0.455, 0.615), (0.665, 0.395))


def drawn() -> Image.Image:
    side = SIDE * FINER
    image = Image.new("RGBA", (side, side))
    draw = ImageDraw.Draw(image)
    draw.rounded_rectangle((0, 0, side - 1, side - 1), radius=side * 0.22, fill=GROUND)
    around, width = 0.33 * side, round(0.085 * side)
    box = (side / 2 - around, side / 2 - around, side / 2 + around, side / 2 + around)
    opens, closes = GAP
    draw.arc(box, closes, opens + 360, fill=RING, width=width)
    for angle in (math.radians(opens), math.radians(closes)):
        _dot(
            draw,
            side / 2 + math.cos(angle) * (around - width / 2),
            side / 2 + math.sin(angle) * (around - width / 2),
            width,
            RING,
        )
    points = [(x * side, y * side) for x, y in POINTS]
    draw.line(points, fill=CHECK, width=width, joint="curve")
    for x, y in (points[0], points[-1]):
        _dot(draw, x, y, width, CHECK)
    image = image.resize((SIDE, SIDE), Image.Resampling.LANCZOS)
    # A user gets it with each version: 256 colours take a fifth of the bytes, and nobody sees the difference.
    return image.quantize(256, method=Image.Quantize.FASTOCTREE)


def _dot(draw: ImageDraw.ImageDraw, x: float, y: float, width: float, colour: tuple[int, int, int]) -> None:
    """The round end of a line."""
    draw.ellipse((x - width / 2, y - width / 2, x + width / 2, y + width / 2), fill=colour)


if __name__ == "__main__":
    drawn().save(ICON, optimize=True)
