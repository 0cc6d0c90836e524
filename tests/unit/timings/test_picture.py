"""The plot that the README shows."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as Tree

from stacks.timings import picture
from unit.helpers.publishing import keep, read

SVG = "{http://www.w3.org/2000/svg}"


def test_the_newest_products_as_a_file_of_its_own(tmp_path: Path) -> None:
    keep(tmp_path, began="2026-11-20T05:30:00Z")
    keep(tmp_path)
    text = picture.document(read(tmp_path))
    assert text == picture.document(read(tmp_path)[::-1])
    root = Tree.fromstring(text)
    heads = [element.text or "" for element in root.findall(f"{SVG}text")]
    assert heads[0].startswith("Matrix product, float64")
    assert "GFLOP/s" in heads[1]
    assert "peak" in (root.findtext(f"{SVG}title") or "")
    assert "prefers-color-scheme: dark" in (root.findtext(f"{SVG}style") or "")
    assert "://" not in text.replace("http://www.w3.org/", "")


def test_no_products_no_picture() -> None:
    assert picture.document([]) == ""
