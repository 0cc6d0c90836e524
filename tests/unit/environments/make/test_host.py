from __future__ import annotations

import platform

import pytest

from stacks.channel.offers import read_channel
from stacks.core.errors import UsageError
from stacks.environments.make import host
from unit.helpers.checkout import CHECKOUT


@pytest.fixture(scope="module")
def needs() -> list[str]:
    """Give what Theano's environments need: PyTensor's Pythons need a newer system."""
    return [
        spec
        for offer in read_channel(CHECKOUT).offers.values()
        for spec in offer.recipe.requirements.run
        if offer.recipe.package.name != "python"
        or offer.recipe.package.version in ("2.7.18", "3.9.2")
    ]


def machine(monkeypatch: pytest.MonkeyPatch, system: str, cpu: str, libc: tuple[str, str]) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: cpu)
    monkeypatch.setattr(platform, "libc_ver", lambda: libc)


@pytest.mark.parametrize("version", ["2.29", "2.31", "2.35", "2.100", "3.0"])
def test_a_supported_machine(
    version: str, needs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine(monkeypatch, "Linux", "x86_64", ("glibc", version))
    host.check(needs)


@pytest.mark.parametrize(
    ("system", "cpu", "libc", "found"),
    [
        ("Darwin", "x86_64", ("", ""), "Darwin on x86_64"),
        ("Linux", "aarch64", ("glibc", "2.36"), "Linux on aarch64"),
        ("Linux", "x86_64", ("glibc", "2.9"), "glibc 2.9"),
        ("Linux", "x86_64", ("glibc", "2.28"), "glibc 2.28"),
        ("Linux", "x86_64", ("", ""), "another C library (musl?)"),
        ("Linux", "x86_64", ("musl", "1.2.4"), "musl 1.2.4"),
    ],
)
def test_an_unsupported_machine_is_refused(
    system: str,
    cpu: str,
    libc: tuple[str, str],
    found: str,
    needs: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine(monkeypatch, system, cpu, libc)
    with pytest.raises(UsageError) as caught:
        host.check(needs)
    assert caught.value.found == found
    assert caught.value.fix and "container" in caught.value.fix


def test_the_floor_is_the_newest_that_any_package_asks_for(needs: list[str]) -> None:
    assert host.glibc_floor(needs) == "2.29"
    assert host.glibc_floor([*needs, "__glibc >=2.35"]) == "2.35"
    assert host.glibc_floor(["__glibc >=2.17,<3.0.a0", "python >=3.9,<3.10.0a0"]) == "2.17"
    assert host.glibc_floor(["python"]) == "0"
