"""The files of a release: what their names say, and which of them fits a Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    parse_sdist_filename,
    parse_wheel_filename,
)

from stacks.core.errors import UsageError
from stacks.variants.variant import Framework

# Glibc's oldest version in the tags of wheels.
OLDEST_GLIBC = 5
OTHER_NAMES = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}


def release_of(file: str) -> tuple[str, str]:
    """Return project and version in the name of a wheel or source archive.

    Raises UsageError for the name of another file.
    """
    try:
        if file.endswith(".whl"):
            name, version, *_ = parse_wheel_filename(file)
        else:
            name, version = parse_sdist_filename(file)
    except (InvalidWheelFilename, InvalidSdistFilename) as error:
        raise UsageError(
            f"{file}: its version cannot be read from its name", found=str(error)
        ) from error
    return str(name), str(version)


def supported_tags(framework: Framework) -> dict[Tag, int]:
    """Return the tags of the wheels that a framework's environments can have; the best is 0."""
    major, minor = map(int, framework.python.split("."))
    newest = int(framework.glibc.partition(".")[2])
    platforms = []
    for glibc in range(newest, OLDEST_GLIBC - 1, -1):
        platforms.append(f"manylinux_2_{glibc}_x86_64")
        if glibc in OTHER_NAMES:
            platforms.append(f"{OTHER_NAMES[glibc]}_x86_64")
    platforms.append("linux_x86_64")
    abi = f"cp{major}{minor}"
    tags = [
        *cpython_tags((major, minor), [abi], platforms),
        *compatible_tags((major, minor), abi, platforms),
    ]
    return {tag: rank for rank, tag in reversed(list(enumerate(tags)))}


def best_file(package: Mapping[str, Any], tags: Mapping[Tag, int]) -> Mapping[str, Any]:
    """Return the wheel of a package in pylock.toml that fits best, else its source archive.

    Raises UsageError if it has neither.
    """
    fitting = []
    for wheel in package.get("wheels", ()):
        *_, build, wheel_tags = parse_wheel_filename(name_of(wheel))
        if found := [tags[tag] for tag in wheel_tags if tag in tags]:
            fitting.append((-min(found), build, wheel))
    if fitting:
        # As pip: the best tag, then the highest build tag.
        return dict(max(fitting, key=lambda each: each[:2])[2])
    if "sdist" in package:
        return dict(package["sdist"])
    raise UsageError(
        f"{package['name']} {package.get('version', '')}: the index has no file for this Python",
        expected="a wheel that fits, or a source archive",
        fix="ask for another version",
    )


def name_of(file: Mapping[str, Any]) -> str:
    """Return the name of a file in pylock.toml."""
    if name := file.get("name"):
        return str(name)
    address = str(file.get("url") or file.get("path"))
    return unquote(address.partition("#")[0].rsplit("/", 1)[-1])
