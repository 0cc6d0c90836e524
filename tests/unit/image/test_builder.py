from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from stacks.core.disk import fixed_umask
from stacks.core.workspace import Workspace
from stacks.image import base, builder, layout
from stacks.locks import lock
from stacks.sources.pins import read_pins
from stacks.sources.vendored import VARIABLE, vendored_folder
from stacks.variants.load import on_framework
from stacks.variants.variant import Variant


def test_the_tools_have_python_and_pip_and_nothing_to_compute_with(workspace: Workspace) -> None:
    framework = builder.read_builder_file(workspace).framework
    variant = on_framework(workspace, framework)[0]
    whole = lock.read(workspace, variant, read_pins(workspace.sources_lock))
    names = {package.name for package in builder.with_pip(whole).packages}
    assert names == {"pip", "python", "setuptools", "wheel"}
    assert builder.with_pip(whole).requirements == ()


def test_the_program_without_a_c_library_is_pinned(workspace: Workspace) -> None:
    assert builder.static_pin(workspace).name == "busybox-static"


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
