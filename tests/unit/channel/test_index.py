from __future__ import annotations

import hashlib
import json

import zstandard

from stacks.channel.index import IndexEntry, index_files, listed_digests
from stacks.channel.locked_package import Digests
from stacks.channel.offers import read_channel
from stacks.core.workspace import default_workspace
from stacks.locks.solution import locked_package


def entries() -> list[IndexEntry]:
    offers = read_channel(default_workspace()).offers.values()
    chosen = [o for o in offers if o.recipe.package.name in ("six", "libopenblas")]
    return [
        IndexEntry(locked_package(offer, Digests("a" * 64, "b" * 32, 1000 + n)), offer.index, offer)
        for n, offer in enumerate(chosen)
    ]


def test_the_index_has_each_package_as_clients_read_it() -> None:
    files = index_files(entries())
    assert sorted(files) == [
        f"{subdir}/repodata.json{end}" for subdir in ("linux-64", "noarch") for end in ("", ".zst")
    ]
    repodata = json.loads(files["noarch/repodata.json"])
    assert repodata["info"] == {"subdir": "noarch"} and repodata["packages"] == {}
    [(name, six)] = repodata["packages.conda"].items()
    assert name == f"six-{six['version']}-{six['build']}.conda"
    assert six["sha256"] == "a" * 64 and six["md5"] == "b" * 32 and six["size"] in (1000, 1001)
    assert six["noarch"] == "python" and six["license"] == "MIT"
    for path, data in files.items():
        if path.endswith(".zst"):
            plain = zstandard.ZstdDecompressor().decompress(data)
            assert plain == files[path.removesuffix(".zst")]


def test_the_order_of_the_entries_does_not_matter() -> None:
    assert index_files(entries()) == index_files(reversed(entries()))


def test_the_list_has_the_digest_of_each_file() -> None:
    files = index_files(entries())
    lines = listed_digests(entries(), files, {"sources/a.dsc": "c" * 64}).splitlines()
    assert len(lines) == 7 and lines[-1] == "c" * 64 + "  sources/a.dsc"
    assert [line[66:] for line in lines] == sorted(line[66:] for line in lines)
    digest = hashlib.sha256(files["noarch/repodata.json.zst"]).hexdigest()
    assert f"{digest}  noarch/repodata.json.zst" in lines
    assert sum(line.startswith("a" * 64 + "  ") for line in lines) == 2
