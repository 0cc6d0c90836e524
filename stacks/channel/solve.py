"""The conda solver."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Sequence
from pathlib import Path

import rattler
from rattler.exceptions import InvalidMatchSpecError, SolverError

from stacks.channel import assemble
from stacks.channel.offers import SUBDIRS, Channel, Offer, repodata
from stacks.core.disk import scratch
from stacks.core.errors import UsageError

# The system that locks are solved for, on any machine.
VIRTUAL_PACKAGES = {"__unix": "0", "__linux": "5.4", "__archspec": "1"}


def solve(channel: Channel, specs: Sequence[str], glibc: str = "2.31") -> tuple[Offer, ...]:
    """Return the packages that satisfy the specs and their dependencies, sorted by name.

    glibc: the oldest C library that they must run on. Raises UsageError, with the solver's
    explanation, if there is no solution.
    """
    with scratch() as folder:
        for subdir in SUBDIRS:
            offers = channel.offers.items()
            packages = {name: each.index for name, each in offers if each.recipe.subdir == subdir}
            (folder / subdir).mkdir()
            (folder / subdir / "repodata.json").write_bytes(repodata(subdir, packages))
        fix = "correct the specs in envs/, or the requirements of the recipes"
        records = solve_index(folder, specs, glibc, "the channel", fix)
    return tuple(channel.offers[record.file_name] for record in records)


def solve_index(
    folder: Path, specs: Sequence[str], glibc: str, name: str, fix: str
) -> list[rattler.RepoDataRecord]:
    """Return the packages of an indexed folder that satisfy the specs, sorted by name.

    name, fix: the channel and the fix in the UsageError if there is no solution.
    """
    with assemble.translated(folder, f"the index of {name} cannot be read"):
        try:
            records = asyncio.run(_solve(folder, specs, glibc))
        except (SolverError, InvalidMatchSpecError) as error:
            unmet = f"{name} cannot satisfy {', '.join(specs)}\n{error}"
            raise UsageError(unmet, fix=fix) from error
    return sorted(records, key=lambda record: record.name.normalized)


async def _solve(folder: Path, specs: Sequence[str], glibc: str) -> list[rattler.RepoDataRecord]:
    return await rattler.solve(
        sources=[rattler.Channel(folder.as_uri() + "/")],
        specs=[rattler.MatchSpec(spec, strict=False) for spec in specs],
        gateway=rattler.Gateway(cache_dir=folder / "cache"),
        platforms=["linux-64", "noarch"],
        virtual_packages=[
            rattler.GenericVirtualPackage(
                rattler.PackageName(name),
                rattler.Version(version),
                rattler.BuildString("x86_64" if name == "__archspec" else "0"),
            )
            for name, version in {**VIRTUAL_PACKAGES, "__glibc": glibc}.items()
        ],
        timeout=datetime.timedelta(minutes=1),
    )
