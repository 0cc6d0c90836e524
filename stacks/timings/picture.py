"""The newest plot of matrix products as a file of its own, for the README."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as Tree

from stacks.timings import plots, svg
from stacks.timings.sessions import ResultSession

SVG = "http://www.w3.org/2000/svg"
HERE = Path(__file__).resolve().parent
# Points for the three lines above the bars.
HEAD = 56


def document(sessions: Sequence[ResultSession]) -> str:
    """Return the plot as an SVG file, "" if no session has timed products."""
    newest_first = sorted(sessions, key=lambda session: session.result.began, reverse=True)
    for session in newest_first:
        if products := plots.products(session):
            return _document(products[0], session)
    return ""


def _document(plot: plots.Plot, session: ResultSession) -> str:
    Tree.register_namespace("", SVG)
    root = Tree.fromstring(svg.draw(plot.bars))  # noqa: S314 - drawn by this program
    _, _, width, height = root.attrib["viewBox"].split()
    root.set("viewBox", f"0 -{HEAD} {width} {float(height) + HEAD:g}")
    root.set("width", width)
    root.set("height", f"{float(height) + HEAD:g}")
    root.set("role", "img")
    heads = (plot.title, plot.unit.partition(";")[0], session.machine.cpu)
    # An image is shown on any background, and takes no styles of the page that shows it.
    light, dark, own = (
        (HERE / f"{name}.css").read_text(encoding="utf-8") for name in ("light", "dark", "picture")
    )
    styles = f"{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n{own}"
    _insert(root, "title", plot.words)
    _insert(root, "style", styles)
    for number, text in enumerate(heads):
        _insert(root, "text", text, x="8", y=str(16 * (number + 1) - HEAD))
    return Tree.tostring(root, encoding="unicode") + "\n"


def _insert(root: Tree.Element, name: str, text: str, **attributes: str) -> None:
    element = Tree.Element(f"{{{SVG}}}{name}", attributes)
    element.text = text
    root.insert(len(root) if name == "text" else 0, element)
