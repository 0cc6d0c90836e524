from __future__ import annotations

import io
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.core.errors import IntegrityError
from stacks.core.reproducible import EPOCH
from stacks.image import entries as image_entries
from stacks.image import normalised
from stacks.image.entries import Entry


@pytest.fixture
def entries(tmp_path: Path) -> dict[str, Entry]:
    """Give what is in the archive of a small folder."""
    root = tmp_path / "root"
    (root / "bin").mkdir(parents=True)
    (root / "bin/tool").write_text("#!/bin/sh\n")
    (root / "bin/tool").chmod(0o755)
    (root / "sbin").symlink_to("bin")
    normalised.normalise(root)
    out = io.BytesIO()
    normalised.write(root, out)
    out.seek(0)
    return dict(image_entries.read_entries(out))


def test_what_an_archive_has(entries: dict[str, Entry]) -> None:
    digest = "a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf"
    assert entries == {
        "bin": Entry("folder", 0o755, "0:0", 0, ""),
        "bin/tool": Entry("file", 0o755, "0:0", EPOCH, digest),
        "sbin": Entry("link", 0o777, "0:0", EPOCH, "bin"),
    }


def test_names_as_engines_write_them() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as made:
        folder = tarfile.TarInfo("./opt/")
        folder.type = tarfile.DIRTYPE
        made.addfile(folder)
        made.addfile(tarfile.TarInfo("./opt/file"))
    out.seek(0)
    assert [name for name, _ in image_entries.read_entries(out)] == ["opt", "opt/file"]


def test_an_image_that_has_more_is_as_expected(entries: dict[str, Entry]) -> None:
    more = Entry("file", 0o644, "0:0", 1, "of the base")
    image_entries.check_entries(
        entries, [*entries.items(), ("etc/issue", more)], "theano-mkl:1.0.5"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"content": "0" * 64}, f"bin/tool: its content is {'0' * 64}, not a8076d3d"),
        ({"mode": 0o4755}, "bin/tool: its mode is 0o4755, not 0o755"),
        ({"owner": "10001:0"}, "bin/tool: its owner is 10001:0, not 0:0"),
        ({"time": 7}, f"bin/tool: its time is 7, not {EPOCH}"),
        ({"kind": "link", "content": "busybox"}, "bin/tool: its kind is link, not file"),
    ],
)
def test_what_is_not_as_expected(
    entries: dict[str, Entry], change: dict[str, object], message: str
) -> None:
    found = {**entries, "bin/tool": replace(entries["bin/tool"], **change)}  # type: ignore[arg-type]
    with pytest.raises(IntegrityError) as caught:
        image_entries.check_entries(entries, found.items(), "theano-mkl:1.0.5")
    assert caught.value.what.startswith("1 files of theano-mkl:1.0.5 differ from the layers")
    assert str(caught.value.found).startswith(message)


def test_what_is_missing(entries: dict[str, Entry]) -> None:
    with pytest.raises(IntegrityError) as caught:
        image_entries.check_entries(entries, [("bin", entries["bin"])], "theano-mkl:1.0.5")
    assert caught.value.found == "bin/tool: missing; sbin: missing"
