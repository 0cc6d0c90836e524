"""The addresses of Debian's archive that a machine, or a wheel, already carries.

All is read as data: nothing is imported or run.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from stacks.core.errors import FetchError, IntegrityError
from stacks.sources.mirrors import valid_url

APT = Path("/etc/apt")
DISTRIBUTION = Path("/etc/os-release")
TEMPLATE = Path("/usr/share/python-apt/templates/Debian.info")
DEBOOTSTRAP = Path("/usr/sbin/debootstrap")
# The script of a suite that has ended names the archive of ended releases.
DEBOOTSTRAP_SCRIPTS = Path("/usr/share/debootstrap/scripts")
ENDED_SUITES = ("stretch", "wheezy", "squeeze", "lenny")
# Bytes; debops 3.3.2 has 31 kB of settings.
LARGEST_SETTINGS = 1 << 20
_POCKET = r"(-updates|-backports(-sloppy)?|-proposed-updates)?"
_SUITES = re.compile(f"(buster|bullseye|bookworm|trixie|forky|duke|sid){_POCKET}")
# Other archives have suites of these names too, some below a folder `debian`: an address says
# nothing on another distribution, whose own apt takes none of Debian's.
_CLASSES = re.compile(f"(unstable|testing|(old)*stable){_POCKET}")
_COMMENT = re.compile(r"(^|\s)#.*")
_ROOT = re.compile(r"https?://[^\s/\"'{}$]+(/[^\s/\"'{}$]+)*/debian/?")


@dataclass(frozen=True)
class Addresses:
    """Roots of Debian's archive: of the suites that are maintained, and of those that ended."""

    current: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()


def apt_sources() -> Addresses:
    """Return the roots that the host's apt takes Debian's main component from."""
    files = [APT / "sources.list", *sorted((APT / "sources.list.d").glob("*.list"))]
    entries = [entry for file in files for entry in _one_line_entries(_text(file))]
    for file in sorted((APT / "sources.list.d").glob("*.sources")):
        entries += _deb822_entries(_text(file))
    return Addresses(
        tuple(
            valid_url(uri, "apt's sources")
            for uri, suites, components in entries
            if re.match(r"https?://|file:", uri)
            and not uri.rstrip("/").endswith(("/ubuntu", "-ports", "-security"))
            and any(_is_debians(uri, suite) for suite in suites)
            and "main" in components
        )
    )


def _is_debians(uri: str, suite: str) -> bool:
    on_debian = re.search(r"(?m)^ID=debian$", _text(DISTRIBUTION))
    is_named = uri.startswith("file:") or (uri.rstrip("/").endswith("/debian") and on_debian)
    return bool(_SUITES.fullmatch(suite) or (is_named and _CLASSES.fullmatch(suite)))


def apt_template() -> Addresses:
    """Return the root of python-apt's template for Debian, which Debian's relatives have too."""
    uris = re.findall(r"^BaseURI: *(\S+)$", _text(TEMPLATE), re.MULTILINE)
    return Addresses(current=_roots(uris))


def debootstrap() -> Addresses:
    """Return the roots of debootstrap and its scripts, which most distributions have."""
    scripts = DEBOOTSTRAP_SCRIPTS
    current = re.findall(r'^DEF_MIRROR="?([^"\s]+)', _text(DEBOOTSTRAP), re.MULTILINE)
    current += _default_mirrors([scripts / "sid"])
    return Addresses(_roots(current), _roots(_default_mirrors(scripts / s for s in ENDED_SUITES)))


def _default_mirrors(scripts: Iterable[Path]) -> list[str]:
    texts = map(_text, scripts)
    return [url for text in texts for url in re.findall(r"^default_mirror +(\S+)", text, re.M)]


def wheel_addresses(wheel: Path) -> Addresses:
    """Return the roots in the settings of debops' apt role.

    Raises IntegrityError if they are not where debops 3.3.2 has them.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            [name] = [n for n in archive.namelist() if n.endswith("/roles/apt/defaults/main.yml")]
            with archive.open(name) as file:
                text = file.read(LARGEST_SETTINGS + 1)
        if len(text) > LARGEST_SETTINGS:
            raise ValueError(f"more than {LARGEST_SETTINGS} bytes")
        settings: Any = yaml.safe_load(text)
        current = [settings["apt__distribution_repository_map"]["Debian"]]
        sources = settings["apt__debian_sources"]
        ended = [
            source["uri"]
            for source in sources
            if source["name"] == "debian-release"
            and "in apt__debian_archived_releases" in source.get("state", "")
            and "uri" in source
        ]
        return Addresses(_roots(current), _roots(ended))
    except (zipfile.BadZipFile, yaml.YAMLError, LookupError, TypeError, ValueError) as error:
        raise IntegrityError(
            f"{wheel.name}: its addresses of Debian's archive cannot be read",
            expected="the settings of the apt role of debops",
            found=str(error),
            fix="./invoke configure --debian-mirror <the address of a mirror>",
        ) from error


def _roots(urls: Iterable[str]) -> tuple[str, ...]:
    """Return the URLs that are roots of Debian's archive, each once."""
    roots = (url.rstrip("/") for url in urls if _ROOT.fullmatch(url) and _parsed(url))
    return tuple(dict.fromkeys(roots))


def _parsed(url: str) -> bool:
    try:
        return bool(valid_url(url, ""))
    except FetchError:
        return False


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


_Entry = tuple[str, list[str], list[str]]


def _one_line_entries(text: str) -> Iterator[_Entry]:
    """Read `deb [options] uri suite component...` lines."""
    for line in text.splitlines():
        words = re.sub(r"\[.*?\]", " ", _COMMENT.sub("", line)).split()
        if len(words) > 3 and words[0] == "deb":
            yield words[1], [words[2]], words[3:]


def _deb822_entries(text: str) -> Iterator[_Entry]:
    """Read stanzas of `Key: values`, continued by indented lines."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for stanza in re.split(r"\n\s*\n", "\n".join(lines)):
        fields: dict[str, list[str]] = {}
        key = ""
        for line in stanza.splitlines():
            if not line[:1].isspace():
                key, _, line = line.partition(":")
                key = key.strip().lower()
            fields.setdefault(key, []).extend(line.split())
        enabled = "".join(fields.get("enabled", [])).lower() not in ("no", "false", "0", "off")
        if enabled and "deb" in fields.get("types", []):
            for uri in fields.get("uris", []):
                yield uri, fields.get("suites", []), fields.get("components", [])
