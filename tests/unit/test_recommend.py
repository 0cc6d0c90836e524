from __future__ import annotations

from pathlib import Path

import pytest

from stacks import recommend
from stacks.errors import UsageError
from stacks.recommend import Candidate, judge
from stacks.variant import load_variant

SLOW = [40.0, 41, 39, 40, 42, 40, 41]
FAST = [100.0, 104, 98, 101, 103, 99, 100]
ALIKE = [101.0, 103, 99, 100, 104, 98, 101]


def test_the_fastest_is_named() -> None:
    rates = {"base": SLOW, "a": FAST, "b": [x * 0.8 for x in FAST]}
    found = judge(rates, ["a", "b"], "base")
    assert found.fastest == ("a",)
    assert found.warnings == ("b is only 1.99 times as fast as base",) or not found.warnings


def test_what_the_noise_does_not_tell_apart_is_not_named() -> None:
    found = judge({"base": SLOW, "a": FAST, "b": ALIKE, "c": SLOW}, ["a", "b", "c"], "base")
    assert set(found.fastest) == {"a", "b"}


def test_one_round_that_went_wrong_does_not_hide_the_fastest() -> None:
    spoilt = [*FAST[:-1], 10.0]
    assert judge({"a": spoilt, "b": SLOW}, ["a", "b"], None).fastest == ("a",)


def test_a_variant_that_did_not_verify_is_never_named() -> None:
    assert judge({"a": FAST, "b": SLOW}, ["b"], None).fastest == ("b",)


def test_less_than_twice_the_baseline_is_told() -> None:
    found = judge({"base": SLOW, "a": [x * 1.5 for x in SLOW]}, ["a"], "base")
    assert found.warnings == ("a is only 1.50 times as fast as base",)


def test_nothing_to_choose_from(monkeypatch: pytest.MonkeyPatch) -> None:
    variant = load_variant("openblas")
    monkeypatch.setattr(
        recommend, "candidates", lambda variants: [Candidate(variant, Path("x"), True)]
    )
    with pytest.raises(UsageError, match=r"(?s)fewer than two.*found: +openblas.*invoke build"):
        recommend.recommend([variant])
    with pytest.raises(UsageError, match="too few rounds"):
        recommend.recommend([variant], rounds=2)


def test_every_round_measures_each_once_and_the_order_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def answer(words: list[str | Path], env: dict[str, str]) -> str:
        asked.append(f"{Path(words[0]).parent.parent.name} {words[-1]}")
        return f"a warning\n{len(asked)}\n"

    monkeypatch.setattr(recommend, "call", answer)
    chosen = [
        Candidate(load_variant(name), Path("/p") / name, True) for name in ("blis", "openblas")
    ]
    rates = recommend.measure(chosen, 3)
    assert asked[:4] == ["blis float64", "blis float32", "openblas float64", "openblas float32"]
    assert asked[4:6] == ["openblas float64", "openblas float32"]
    assert {name: len(r) for name, r in rates["float64"].items()} == {"blis": 3, "openblas": 3}


def test_the_table_fits_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    names = ["pip-default", "openblas-amdlibm", "pip-openblas"]
    chosen = [Candidate(load_variant(name), Path("x"), name != "pip-default") for name in names]
    rates = {d: {name: [1234.56, 2345.67, 3456.78] for name in names} for d in recommend.DTYPES}
    recommend._show(chosen, rates, "pip-default")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[1].split() == ["pip-default", "no,", "baseline", *(["2345.7", "1235-3457"] * 2)]
    assert [line.split()[0] for line in lines[2:4]] == names[1:]
