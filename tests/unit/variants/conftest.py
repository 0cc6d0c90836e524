from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant
from unit.helpers.environments import add

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
FILES = {
    "frameworks/theano-2": FRAMEWORK.format(version="2") + "default: true\n",
    "frameworks/theano-1": FRAMEWORK.format(version="1"),
    "blas/openblas": BLAS.format("openblas") + "environment: {BLAS_VARIABLE: '1', X: blas}\n",
    "blas/blis": BLAS.format("blis"),
    "variants/base": BASE,
}


@dataclass
class Envs:
    """The files of a checkout of two frameworks, two BLAS libraries and one flavour."""

    workspace: Workspace

    def write(self, **files: str) -> None:
        for name, text in files.items():
            add(self.workspace.envs, f"{name}.yaml", text)

    def load(self, name: str, framework: str | None = None) -> Variant:
        return load_variant(self.workspace, name, framework)

    def refused(self, name: str, framework: str | None = None) -> str:
        with pytest.raises(UsageError) as caught:
            self.load(name, framework)
        return str(caught.value)


@pytest.fixture
def envs(workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Envs:
    monkeypatch.chdir(tmp_path)
    envs = Envs(replace(workspace, root=tmp_path))
    envs.write(**FILES)
    return envs


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "my prøject"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder / "stack.yaml"
