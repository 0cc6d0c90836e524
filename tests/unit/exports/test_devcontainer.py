from __future__ import annotations

import json

from stacks.exports import devcontainer
from unit.exports.conftest import NASTY, MakeSubject


def test_the_image_with_the_code_in_its_work_folder(subject: MakeSubject) -> None:
    [(path, text)] = devcontainer.export(subject("mkl", summary=NASTY)).files.items()
    assert path == ".devcontainer/devcontainer.json"
    content = json.loads(text)
    assert content["name"] == "theano-1.0.5-mkl"
    assert content["image"] == "theano-mkl:1.0.5"
    assert content["workspaceMount"] == "source=${localWorkspaceFolder},target=/work,type=bind"
    assert (content["workspaceFolder"], content["remoteUser"]) == ("/work", "theano")
    assert "runArgs" not in content


def test_a_gpu_is_requested_where_the_variant_computes_on_one(subject: MakeSubject) -> None:
    [text] = devcontainer.export(subject("gpuarray-cuda")).files.values()
    content = json.loads(text)
    assert content["runArgs"] == ["--gpus", "all"]
    assert content["hostRequirements"] == {"gpu": True}
