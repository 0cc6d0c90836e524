from __future__ import annotations

import os

import yaml

from stacks.exports import compose
from unit.exports.conftest import NASTY, MakeSubject


def test_the_image_with_the_code_in_its_work_folder(subject: MakeSubject) -> None:
    [text] = compose.export(subject("mkl", "pytensor-3.3.7", summary=NASTY)).files.values()
    assert yaml.safe_load(text) == {
        "services": {
            "pytensor": {
                "image": "pytensor-mkl:3.3.7",
                "user": f"${{UID:-{os.getuid()}}}:${{GID:-{os.getgid()}}}",
                "working_dir": "/work",
                "volumes": [{"type": "bind", "source": ".", "target": "/work"}],
            }
        }
    }


def test_a_gpu_is_reserved_where_the_variant_computes_on_one(subject: MakeSubject) -> None:
    [text] = compose.export(subject("gpuarray-cuda")).files.values()
    service = yaml.safe_load(text)["services"]["theano"]
    [device] = service["deploy"]["resources"]["reservations"]["devices"]
    assert device == {"driver": "nvidia", "count": "all", "capabilities": ["gpu"]}
