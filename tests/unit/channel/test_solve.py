from __future__ import annotations

import pytest

from stacks.channel import offers as offers_module
from stacks.channel import solve as solver
from stacks.channel.offers import Channel
from stacks.core.errors import UsageError
from unit.helpers.checkout import CHECKOUT


@pytest.fixture(scope="module")
def channel() -> Channel:
    return offers_module.read_channel(CHECKOUT)


def test_a_solution_is_sorted_and_whole(channel: Channel) -> None:
    found = solver.solve(channel, ["six", "python 2.7.*", "gxx"])
    names = [f"{o.recipe.package.name} {o.recipe.package.version}" for o in found]
    assert names == ["gxx 10.2.1", "libgcc-runtime 10.2.1", "python 2.7.18", "six 1.16.0"]


def test_conflicting_specs_are_an_error(channel: Channel) -> None:
    with pytest.raises(UsageError, match=r"(?s)cannot satisfy python 3.9.\*, theano ==0.8.2\n.+"):
        solver.solve(channel, ["python 3.9.*", "theano ==0.8.2"])


@pytest.mark.parametrize("spec", ["six ==", "six >=1,<", "=", "six [["])
def test_invalid_specs_are_an_error(spec: str, channel: Channel) -> None:
    with pytest.raises(UsageError, match="correct the specs in envs/"):
        solver.solve(channel, [spec])


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("theano ==0.8.2", {"python": "2.7.18", "numpy": "1.13.3"}),
        ("theano", {"theano": "1.0.5", "numpy": "1.21.6", "setuptools": "59.8.0"}),
        ("theano-pymc", {"numpy": "1.21.6", "setuptools": "59.8.0", "filelock": "3.19.1"}),
        ("aesara", {"python": "3.9.2", "setuptools": "82.0.1", "filelock": "3.19.1"}),
        ("pytensor", {"python": "3.13.5", "numpy": "2.5.5", "filelock": "4.2.11"}),
        ("pytensor <3", {"python": "3.11.2", "numpy": "2.4.6", "etuples": "0.3.10"}),
    ],
)
def test_a_frameworks_name_alone_gives_what_it_runs_on(
    spec: str, expected: dict[str, str], channel: Channel
) -> None:
    """`import` is tried in tests/integration/test_free_solve.py."""
    found = {
        offer.recipe.package.name: offer.recipe for offer in solver.solve(channel, [spec], "2.36")
    }
    assert {name: found[name].package.version for name in expected} == expected
