"""uv, which chooses the versions of a stack.yaml's own packages: a pinned wheel with its program.

It is fetched like any other pinned file when it is first needed, checked, and run from a temporary
folder. Why uv: it resolves for another glibc than this machine's, explains a conflict, and writes
pylock.toml; pip does none of these. Of the files of a release that pylock.toml lists, the one that
fits a Python best is chosen here, as pip chooses it.
"""

import re
import shutil
import sys
import threading
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from packaging.pylock import PackageWheel
from packaging.tags import Tag, compatible_tags, cpython_tags, create_compatible_tags_selector
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    parse_sdist_filename,
    parse_wheel_filename,
)

from stacks.core.errors import FetchError, IntegrityError, UsageError
from stacks.core.process import CommandError, call
from stacks.core.workspace import Workspace
from stacks.locks.lock import PYLOCK
from stacks.sources.fetch import fetch
from stacks.sources.mirrors import public_url
from stacks.sources.package_index import Index, PipSettings
from stacks.sources.pins import IndexFile, IndexPin, Pins
from stacks.sources.repin import pin_files
from stacks.sources.web import MissingError
from stacks.variants.variant import Framework, Variant

NAME, VERSION = "uv", "0.13.9"
FILE = f"uv-{VERSION}-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
# Or a package that cannot be built; its other errors end with 2.
NO_SOLUTION = "exit status 1"
PROGRAM = f"uv-{VERSION}.data/scripts/uv"


@dataclass(frozen=True)
class Uv:
    """uv's program, in a folder for its files, and its variables."""

    program: Path
    folder: Path
    env: Mapping[str, str]

    def compile(self, options: Sequence[str | Path]) -> str:
        """Resolve requests.in under constraints.txt and uv.toml, all in the folder: pylock.toml.

        options: those that choose the Python. Returns uv's messages. Raises CommandError with uv's
        explanation.
        """
        words = [str(self.program), "pip", "compile", "requests.in"]
        given = ["--constraint", "constraints.txt", "--config-file", "uv.toml"]
        forms = ["--no-header", "--no-annotate", "--no-progress", "--format", "pylock.toml"]
        words += [*given, *forms, "--output-file", PYLOCK]
        # Without an index it would ask its default; it has no variable for that.
        words += [] if "UV_DEFAULT_INDEX" in self.env else ["--no-index"]
        return call([*words, *options], cwd=self.folder, env=self.env, merged=True)


def unpack(workspace: Workspace, pins: Pins, folder: Path) -> Path:
    """Return the path of uv's program, unpacked into a folder. Raises FetchError."""
    pin = pins.file(FILE)
    program = folder / "uv"
    with (
        zipfile.ZipFile(fetch(workspace, [pin])[pin]) as wheel,
        wheel.open(PROGRAM) as source,
        program.open("wb") as target,
    ):
        shutil.copyfileobj(source, target)
    program.chmod(0o755)
    return program


UNKNOWN = re.compile(
    r"Because (\S+) was not found in the (?:package registry|provided package locations)"
    r"|No matching distribution found for ([^\s(;]+)"
)
FIND_LINKS = re.compile(r"Failed to read `--find-links` [a-zA-Z]+: (\S+)")
RETRIED = re.compile(r"Retrying .*: (/\S*)$", re.MULTILINE)
BROKEN = re.compile(r"Failed to [a-z ]+ `([^`:/]+)`")
# Names that no index has, and what to do about each.
NO_PACKAGE = {
    "pkg-resources": "leave it out: Debian's `pip freeze` lists it by mistake",
    "python": "leave it out: `framework:` selects the framework, and Python with it",
}
MISSPELT = "check its spelling under `pip:`, or add the index that has it to pip's configuration"
NO_EXTRA = re.compile(
    r"[Tt]he package `(\S+?)==(\S+)` does not have an extra named `(\S+)`"
    r"|WARNING: (\S+) (\S+) does not provide the extra '(\S+)'"
)


def warn_of_extras(messages: str, variant: Variant) -> None:
    """Print a warning for each extra that a package of a stack.yaml does not have.

    messages: of uv, or of pip 20 on Python 2.7. Nothing is installed for such an extra.
    """
    for match in NO_EXTRA.findall(messages):
        name, version, extra = filter(None, match)
        line = f"{variant.shown_file}: {name} {version} has no extra {extra!r}"
        print(f"warning: {line}", file=sys.stderr)


def missing_links(settings: PipSettings) -> list[str]:
    """Return the folders and files of find-links that are not there: pip leaves them out."""
    paths = [place for place in settings.find_links if place.startswith("/")]
    return [path for path in paths if not (Path(path).is_dir() or Path(path).is_file())]


def raise_for_index(error: CommandError, variant: Variant, settings: PipSettings) -> None:
    """Raise FetchError for an index that cannot be read, UsageError for a package of a stack.yaml.

    No index has that, or it is broken.

    error: of uv, or of pip 20 on Python 2.7. settings: of the user's pip.
    """
    file = variant.shown_file
    # pip 20 names the path alone, and goes on.
    paths = RETRIED.findall(error.output)
    tried = [place for place in settings.find_links if urlsplit(place).path in paths]
    if unread := FIND_LINKS.findall(error.output) or tried:
        raise FetchError(
            f"{public_url(unread[0])}: pip's find-links names it, and it cannot be read",
            found=error.output,
            fix="correct it, or take it out of find-links (pip config list, PIP_FIND_LINKS)",
        ) from error
    if re.search("Failed to fetch|Retrying|connection broken|Could not fetch URL", error.output):
        raise FetchError(
            "the package index cannot be read",
            found=error.output,
            fix="check the network, and pip's own settings (pip config list): index, proxy, CA "
            "bundle",
        ) from error
    if broken := BROKEN.search(error.output):
        raise UsageError(
            f"{file}: {broken[1]} cannot be used",
            expected="a package that can be read and built, and asks for others by their names",
            found=error.output,
            fix="ask for another version of it under `pip:`, or leave it out",
        ) from error
    unknown = UNKNOWN.search(error.output)
    # pip 20 says the same of a version that the installed packages rule out.
    if unknown and (unknown[1] or unknown[2] in [r.partition(";")[0] for r in variant.requests]):
        name = unknown[1] or unknown[2]
        if not settings.index_urls:
            raise UsageError(
                f"{file}: no place of pip's find-links has {name}, and no-index is set",
                fix="put its files into a folder of find-links, or unset no-index "
                "(pip config list, PIP_NO_INDEX)",
            ) from error
        _check_access(settings, name)
        raise UsageError(
            f"{file}: no package index has {name}", fix=NO_PACKAGE.get(name, MISSPELT)
        ) from error


def _check_access(settings: PipSettings, name: str) -> None:
    """Raise FetchError for an index that does not say whether it has a package.

    uv and pip 20 take one that refuses the access for one that lacks the package.
    """
    for url in settings.index_urls:
        try:
            Index(settings.for_place(), url).links_to(re.split(r"[^\w.-]", name)[0], "")
        except MissingError:
            continue
        except FetchError as error:
            raise FetchError(
                error.what,
                fix="check the address, user and password in pip's index-url and extra-index-url "
                "(pip config list), or in ~/.netrc",
            ) from error


def environment(
    workspace: Workspace, settings: PipSettings, variables: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables by which uv asks the indexes of the user's pip, as pip does."""
    own = {name: value for name, value in variables.items() if not name.startswith("UV_")}
    first, *others = settings.index_urls or ("",)
    chosen = {
        "UV_CACHE_DIR": str(workspace.cache / "uv"),
        "UV_PYTHON_DOWNLOADS": "never",
        # pip takes the best version of all indexes.
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_DEFAULT_INDEX": first,
        "UV_INDEX": " ".join(others),
        # What pip leaves out with a warning is an error of uv.
        "UV_FIND_LINKS": ",".join(
            place for place in settings.find_links if place not in missing_links(settings)
        ),
        "UV_INSECURE_HOST": " ".join(settings.trusted_hosts),
        "UV_HTTP_TIMEOUT": str(int(settings.timeout)),
        "SSL_CERT_FILE": settings.verify if isinstance(settings.verify, str) else "",
        "SSL_CLIENT_CERT": settings.client_cert or own.get("SSL_CLIENT_CERT", ""),
        "ALL_PROXY": settings.proxy or own.get("ALL_PROXY", ""),
    }
    return {**own, **{name: value for name, value in chosen.items() if value}}


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


def supported_tags(framework: Framework) -> list[Tag]:
    """Return the tags of the wheels that a framework's environments can have, the best first."""
    major, minor = map(int, framework.python.split("."))
    newest = int(framework.glibc.partition(".")[2])
    platforms = []
    for glibc in range(newest, OLDEST_GLIBC - 1, -1):
        platforms.append(f"manylinux_2_{glibc}_x86_64")
        if glibc in OTHER_NAMES:
            platforms.append(f"{OTHER_NAMES[glibc]}_x86_64")
    platforms.append("linux_x86_64")
    abi = f"cp{major}{minor}"
    return [
        *cpython_tags((major, minor), [abi], platforms),
        *compatible_tags((major, minor), abi, platforms),
    ]


def best_file(package: Mapping[str, Any], tags: Iterable[Tag]) -> Mapping[str, Any]:
    """Return the wheel of a package in pylock.toml that fits best, else its source archive.

    Raises UsageError if it has neither.
    """
    wheels = [(each, parse_wheel_filename(name_of(each))) for each in package.get("wheels", ())]
    # As pip: the best tag, then the highest build tag.
    wheels.sort(key=lambda each: each[1][2], reverse=True)
    select = create_compatible_tags_selector(tags)
    for wheel in select((wheel, parsed[3]) for wheel, parsed in wheels):
        return dict(wheel)
    if "sdist" in package:
        return dict(package["sdist"])
    raise UsageError(
        f"{package['name']} {package.get('version', '')}: the index has no file for this Python",
        expected="a wheel that fits, or a source archive",
        fix="ask for another version",
    )


def name_of(file: Mapping[str, Any]) -> str:
    """Return the name of a file in pylock.toml."""
    keys = ("name", "url", "path")
    return PackageWheel(**{key: file.get(key) for key in keys}, hashes={}).filename


def pins_of(
    workspace: Workspace, packages: Sequence[Mapping[str, Any]], framework: Framework
) -> tuple[IndexPin, ...]:
    """Return the pins of the files that fit a framework best, of packages in a pylock.toml.

    Raises UsageError if one has no such file, IntegrityError if it has other bytes than listed.
    """
    tags = supported_tags(framework)
    files = {p["name"]: best_file(p, tags) for p in packages}
    requests = [IndexFile(p["name"], p["version"], name_of(files[p["name"]])) for p in packages]
    pins = pin_files(workspace, requests, threading.Event())
    for pin in pins:
        expected = files[pin.name].get("hashes", {}).get("sha256")
        if expected and expected != pin.sha256:
            raise IntegrityError(
                f"{pin.filename} has other bytes than the index said a moment ago",
                expected=f"sha256 {expected}",
                found=f"sha256 {pin.sha256}",
                fix="run it again; if it persists, the index is broken",
            )
    return pins
