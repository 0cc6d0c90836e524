"""The packages of an environment: a lock's, another channel's and the user's; where they run."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from stacks.channel.offers import read_channel
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.environments import folders
from stacks.environments.make import packages
from stacks.variants.load import load_variant
from stacks.variants.variant import ACCELERATOR, SCAN_FIX


@pytest.mark.parametrize(
    ("flavour", "framework", "names"),
    [
        ("openblas@conda-forge", "theano-1.0.5", [ACCELERATOR, SCAN_FIX, "theano-settings"]),
        ("openblas@conda-forge", "pytensor-3.3.7", [SCAN_FIX, "pytensor-settings"]),
        ("pip-default@conda-forge", "theano-1.0.5", ["theano-settings"]),
        ("openblas@conda-forge", "aesara-2.8.7", ["aesara-settings"]),
        ("openblas", "theano-1.0.5", []),
    ],
)
def test_packages_beside_another_channels(
    workspace: Workspace, flavour: str, framework: str, names: list[str]
) -> None:
    offers = folders.unlocked(workspace, load_variant(workspace, flavour, framework))
    assert [offer.recipe.package.name for offer in offers] == names
    accelerator = [o for o in offers if o.recipe.package.name in (ACCELERATOR, SCAN_FIX)]
    assert {offer.file_name for offer in accelerator} <= read_channel(workspace).offers.keys()


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("aocl-libm-linux-gcc-4.2.0.tar.gz", "4.2.0"),
        ("aocl-linux-aocc-5.0.0_1.tar.gz", "5.0.0"),
        ("amdlibm-3-0-2.tar.gz", "3.0.2"),
        ("library.tar.gz", "0"),
    ],
)
def test_the_version_is_in_the_archives_name(name: str, version: str) -> None:
    assert packages._version_of(name) == version


def test_the_users_archive_is_amds_and_for_variants_with_its_functions(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variant, archive = load_variant(workspace, "openblas-amdlibm"), tmp_path / "libm.tar.gz"
    monkeypatch.delenv("AMDLIBM_TARBALL", raising=False)
    assert packages.user_packages(workspace, variant) == {}
    monkeypatch.setenv("AMDLIBM_TARBALL", str(archive))
    assert packages.user_packages(workspace, load_variant(workspace, "openblas")) == {}
    with pytest.raises(UsageError, match=r"AMDLIBM_TARBALL: .*no such file"):
        packages.user_packages(workspace, variant)
    archive.write_bytes(b"PK\3\4")
    with pytest.raises(UsageError, match=r"(?s)not AMD LibM.*aocl-libm-linux-gcc-VERSION\.tar\.gz"):
        packages.user_packages(workspace, variant)


NEEDS = ["python 3.9.*", "__glibc >=2.17", "__glibc >=2.29,<3.0.a0"]


@pytest.mark.parametrize(
    ("system", "cpu", "libc", "found"),
    [
        *(("Linux", "x86_64", ("glibc", v), None) for v in ("2.29", "2.100", "3.0")),
        ("Darwin", "x86_64", ("", ""), "Darwin on x86_64"),
        ("Linux", "aarch64", ("glibc", "2.36"), "Linux on aarch64"),
        ("Linux", "x86_64", ("glibc", "2.9"), "glibc 2.9"),
        ("Linux", "x86_64", ("", ""), "another C library (musl?)"),
        ("Linux", "x86_64", ("musl", "1.2.4"), "musl 1.2.4"),
    ],
)
def test_the_machine(
    system: str, cpu: str, libc: tuple[str, str], found: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: cpu)
    monkeypatch.setattr(platform, "libc_ver", lambda: libc)
    if found is None:
        packages.check_host(NEEDS)
        return
    with pytest.raises(UsageError) as caught:
        packages.check_host(NEEDS)
    assert caught.value.found == found
    assert caught.value.fix and "container" in caught.value.fix
    if " on " not in found:
        assert caught.value.expected == "glibc 2.29 or newer"
