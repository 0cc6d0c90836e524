from __future__ import annotations

import pytest

from stacks.core.disk import REPOSITORY
from stacks.core.errors import UsageError
from stacks.exports import conda_lock
from unit.exports.conftest import MakeSubject


def test_the_committed_lock(subject: MakeSubject) -> None:
    committed = REPOSITORY / "envs/locks/theano-1.0.5/mkl/conda-lock.yml"
    export = conda_lock.export(subject("mkl"))
    assert export.files == {"conda-lock.yml": committed.read_text()}
    command = "conda-lock install -n theano-1.0.5-mkl {to}"
    assert export.usage == f"while `./invoke serve` runs: {command}"


def test_what_pip_installs_is_refused(subject: MakeSubject) -> None:
    with pytest.raises(UsageError) as caught:
        conda_lock.export(subject("pip-openblas"))
    assert str(caught.value).splitlines() == [
        "theano-1.0.5/pip-openblas is not available as conda-lock",
        "  found:    pip installs numpy, scipy, six, theano, and an entry of pip in a "
        "conda-lock.yml needs an address of the package index",
        "  fix:      --as environment has all of it",
    ]
