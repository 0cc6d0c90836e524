from __future__ import annotations

import pytest

from stacks.core.disk import REPOSITORY
from stacks.core.errors import UsageError
from stacks.exports import requirements
from unit.exports.conftest import MakeSubject


def test_the_committed_file(subject: MakeSubject) -> None:
    committed = REPOSITORY / "envs/locks/theano-0.8.2/pip-default/requirements.txt"
    export = requirements.export(subject("pip-default", "theano-0.8.2"))
    settings = export.files["theanorc"]
    assert export.files == {"requirements.txt": committed.read_text(), "theanorc": settings}
    # The baseline's own; the compiler and the compile folder are those of the machine.
    assert settings.splitlines()[1:] == [
        "[blas]",
        "ldflags = ",
        "",
        "[global]",
        "device = cpu",
        "floatX = float64",
    ]
    assert export.usage.startswith("python2.7 -m pip install --require-hashes ")
    assert export.usage.endswith(" && THEANORC={to}/theanorc python2.7 train.py")


@pytest.mark.parametrize(
    ("name", "packages"),
    [
        # It would give the slow path.
        ("pip-openblas", "blas-threads, libopenblas"),
        ("openblas", "blas-threads, libblas, libopenblas, numpy, scipy, six, theano"),
    ],
)
def test_conda_packages_are_refused(name: str, packages: str, subject: MakeSubject) -> None:
    with pytest.raises(UsageError) as caught:
        requirements.export(subject(name))
    assert str(caught.value.found) == (
        f"{packages}: conda packages, which the Python package index lacks"
    )
    assert caught.value.fix == "--as environment has all of it"
