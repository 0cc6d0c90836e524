from __future__ import annotations

import yaml

from stacks.exports import environment
from unit.exports.conftest import NASTY, MakeSubject


def test_each_package_by_version_and_build(subject: MakeSubject) -> None:
    mkl = subject("mkl", summary=NASTY)
    content = yaml.safe_load(environment.export(mkl).files["environment.yml"])
    assert content["name"] == "theano-1.0.5-mkl"
    assert content["channels"] == ["http://localhost:8420/theano-stacks", "nodefaults"]
    expected = [f"{p.name}={p.version}={p.build}" for p in mkl.lock.packages]
    assert content["dependencies"] == expected


def test_the_files_of_pip_have_hashes(subject: MakeSubject) -> None:
    pip = subject("pip-openblas")
    text = environment.export(pip).files["environment.yml"]
    packages = [d for d in yaml.safe_load(text)["dependencies"] if isinstance(d, str)]
    assert [p.partition("=")[0] for p in packages] == [p.name for p in pip.lock.packages]
    theano = pip.lock.requirements[-1]
    assert text.endswith(f"\n  - theano==1.0.5 --hash=sha256:{theano.sha256}\n")


def test_pip_builds_with_the_locked_tools(subject: MakeSubject) -> None:
    command = "PIP_NO_BUILD_ISOLATION=0 conda env create -f {to}"
    assert environment.export(subject("pip-openblas")).usage.endswith(command)
    assert "PIP_" not in environment.export(subject("mkl")).usage
