"""Bars, and the chart of them as an SVG element, coloured by the picture's styles."""

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
GEOMETRY = {"x", "y", "width", "height", "d", "transform"}
# Digits after a tenth of a point, which are invisible.
DIGITS = re.compile(r"(?<=\.\d)\d+")
# Removed from the drawing: the picture has its own styles.
LEFT_OUT = ("comment", "style", "script", "desc", "defs", "title")


@dataclass(frozen=True)
class Bar:
    """A bar: its name, length, text, interval, and kind (a class of the styles).

    parts: the lengths that it consists of, one for each key of its plot. clear: a clear difference
    to the baseline, in bold before the text. Only the page shows these two.
    """

    name: str
    value: float
    text: str
    low: float
    high: float
    kind: str
    parts: tuple[float, ...] = ()
    clear: str = ""


def draw(bars: Sequence[Bar]) -> str:
    """Return the bars as an SVG element; every text in it is escaped."""
    chart = pygal.HorizontalBar(
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
    chart.add("", [_value(bar) for bar in turned])
    root = chart.render_tree()
    # A random value.
    del root.attrib["id"]
    for parent in root.iter():
        for child in list(parent):
            if not _is_drawn(child):
                parent.remove(child)
    for element in root.iter():
        for name in GEOMETRY.intersection(element.keys()):
            element.set(name, DIGITS.sub("", element.attrib[name]))
    return Tree.tostring(root, encoding="unicode")


def _value(bar: Bar) -> dict[str, object]:
    content = {"value": bar.value, "formatter": lambda _: bar.text, "node": {"class": bar.kind}}
    if bar.low < bar.high:
        content["ci"] = {"low": bar.low, "high": bar.high}
    return content


def _is_drawn(element: Tree.Element) -> bool:
    # The tag of a comment is a function.
    name = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else "comment"
    return name not in LEFT_OUT and "tooltip-overlay" not in element.get("class", "")
