"""What the built packages say: their licences, and the Pythons that they run on."""

from __future__ import annotations

from email.parser import HeaderParser
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from rattler import Version, VersionSpec
from rattler.package_streaming import extract

from stacks.channel.build import build_packages
from stacks.channel.offers import Offer, read_channel, with_settings
from stacks.core.workspace import Workspace
from stacks.variants.load import all_variants

LICENCE_NAMES = ("licen", "copying", "copyright")


@pytest.fixture(scope="module")
def unpacked(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Offer]:
    """Give every package of the channel, unpacked."""
    channel = with_settings(read_channel(workspace), all_variants(workspace))
    root, offers = tmp_path_factory.mktemp("packages"), channel.offers
    built = build_packages(workspace, channel, offers.values(), quiet=True)
    for name, each in built.items():
        extract(each.path, root / name)
    return {root / name: offers[name] for name in built}


def test_every_package_carries_its_licence(unpacked: dict[Path, Offer]) -> None:
    lacking = [
        folder.name
        for folder in unpacked
        if not any(
            path.stat().st_size > 200
            for path in folder.rglob("*")
            if path.is_file()
            and "info" not in path.relative_to(folder).parts[:1]
            and any(name in path.name.lower() for name in LICENCE_NAMES)
        )
    ]
    assert lacking == []


def test_copies_of_gccs_libraries_are_declared(unpacked: dict[Path, Offer]) -> None:
    """They are copyleft: a package that is published without sources must not have them."""
    silent = [
        f"{folder.name}: {path.name}"
        for folder, offer in unpacked.items()
        if "GPL" not in offer.recipe.about.license
        for path in folder.rglob("lib*.so*")
        if path.name.startswith(("libgfortran", "libquadmath", "libgomp", "libstdc++", "libgcc_s"))
    ]
    assert silent == []


def test_no_package_is_for_a_python_that_its_maker_excludes(unpacked: dict[Path, Offer]) -> None:
    recipes = [offer.recipe for offer in unpacked.values()]
    pythons = [each.package.version for each in recipes if each.package.name == "python"]
    excluded = []
    for folder, offer in unpacked.items():
        specs = [s for s in offer.recipe.requirements.run if s.split()[0] == "python"]
        for metadata in folder.rglob("*.dist-info/METADATA"):
            made_for = HeaderParser().parsestr(metadata.read_text("utf-8"))["Requires-Python"]
            for spec in specs if made_for else ():
                ours, theirs = VersionSpec(spec.partition(" ")[2] or "*"), SpecifierSet(made_for)
                excluded += [
                    f"{folder.name}: {spec}, but {made_for}"
                    for python in pythons
                    if ours.matches(Version(python)) and python not in theirs
                ]
    assert excluded == []
