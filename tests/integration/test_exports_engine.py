"""What is exported for containers is run: the dev container, and compose's user."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from integration.bare_machine import packed_root
from integration.engines import NAMES, PASSES, Build, import_root, small_variant
from stacks.core.workspace import Workspace
from stacks.exports import forms
from stacks.exports.packages import Subject, subject_of
from stacks.image.engine import CONFINED, Engine
from stacks.image.metadata import config_of
from stacks.variants.load import load_variant

pytestmark = pytest.mark.usefixtures("tidied")

BUILT = "theano-small-test-dev:1"


@pytest.fixture
def subject(workspace: Workspace, small: Build) -> Subject:
    """Give what the forms of the small image are written from."""
    small(PASSES)
    one = subject_of(workspace, load_variant(workspace, "openblas", "theano-1.0.5"))
    return replace(one, image=config_of(workspace, small_variant(workspace)))


def test_an_editors_server_git_and_ps_start_in_the_dev_container(
    subject: Subject, engine: Engine, tmp_path: Path
) -> None:
    node = shutil.which("node")
    if not node:
        pytest.skip("no node, which is what an editor starts in a dev container")
    # Debian's packages stand for the base, the image of that name.
    ours = not engine.image_id(forms.BASE)
    if ours:
        import_root(engine, packed_root(packages="git,procps"), forms.BASE)
    forms.write(forms.as_devcontainer(subject), tmp_path)
    folder = str(tmp_path / ".devcontainer")
    engine.client.images.build(path=folder, tag=BUILT, network_mode="none", rm=True)
    # As an editor brings it: into the home folder.
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(Path(node).resolve(), "node")
    script = "~/node -p '6 * 7' && git --version && ps -A && cat /opt/theano/share/packages; id -gn"
    container = engine.client.containers.create(
        BUILT, ["sh", "-c", script], user="theano", working_dir="/work", network_mode="none"
    )
    try:
        container.put_archive("/home/theano", packed.getvalue())
        container.start()
        assert container.wait()["StatusCode"] == 0, container.logs()
        output = container.logs().decode()
        # What an editor's features need.
        script = "command -v ldconfig && echo $HOME"
        root = engine.client.containers.run(
            BUILT, ["sh", "-c", script], user="root", network_mode="none", remove=True
        )
    finally:
        container.remove(force=True)
        for name in (BUILT, *[forms.BASE] * ours):
            engine.remove_name(name)
    # A group of the user's own: the editor gives it another number, which root's must not get.
    assert output.startswith("42\ngit version ") and output.endswith("packages\ntheano\n")
    assert root.decode().splitlines() == ["/usr/sbin/ldconfig", "/root"]


def test_composes_container_writes_into_the_folder_of_a_user(
    subject: Subject, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    monkeypatch.setattr(os, "getgid", lambda: 1000)
    (tmp_path / "results").mkdir(mode=0o755)
    os.chown(tmp_path / "results", 1000, 1000)
    [text] = forms.as_compose(subject).files.values()
    service = yaml.safe_load(text)["services"]["theano"]
    engine.client.containers.run(
        NAMES[0],
        ["touch", f"{service['working_dir']}/result"],
        entrypoint=["env"],
        user=service["user"].removeprefix("${RUN_AS:-").removesuffix("}"),
        volumes={str(tmp_path / "results"): {"bind": service["volumes"][0]["target"]}},
        remove=True,
        **CONFINED,
    )
    assert (tmp_path / "results/result").stat().st_uid == 1000
