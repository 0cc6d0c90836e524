"""Bars as SVG that takes its colours from the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as Tree

import pygal
from pygal.style import Style

# Little more than a telephone's, so that the letters can be read there.
WIDTH = 420
HEIGHT_OF_BAR = 40
HEIGHT_OF_AXIS = 50
LONGEST_NAME = 36
# What room names are given; the page's own letters are a little smaller.
FONT = 13
# How far the stripes of a part lie from each other, and the room that a figure in it needs.
STRIPES = 5.0
ROOM_FOR_FIGURE = 8.0
GEOMETRY = {"x", "y", "width", "height", "d", "transform"}
# More than a tenth of a point is not seen.
DIGITS = re.compile(r"(?<=\.\d)\d+")
# Left out of what is drawn: styles and scripts are the page's own, the rest is for its scripts.
LEFT_OUT = ("comment", "style", "script", "desc", "defs", "title")


@dataclass(frozen=True)
class Bar:
    """A bar: its name, its length, what is written on it, its interval, what kind it is of.

    `parts` are the lengths that it is made of, for each key of its plot.
    """

    name: str
    value: float
    text: str
    low: float
    high: float
    kind: str
    parts: tuple[float, ...] = ()


@dataclass(frozen=True)
class Key:
    """What a part stands for, and whether it is striped."""

    name: str
    striped: bool = False


def draw(bars: Sequence[Bar], keys: Sequence[Key]) -> str:
    """Return the bars as an SVG element; every text in it is escaped.

    With keys the bars are made of parts, which have the classes `part-0`, `part-1` and so on. A
    part tells which one it is by its number, too, counted from 1.
    """
    chart = (pygal.HorizontalStackedBar if keys else pygal.HorizontalBar)(
        js=[],
        width=WIDTH,
        height=HEIGHT_OF_AXIS + HEIGHT_OF_BAR * len(bars),
        margin=8,
        range=(0, 1.08 * max(bar.high for bar in bars)),
        show_legend=False,
        print_values=True,
        print_values_position="bottom",
        truncate_label=LONGEST_NAME,
        style=Style(label_font_size=FONT, major_label_font_size=FONT),
        max_scale=6,
    )
    # It draws from below.
    turned = list(reversed(bars))
    chart.x_labels = [bar.name for bar in turned]
    for number in range(len(keys)):
        first = number == 0
        chart.add("", [_value(bar, bar.parts[number], bar.text if first else "") for bar in turned])
    if not keys:
        chart.add("", [_value(bar, bar.value, bar.text) for bar in turned])
    root = chart.render_tree()
    # It is a random one.
    del root.attrib["id"]
    for parent in root.iter():
        for child in list(parent):
            if not _is_drawn(child):
                parent.remove(child)
    # Whoever does not see it reads its words.
    root.set("aria-hidden", "true")
    for number, key in enumerate(keys):
        _mark(root, number, key)
    for element in root.iter():
        for name in GEOMETRY.intersection(element.keys()):
            element.set(name, DIGITS.sub("", element.attrib[name]))
    return Tree.tostring(root, encoding="unicode")


def _value(bar: Bar, value: float, text: str) -> dict[str, object]:
    shown = {"value": value, "formatter": lambda _: text, "node": {"class": bar.kind}}
    if bar.low < bar.high:
        shown["ci"] = {"low": bar.low, "high": bar.high}
    return shown


def _mark(root: Tree.Element, number: int, key: Key) -> None:
    """Give the parts of a key their class, their stripes and, where there is room, their number."""
    series = f"series serie-{number} "
    groups = [group for group in root.iter() if group.get("class", "").startswith(series)]
    pairs = [(parent, child) for group in groups for parent in group.iter() for child in parent]
    for parent, rect in pairs:
        if rect.tag.rpartition("}")[2] != "rect":
            continue
        rect.set("class", f"{rect.get('class', '')} part-{number}")
        x, y, width, height = (float(rect.get(n, 0)) for n in ("x", "y", "width", "height"))
        if key.striped and width:
            offsets = [n * STRIPES for n in range(1, int(width / STRIPES) + 1)]
            lines = "".join(f"M{x + offset},{y}v{height}" for offset in offsets)
            Tree.SubElement(parent, "path", {"class": "stripes", "d": lines})
        if width >= ROOM_FOR_FIGURE * len(str(number + 1)):
            place = {"x": str(x + width / 2), "y": str(y + 0.86 * height), "class": "part"}
            Tree.SubElement(parent, "text", place).text = str(number + 1)


def _is_drawn(element: Tree.Element) -> bool:
    # A comment has a function for its tag.
    name = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else "comment"
    return name not in LEFT_OUT and "tooltip-overlay" not in element.get("class", "")
