from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.channel.offers import Channel, read_channel
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.locks import publication as module
from stacks.locks.publication import DIGESTS, are_current, publication, write_digests
from unit.helpers.checkout import CHECKOUT
from unit.helpers.publication import entry

SCRIPT = """\
from pathlib import Path
from stacks.channel.offers import read_channel
from stacks.core.workspace import Workspace
from stacks.locks.publication import publication
from stacks.variants.load import all_variants
workspace = Workspace(Path({root!r}), Path("/dev/null/cache"))
print(publication(workspace, read_channel(workspace), all_variants(workspace)).digests)
"""


@pytest.fixture
def channel(monkeypatch: pytest.MonkeyPatch) -> Channel:
    """Give the channel, of whose packages the locks have four."""
    locked = tuple(map(entry, ("libcublas", "libopenblas", "mkl", "six")))
    monkeypatch.setattr(module, "entries_of", lambda *_: locked)
    return read_channel(CHECKOUT)


def test_only_what_may_be_republished_is_in_the_index(channel: Channel) -> None:
    found = publication(CHECKOUT, channel, [])
    names = [one.package.name for one in found.entries]
    left_out = [one.package.name for one in found.left_out]
    assert (names, left_out) == (["libopenblas", "six"], ["libcublas", "mkl"])
    index = b"".join(found.files.values())
    assert b'"libopenblas-' in index and b'"mkl-' not in index and b'"libcublas-' not in index
    assert "/mkl-" not in found.digests
    for path, data in found.files.items():
        assert f"{hashlib.sha256(data).hexdigest()}  {path}\n" in found.digests


def test_what_is_included_on_request(channel: Channel) -> None:
    found = publication(CHECKOUT, channel, [], {"mkl", "libcublas"})
    assert [one.package.name for one in found.left_out] == ["libcublas"]
    assert "/mkl-" in found.digests


def test_the_committed_list_is_written_and_compared(channel: Channel, tmp_path: Path) -> None:
    own = Workspace(tmp_path, tmp_path / "cache")
    own.locks.mkdir(parents=True)
    found = publication(CHECKOUT, channel, [])
    assert not are_current(own, found)
    write_digests(own, found)
    assert are_current(own, found)
    assert (own.locks / DIGESTS).read_text() == found.digests
    (own.locks / DIGESTS).write_bytes(b"\xff")
    assert not are_current(own, found)


def test_the_list_is_the_same_whatever_the_machine_is(tmp_path: Path) -> None:
    lists = set()
    for number, (locale, zone, umask) in enumerate((("C", "UTC", 0o022), ("C.UTF-8", "X-9", 0o77))):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT.format(root=str(REPOSITORY))],
            cwd=tmp_path,
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(REPOSITORY),
                "LC_ALL": locale,
                "TZ": zone,
                "PYTHONHASHSEED": str(number),
            },
            umask=umask,
            capture_output=True,
            text=True,
            check=True,
        )
        lists.add(done.stdout)
    [text] = lists
    assert text.count(".conda\n") > 40
