from __future__ import annotations

import json
from dataclasses import replace

from stacks.exports import kernelspec
from unit.exports.conftest import NASTY, MakeSubject

PLACE = "/checkout/build/prefixes/theano-1.0.5/mkl"


def test_the_kernel_of_the_environment(subject: MakeSubject) -> None:
    mkl = subject("mkl", summary=NASTY)
    content = json.loads(kernelspec.export(mkl).files["kernel.json"])
    started = [f"{PLACE}/bin/python", f"{PLACE}.kernel/start.py"]
    assert content["argv"] == [*started, "-f", "{connection_file}"]
    assert content["display_name"] == "mkl on theano-1.0.5"
    assert content["env"].items() >= {"CONDA_PREFIX": PLACE, "PYTHONHOME": ""}.items()


def test_a_locked_ipykernel_is_used(subject: MakeSubject) -> None:
    mkl = subject("mkl")
    pin = replace(subject("pip-default").lock.requirements[0], name="ipykernel")
    own = replace(mkl, lock=replace(mkl.lock, requirements=(pin,)))
    content = json.loads(kernelspec.export(own).files["kernel.json"])
    assert content["argv"][:3] == [f"{PLACE}/bin/python", "-m", "ipykernel_launcher"]
