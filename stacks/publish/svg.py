"""Bar charts as SVG elements, coloured by the page's styles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as Tree

import pygal
from pygal.style import Style

# Points; a little more than a telephone's width, so that text is readable there.
WIDTH = 420
HEIGHT_OF_BAR = 40
HEIGHT_OF_AXIS = 50
LONGEST_NAME = 36
# Reserves room for names; the page's own font is a little smaller.
FONT = 13
# Points between the stripes of a part, and the width of a digit.
STRIPES = 5.0
ROOM_FOR_FIGURE = 8.0
GEOMETRY = {"x", "y", "width", "height", "d", "transform"}
# Digits after a tenth of a point, which are invisible.
DIGITS = re.compile(r"(?<=\.\d)\d+")
# Removed from the drawing: the page has its own styles and scripts.
LEFT_OUT = ("comment", "style", "script", "desc", "defs", "title")


@dataclass(frozen=True)
class Bar:
    """A bar: its name, length, text, interval, and kind (a class of the page's styles).

    parts: the lengths that it consists of, one for each key of its plot.
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
    """The name of a part, and whether it is striped."""

    name: str
    striped: bool = False


def draw(bars: Sequence[Bar], keys: Sequence[Key]) -> str:
    """Return the bars as an SVG element; every text in it is escaped.

    With keys the bars consist of parts with the classes `part-0`, `part-1` and so on. A part also
    shows its number, counted from 1.
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
    # Bars are drawn from the bottom.
    turned = list(reversed(bars))
    chart.x_labels = [bar.name for bar in turned]
    lengths = [bar.parts if keys else (bar.value,) for bar in turned]
    for number, series in enumerate(zip(*lengths, strict=True)):
        pairs = zip(turned, series, strict=True)
        chart.add("", [_value(bar, x, "" if number else bar.text) for bar, x in pairs])
    root = chart.render_tree()
    # A random value.
    del root.attrib["id"]
    for parent in root.iter():
        for child in list(parent):
            if not _is_drawn(child):
                parent.remove(child)
    # Screen readers get the words of the plot instead.
    root.set("aria-hidden", "true")
    for number, key in enumerate(keys):
        _mark(root, number, key)
    for element in root.iter():
        for name in GEOMETRY.intersection(element.keys()):
            element.set(name, DIGITS.sub("", element.attrib[name]))
    return Tree.tostring(root, encoding="unicode")


def _value(bar: Bar, value: float, text: str) -> dict[str, object]:
    content = {"value": value, "formatter": lambda _: text, "node": {"class": bar.kind}}
    if bar.low < bar.high:
        content["ci"] = {"low": bar.low, "high": bar.high}
    return content


def _mark(root: Tree.Element, number: int, key: Key) -> None:
    """Give the parts of a key their class, their stripes and, if there is room, their number."""
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
    # The tag of a comment is a function.
    name = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else "comment"
    return name not in LEFT_OUT and "tooltip-overlay" not in element.get("class", "")
