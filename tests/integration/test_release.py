"""A release with a channel: what is in its folder, and the same bytes a second time."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from invoke.context import Context

from integration.bare_machine import copy_checkout
from integration.programs import called
from integration.tiny import Tiny, tree
from stacks.core import records
from stacks.core.workspace import VERSION, Workspace
from stacks.distribution import release
from stacks.distribution.release import DIGESTS
from stacks.tasks import channel as tasks

# The packages of the small framework's locks, without their versions and builds.
PACKAGES = {"python", "pip", "setuptools", "wheel", "six"}


@pytest.mark.usefixtures("publishable")
def test_a_release_with_its_channel(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout = copy_checkout(tmp_path / "checkout")
    shutil.rmtree(checkout / "envs")
    shutil.copytree(tiny.envs, checkout / "envs")
    monkeypatch.setattr(tasks, "default_workspace", lambda: Workspace(checkout, tiny.cache))
    folders = [tmp_path / "first", tmp_path / "a second, é"]
    for folder, umask in zip(folders, (0o022, 0o077), strict=True):
        before = os.umask(umask)
        try:
            tasks.release.body(Context(), to=str(folder), channel=True)
        finally:
            os.umask(before)
    assert tree(folders[0]) == tree(folders[1])

    files = records.files_of(folders[0])
    assert {name for name in files if "/" not in name} == {
        DIGESTS, "blas-verify.pyz", release.SUITE_WHEEL, f"theano_stacks-{VERSION}-py3-none-any.whl"
    }  # fmt: skip
    published = {Path(name).name for name in files if name.endswith(".conda")}
    assert {re.sub(r"-[^-]+-[^-]+$", "", name) for name in published} >= PACKAGES
    for subdir in ("linux-64", "noarch"):
        assert f"channel/{subdir}/repodata.json.zst" in files
    assert any(name.startswith("channel/sources/") for name in files), "of copyleft packages"

    listed = records.parse_digests((folders[0] / DIGESTS).read_text())
    assert listed.keys() == files.keys() - {DIGESTS}
    command = re.findall(r"^next: (.*)$", capsys.readouterr().out, re.M)[-1]
    words = ["sh", "-ec", command]
    done = called(words, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.count(": OK\n") == len(listed), done.stderr
