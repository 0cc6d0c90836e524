"""What a variant asks for: packages, requirements, flags."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.core.workspace import Workspace
from stacks.variants.load import all_variants, load_variant
from stacks.variants.variant import ACCELERATOR, SCAN_FIX

FRAMEWORK = """\
summary: Theano {version}
module: theano
version: "{version}"
python: "3.9"
flags_variable: THEANO_FLAGS
rc_variable: THEANORC
base: [python 3.9.*, gxx]
packages: [numpy ==1.22.4, theano =={version}]
pip: [six==1.16.0, numpy==1.22.4, Theano=={version}]
"""
BLAS = "summary: {0}\npackage: lib{0}\nldflags: -l{0}\nlibraries: ['lib{0}.so*']\n"
BASE = "summary: base\npython_packages: pip\nblas: numpy\nbaseline: true\n"

Write = Callable[[str, str], None]


@pytest.fixture
def envs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "envs"


@pytest.fixture
def write(envs: Path) -> Write:
    def write(name: str, text: str) -> None:
        path = envs / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    write("frameworks/theano-2", FRAMEWORK.format(version="2") + "default: true\n")
    write("frameworks/theano-1", FRAMEWORK.format(version="1"))
    write("blas/openblas", BLAS.format("openblas") + "environment: {BLAS_VARIABLE: '1', X: blas}\n")
    write("blas/blis", BLAS.format("blis"))
    write("variants/base", BASE)
    return write


def test_a_pip_flavour_takes_its_packages_from_pip(
    workspace: Workspace, envs: Path, write: Write
) -> None:
    variant = load_variant(replace(workspace, root=envs.parent), "base", None)
    assert variant.id == "theano-2/base"
    assert variant.baseline
    assert variant.blas is None
    assert variant.conda_specs() == ("gxx", "python 3.9.*", "theano-settings=2=*_0_base")
    assert variant.pip_requirements() == ("six==1.16.0", "numpy==1.22.4", "Theano==2")


def test_the_accelerator_belongs_to_all_flavours_but_the_baseline(
    workspace: Workspace, envs: Path, write: Write
) -> None:
    own = replace(workspace, root=envs.parent)
    before = load_variant(own, "base", "theano-1").model_dump_json()
    write("frameworks/theano-1", FRAMEWORK.format(version="1") + "accelerator: [a, b]\n")
    write("variants/other", "summary: s\nextends: base\nbaseline: false\n")
    baseline, other = (load_variant(own, name, "theano-1") for name in ("base", "other"))
    assert (baseline.accelerator, other.accelerator) == ((), ("a", "b"))
    assert {"a", "b"} <= {*other.conda_specs()} and not {"a"} & {*baseline.conda_specs()}
    assert "accelerator" not in before, "locks of frameworks without it stay as they are"


@pytest.mark.parametrize(
    ("flavour", "framework", "names"),
    [
        ("openblas", "theano-1.0.5", (ACCELERATOR, SCAN_FIX)),
        ("pip-openblas", "theano-0.8.2", (ACCELERATOR, SCAN_FIX)),
        ("pip-default", "theano-1.0.5", ()),
        ("openblas", "pytensor-3.3.7", (SCAN_FIX,)),
        ("pip-default", "pytensor-3.3.7", ()),
        ("openblas", "theano-pymc-1.1.2", ()),
        ("openblas", "aesara-2.8.7", ()),
    ],
)
def test_accelerator_of_each_framework(
    workspace: Workspace, flavour: str, framework: str, names: tuple[str, ...]
) -> None:
    assert load_variant(workspace, flavour, framework).accelerator == names


def test_through_numpy_means_empty_flags_not_missing_ones(
    workspace: Workspace, envs: Path, write: Write
) -> None:
    assert load_variant(replace(workspace, root=envs.parent), "base", None).theano_flags() == {
        "floatX": "float64",
        "device": "cpu",
        "blas.ldflags": "",
    }


def test_a_conda_flavour_takes_all_from_conda(
    workspace: Workspace, envs: Path, write: Write
) -> None:
    write("variants/openblas", "summary: s\npython_packages: conda\nblas: openblas\n")
    variant = load_variant(replace(workspace, root=envs.parent), "openblas", "theano-1")
    assert variant.conda_specs() == (
        "blas-threads=*=*openblas",
        "gxx",
        "libblas=*=*openblas",
        "libopenblas",
        "numpy ==1.22.4",
        "python 3.9.*",
        "theano ==1",
        "theano-settings=1=*_0_openblas",
    )
    assert variant.pip_requirements() == ()
    assert variant.theano_flags()["blas.ldflags"] == "-lopenblas"
    assert variant.blas and variant.blas.name == "openblas"


def test_a_framework_that_spells_the_flag_of_amds_libm_in_its_own_way(workspace: Workspace) -> None:
    ours = load_variant(workspace, "mkl-amdlibm", "theano-pymc-1.1.2")
    assert ours.theano_flags()["lib.amblibm"] == "True"
    assert "lib.amdlibm" not in ours.theano_flags()
    assert '"amdlibm_flag":"lib.amblibm"' in ours.model_dump_json()
    # Nothing of it is in what other frameworks' locks follow from.
    theanos = load_variant(workspace, "mkl-amdlibm", "theano-1.0.5")
    assert theanos.theano_flags()["lib.amdlibm"] == "True"
    assert "amdlibm_flag" not in theanos.model_dump_json()


def test_numpy_of_a_conda_flavour_asks_for_the_libblas_of_its_blas(
    workspace: Workspace, envs: Path, write: Write
) -> None:
    write("frameworks/theano-2", FRAMEWORK.format(version="2") + "default: true\n")
    write("variants/blis", "summary: s\npython_packages: conda\nblas: blis\n")
    write("variants/pip-blis", "summary: s\nextends: base\nblas: blis\n")
    assert {"libblis", "libblas=*=*blis"} <= set(
        load_variant(replace(workspace, root=envs.parent), "blis", None).conda_specs()
    )
    assert (
        "libblas=*=*blis"
        not in load_variant(replace(workspace, root=envs.parent), "pip-blis", None).conda_specs()
    )


def test_every_conda_flavour_has_one_blas_and_no_other(workspace: Workspace) -> None:
    for variant in all_variants(workspace):
        assert variant.one_blas == (variant.python_packages == "conda"), variant.id
