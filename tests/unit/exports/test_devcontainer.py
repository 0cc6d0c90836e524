from __future__ import annotations

import json

from stacks.exports import devcontainer
from unit.exports.conftest import NASTY, MakeSubject


def test_the_image_with_the_code_in_its_work_folder(subject: MakeSubject) -> None:
    files = devcontainer.export(subject("mkl", summary=NASTY)).files
    assert [*files] == [".devcontainer/devcontainer.json", ".devcontainer/Dockerfile"]
    assert "FROM theano-mkl:1.0.5 AS theano\n" in files[".devcontainer/Dockerfile"]
    content = json.loads(files[".devcontainer/devcontainer.json"])
    assert content["name"] == "theano-1.0.5-mkl"
    assert content["build"] == {"dockerfile": "Dockerfile"}
    assert content["workspaceMount"] == "source=${localWorkspaceFolder},target=/work,type=bind"
    assert (content["workspaceFolder"], content["remoteUser"]) == ("/work", "theano")
    assert "runArgs" not in content


def test_a_gpu_is_requested_where_the_variant_computes_on_one(subject: MakeSubject) -> None:
    files = devcontainer.export(subject("gpuarray-cuda")).files
    content = json.loads(files[".devcontainer/devcontainer.json"])
    assert content["runArgs"] == ["--gpus", "all"]
    assert content["hostRequirements"] == {"gpu": True}
