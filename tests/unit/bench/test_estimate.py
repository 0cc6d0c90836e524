"""What a campaign is said to cost."""

from __future__ import annotations

from typing import Any

import pytest

from stacks.bench import campaign, estimate
from stacks.bench.options import BenchOptions
from stacks.core import cores
from stacks.core.workspace import Workspace
from stacks.variants.load import load_variant
from unit.helpers.checkout import CHECKOUT


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "affine", lambda: 2)


def test_a_quick_campaign_of_all_variants_fits_into_125_minutes(own_workspace: Workspace) -> None:
    sessions = campaign._sessions(own_workspace, BenchOptions(quick=True))
    made = {variant.id for session in sessions for variant in session.variants}
    assert len(made) == 38
    seconds = [estimate.seconds(session.variants, session.options, 0) for session in sessions]
    assert sum(seconds) + len(made) * estimate.PREPARATION < 125 * 60
    assert max(seconds) < 22 * 60, "ctrl-C loses no more"


def test_the_estimate_follows_the_options() -> None:
    variants = [load_variant(CHECKOUT, "openblas", "theano-1.0.5")]
    numba = [load_variant(CHECKOUT, "openblas", "pytensor-3.3.7")]

    def seconds(to_make: int = 0, **options: Any) -> float:
        usual: dict[str, Any] = {
            "workload": "logreg",
            "rounds": 5,
            "threads": "2",
            "starts": 1,
            "quick": True,
        }
        return estimate.seconds(variants, BenchOptions(**{**usual, **options}), to_make)

    least = seconds()
    assert seconds(to_make=3) == least + 3 * estimate.PREPARATION
    assert seconds(starts=2) > least
    assert seconds(threads="1,2") == 2 * least
    assert seconds(busy=2) > least and seconds(quick=False) > least
    assert seconds(workload="gemm,elementwise") == seconds(workload="gemm")
    own = BenchOptions(workload="logreg", rounds=5, threads="2", starts=1)
    assert estimate.seconds(numba, own, 0) > seconds(quick=False), "compiled by numba too"


def test_minutes_of_a_fast_machine_and_of_a_slow_one() -> None:
    assert estimate.minutes(660) == "11 to 22 min"
