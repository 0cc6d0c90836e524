"""What is exported for containers is run: the dev container, and compose's user."""

import io
import shutil
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from integration.bare_machine import packed_root
from integration.engines import PASSES, Build, import_root, small_variant
from stacks.core.workspace import Workspace
from stacks.exports import forms
from stacks.exports.packages import subject_of
from stacks.image.engine import Engine
from stacks.image.metadata import config_of
from stacks.variants.load import load_variant

pytestmark = pytest.mark.usefixtures("tidied")

BUILT = "theano-small-test-dev:1"


def test_an_editors_server_git_and_ps_start_in_the_dev_container(
    workspace: Workspace, small: Build, engine: Engine, tmp_path: Path
) -> None:
    node = shutil.which("node")
    if not node:
        pytest.skip("no node, which is what an editor starts in a dev container")
    # Debian's packages stand for the base, the image of that name.
    ours = not engine.image_id(forms.BASE)
    if ours:
        import_root(engine, packed_root(packages="git,procps"), forms.BASE)
    small(PASSES)
    subject = subject_of(workspace, load_variant(workspace, "openblas", "theano-1.0.5"))
    subject = replace(subject, image=config_of(workspace, small_variant(workspace)))
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
