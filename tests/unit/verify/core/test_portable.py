"""Text, files below folders whose names look like patterns, the clock of all timings."""

import importlib
import time
from pathlib import Path

import pytest

text = importlib.import_module("verify.core.portable").text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("é", "é"),
        ("é".encode(), "é"),
        (b"\xff", "\N{REPLACEMENT CHARACTER}"),
        (2, "2"),
        (None, "None"),
    ],
)
def test_any_value_becomes_text(value: object, expected: str) -> None:
    assert text(value) == expected


matching = importlib.import_module("verify.core.portable")


@pytest.mark.parametrize("name", ["plain", "work [old]", "a*b?", "[", "]["])
def test_a_folder_of_any_name(name: str, tmp_path: Path) -> None:
    (tmp_path / name / "one").mkdir(parents=True)
    for file in ("b.so", "a.so", "c.o"):
        (tmp_path / name / "one" / file).touch()
    found = matching.matching(str(tmp_path / name), "*/*.so")
    assert found == [f"{tmp_path}/{name}/one/{file}" for file in ("a.so", "b.so")]


def test_the_clock_is_monotonic_and_counts_seconds() -> None:
    start = matching.monotonic()
    time.sleep(0.02)
    assert 0.02 <= matching.monotonic() - start < 5


def test_the_clock_of_python_2_is_the_systems_monotonic_clock() -> None:
    before = time.clock_gettime(time.CLOCK_MONOTONIC)
    now = matching._python_2_clock()()
    assert before <= now <= time.clock_gettime(time.CLOCK_MONOTONIC)


@pytest.mark.parametrize(
    ("samples", "count"),
    [
        ([1.0, 1.02, 9.0], 2),
        ([1.0, 1.04, 1.02, 9.0], 3),
        ([2.0, 1.0, 1.01, 9.0], 3),
        ([4.0, 3.0, 2.0, 1.0, 9.0], 4),
    ],
)
def test_a_timing_ends_when_its_two_shortest_samples_agree(
    samples: list[float], count: int
) -> None:
    values = iter(samples)
    assert matching.until_steady(lambda: next(values), 4) == samples[:count]
