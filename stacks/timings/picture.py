"""The answers as a picture: how many times as fast, with intervals, on a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from stacks.bench.intervals import Ratio
from stacks.timings import columns
from stacks.timings.view import Answer, Choice, View

HERE = Path(__file__).resolve().parent
# Points.
WIDTH, ROW, TOP, LEFT, RIGHT = 680, 18, 44, 140, 220
TICKS = (0.25, 0.5, 1, 2, 5, 10, 20, 50)
# The scale reaches at least this far to either side of 1.
LEAST = 1.25


def drawing(view: View) -> str:
    """Return the picture as an SVG element without styles; "" without answers."""
    kinds = [a for a in view.answers if not a.column.busy and a.column.kind in columns.TABLE]
    choices = [one for answer in kinds for one in answer.choices if one.cell.ratio]
    if not choices:
        return ""
    ratios = [one.cell.ratio for one in choices if one.cell.ratio]
    low = min(1 / LEAST, *(ratio.low for ratio in ratios))
    high = max(LEAST, *(ratio.high for ratio in ratios))

    def x(value: float) -> float:
        part = math.log(value / low) / math.log(high / low)
        return round(LEFT + part * (WIDTH - LEFT - RIGHT), 1)

    height = TOP + ROW * (len(kinds) + len(choices)) + 8
    cpu = view.machines[0].machine.cpu
    title = f"How many times as fast as pip-default, on {cpu} (open: not clear)"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="answers" role="img" width="{WIDTH}" '
        f'height="{height}" viewBox="0 0 {WIDTH} {height}">',
        f"<title>{escape(title)}: {escape('; '.join(map(_words, kinds)))}</title>",
        _text(8, 16, title, "head"),
    ]
    for tick in TICKS:
        if low <= tick <= high:
            kind = "one" if tick == 1 else "tick"
            line = f'<path class="{kind}" d="M{x(tick)} {TOP - 8}V{height - 8}"/>'
            parts += [line, _text(x(tick), TOP - 12, f"{tick:g}", "scale")]
    y = TOP
    for answer in kinds:
        y += ROW
        parts.append(_text(8, y - 5, answer.column.kind, "kind"))
        for choice in answer.choices:
            if ratio := choice.cell.ratio:
                y += ROW
                parts += _row(choice, ratio, y - 9, x(ratio.low), x(ratio.value), x(ratio.high))
    return "\n".join([*parts, "</svg>"])


def document(view: View) -> str:
    """Return the picture as a file with its own styles, light and dark; "" without answers."""
    drawn = drawing(view)
    if not drawn:
        return ""
    light, dark, own = (
        (HERE / f"{name}.css").read_text(encoding="utf-8") for name in ("light", "dark", "picture")
    )
    # An image is shown on any background, and takes no styles of the page that shows it.
    styles = f"{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n{own}"
    first, _, rest = drawn.partition("\n")
    return f"{first}\n<style>{escape(styles)}</style>\n{rest}\n"


def _words(answer: Answer) -> str:
    """Return a part of the picture in words."""
    times = [f"{one.framework} {one.cell.times} with {one.flavour}" for one in answer.choices]
    return f"{answer.column.kind}: {', '.join(times)}"


def _row(
    choice: Choice, ratio: Ratio, y: float, low: float, value: float, high: float
) -> Sequence[str]:
    kind = "clear" if choice.cell.is_difference else "unclear"
    return [
        _text(16, y + 4, choice.framework, "name"),
        f'<path class="interval" d="M{low} {y}H{high}M{low} {y - 4}V{y + 4}M{high} {y - 4}'
        f'V{y + 4}"/>',
        f'<circle class="{kind}" cx="{value}" cy="{y}" r="4.5"/>',
        _text(WIDTH - RIGHT + 10, y + 4, f"{ratio.value:.2f}  {choice.flavour}", "name"),
    ]


def _text(x: float, y: float, content: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(content)}</text>'
