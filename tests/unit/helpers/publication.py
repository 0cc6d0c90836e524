"""A small publication: two of the channel's packages with bytes of the test's own, and a source."""

from __future__ import annotations

import hashlib
from pathlib import Path

from stacks.channel.locked_package import Digests
from stacks.channel.offers import IndexEntry, index_files, listed_digests, read_channel
from stacks.locks.solution import Publication, locked_package, source_path
from stacks.sources.pins import DebPin
from unit.helpers.checkout import CHECKOUT
from unit.helpers.serving import deb

SOURCE = b"a source archive"


def body(name: str) -> bytes:
    return f"the package {name}".encode() * 1000


def entry(name: str) -> IndexEntry:
    """Return an entry of the package of a name, with bytes that are made of its name."""
    [offer] = [o for o in read_channel(CHECKOUT).offers.values() if o.recipe.package.name == name]
    data = body(name)
    md5 = hashlib.md5(data, usedforsecurity=False).hexdigest()
    digests = Digests(hashlib.sha256(data).hexdigest(), md5, len(data))
    return IndexEntry(locked_package(offer, digests), offer.index, offer)


def publication(pin: DebPin | None = None) -> Publication:
    """Return a publication with one source file, by default one of SOURCE."""
    entries = (entry("libopenblas"), entry("six"))
    pin = pin or deb(SOURCE)
    files = index_files(entries)
    digests = listed_digests(entries, files, {source_path(pin): pin.sha256})
    return Publication(entries, (entry("mkl"), entry("libcublas")), (pin,), files, digests)


def write_packages(found: Publication, folder: Path) -> dict[str, Path]:
    """Write the files of packages and sources as a cache has them; return them by path."""
    folder.mkdir()
    paths = {}
    for each in found.entries:
        path = folder / each.package.file_name
        path.write_bytes(body(each.package.name))
        path.chmod(0o444)
        paths[each.path] = path
    for pin in found.sources:
        (folder / pin.filename).write_bytes(SOURCE)
        paths[source_path(pin)] = folder / pin.filename
    return paths
