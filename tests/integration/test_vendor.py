"""Drill: no network at all. A vendored folder and a copy of the checkout are all that there is."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.bare_machine import copy_checkout, run_without_network
from integration.tiny import Tiny, tree
from stacks.core.workspace import Workspace
from stacks.distribution import vendor
from stacks.sources.mirrors import VARIABLE
from stacks.variants.load import load_variant


@pytest.fixture(scope="module")
def vendored(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give a vendored folder of a pip flavour; it has packages, wheels and tools."""
    folder = tmp_path_factory.mktemp("vendored") / "carried"
    vendor.vendor(workspace, [load_variant(workspace, "pip-openblas", "theano-0.8.2")], folder)
    yield folder
    shutil.rmtree(folder)


def test_an_environment_is_built_and_verified_without_a_network(
    vendored: Path, tmp_path: Path
) -> None:
    checkout = copy_checkout(tmp_path / "checkout")
    build = "./invoke build --variant pip-openblas --framework theano-0.8.2"
    variables = {VARIABLE: str(vendored), "HOME": str(tmp_path), "PYTHON": sys.executable}
    done = run_without_network(build, checkout, variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pip-openblas on theano-0.8.2" in done.stdout
    assert "warning" not in done.stderr
    assert f"fetched from {vendored}/channel" in done.stderr
    done = run_without_network("./invoke docs --to pages", checkout, variables)
    assert done.returncode == 0 and (checkout / "pages/index.html").is_file(), done.stderr
    lock = "prepare_conda_lock(); import conda_lock.lockfile"
    code = f"from stacks.sources.condarc import prepare_conda_lock; {lock}"
    done = run_without_network(f".venv/bin/python -c '{code}'", checkout, variables)
    assert done.returncode == 0, done.stderr
    # A folder without the wheels, as an earlier version wrote it.
    empty = {**variables, VARIABLE: str(tmp_path)}
    shutil.rmtree(checkout / ".venv/docs")
    done = run_without_network("./invoke docs --to pages", checkout, empty)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "error: pip could not install requirements-docs.lock\n" in done.stderr
    assert "  found:    ERROR: Could not find a version" in done.stderr


def test_the_same_checkout_gives_the_same_folder_and_archive(
    tiny: Tiny, vendored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(vendored))
    variants = [tiny.variant("by-conda"), tiny.variant("by-pip")]
    for name, umask in (("one", 0o022), ("two", 0o077)):
        before = os.umask(umask)
        try:
            vendor.vendor(
                tiny.workspace,
                variants if name == "one" else variants[::-1],
                tmp_path / name / "carried",
                sources=True,
                archive=tmp_path / f"{name}.tar.zst",
            )
        finally:
            os.umask(before)
        vendor.check(tmp_path / name / "carried")
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
    assert (tmp_path / "one.tar.zst").read_bytes() == (tmp_path / "two.tar.zst").read_bytes()
    names = {path.name for path in (tmp_path / "one").rglob("*")}
    assert {"six-1.16.0-py2.py3-none-any.whl", "repodata.json.zst", "vendor.sha256"} <= names
    assert any(name.startswith("python2.7-minimal_") for name in names), "the sources"
    unpacked = tmp_path / "unpacked"
    unpacked.mkdir()
    subprocess.run(["tar", "-C", unpacked, "-xf", tmp_path / "one.tar.zst", "--zstd"], check=True)
    vendor.check(unpacked / "carried")
