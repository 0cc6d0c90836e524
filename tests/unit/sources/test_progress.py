from __future__ import annotations

import re

import pytest

from stacks.sources.progress import download_progress


def test_without_a_terminal_there_are_two_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with download_progress(2, 3_000_000) as progress, progress.file("a", 1_000_000, 0) as advance:
        advance(1_000_000)
    first, second = capsys.readouterr().err.splitlines()
    assert first == "fetching 2 files, 3.0 MB"
    assert re.fullmatch(r"fetched 2 files, 3\.0 MB in \d\.\d s", second)


def test_an_unknown_size_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    with download_progress(1, None):
        pass
    assert capsys.readouterr().err.splitlines()[0] == "fetching 1 file"
