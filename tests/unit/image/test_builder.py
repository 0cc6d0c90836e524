from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import tarfile
from pathlib import Path

import pytest

from stacks.core.disk import fixed_umask
from stacks.core.errors import IntegrityError
from stacks.core.workspace import Workspace
from stacks.image import base, builder, layout
from stacks.locks import lock
from stacks.sources.vendored import VARIABLE, vendored_folder
from stacks.variants.load import on_framework
from stacks.variants.variant import Variant
from unit.helpers.archives import ar, member, tar


def test_the_tools_have_python_and_pip_and_nothing_to_compute_with(workspace: Workspace) -> None:
    framework = builder.read_builder_file(workspace).framework
    variant = on_framework(workspace, framework)[0]
    whole = lock.read(workspace, variant)
    names = {package.name for package in builder.with_pip(whole).packages}
    assert names == {"pip", "python", "setuptools", "wheel"}
    assert builder.with_pip(whole).requirements == ()


def test_the_program_without_a_c_library_is_pinned(workspace: Workspace) -> None:
    assert builder.static_pin(workspace).name == "busybox-static"


def test_another_program_than_the_dockerfiles_name_is_refused(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin, program = builder.static_pin(workspace), b"#!/bin/sh\n"
    content = builder.read_builder_file(workspace)
    body = tar(
        (member("./bin", tarfile.DIRTYPE, mode=0o755), b""), (member("./bin/busybox"), program)
    )
    package = tmp_path / pin.filename
    package.write_bytes(
        ar(
            ("debian-binary", b"2.0\n"),
            ("control.tar.xz", lzma.compress(tar((member("./control"), b"Package: x\n")))),
            ("data.tar.xz", lzma.compress(body)),
        )
    )
    monkeypatch.setattr(builder, "fetch", lambda *_: {pin: package})
    digest = hashlib.sha256(program).hexdigest()
    with pytest.raises(IntegrityError, match="has another busybox") as caught:
        builder._write_static(workspace, tmp_path / "busybox", tmp_path / "one")
    assert caught.value.expected == f"sha256 {content.sha256}"
    assert caught.value.found == f"sha256 {digest}"
    named = content.model_copy(update={"sha256": digest})
    monkeypatch.setattr(builder, "read_builder_file", lambda _: named)
    builder._write_static(workspace, tmp_path / "busybox", tmp_path / "other")
    assert (tmp_path / "busybox").stat().st_mode & 0o777 == 0o755


def test_layers_are_made_of_the_context_and_its_base(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a base"))
    folder = tmp_path / "channel" / builder.FOLDER
    folder.mkdir(parents=True)
    with gzip.open(folder / builder.BASE, "wb") as file:
        file.write(packed.getvalue())
    made: list[tuple[str, Path | None, Path | None]] = []

    def lay_out(_: Workspace, variant: Variant, target: Path) -> None:
        made.append((variant.id, target, vendored_folder()))

    monkeypatch.setattr(layout, "lay_out", lay_out)
    monkeypatch.setenv(VARIABLE, "")
    builder.main(workspace, ["openblas", "theano-0.8.2", str(tmp_path), str(tmp_path / "layers")])
    assert made == [("theano-0.8.2/openblas", tmp_path / "layers", tmp_path)]
    # Nothing is fetched for it.
    assert base.tar(workspace).read_bytes() == packed.getvalue()


def test_the_code_has_one_mode_whatever_the_checkouts_is(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    for name, mode in (("a.py", 0o444), ("b.py", 0o755), ("c.py", 0o600)):
        source.mkdir(exist_ok=True)
        (source / name).touch()
        (source / name).chmod(mode)
    with fixed_umask():
        builder._copy(source, target)
    assert [path.stat().st_mode & 0o777 for path in target.iterdir()] == [0o644] * 3
