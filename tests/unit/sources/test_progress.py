from __future__ import annotations

import re

import pytest

from stacks.sources.progress import download_progress


def test_without_a_terminal_there_are_two_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with download_progress(2, 3_000_000) as progress:
        for name in ("a", "b"):
            with progress.file(name, 1_000_000, 0) as advance:
                advance(1_000_000)
    first, second = capsys.readouterr().err.splitlines()
    assert first == "fetching 2 files, 3.0 MB"
    assert re.fullmatch(r"fetched 2 files, 3\.0 MB in \d\.\d s", second)


def test_an_unknown_size_is_left_out_and_what_came_is_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with download_progress(3, None) as progress:
        with pytest.raises(ValueError, match="away"), progress.file("a", None, 0):
            raise ValueError("away")
        with progress.file("b", None, 0):
            pass
    first, second = capsys.readouterr().err.splitlines()
    assert first == "fetching 3 files"
    assert re.fullmatch(r"fetched 1 of 3 files in \d\.\d s", second), "what came is counted"
