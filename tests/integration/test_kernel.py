"""Kernels of environments in a real Jupyter, whose nbclient runs a notebook."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from integration.conftest import Prefix
from integration.tiny import tree
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.environments.make import build
from stacks.environments.use import kernel
from stacks.exports.forms import export, write
from stacks.exports.packages import subject_of
from stacks.sources.pins import read_pins
from stacks.variants.load import load_variant

REQUIREMENTS = Path(__file__).with_name("jupyter.lock")
PROGRAM = """\
import sys, {module}, {module}.tensor as tt
x = tt.matrix("x")
f = {module}.function([x], tt.dot(x, x).sum())
print("%s %s" % (f([[1, 2], [3, 4]]), {module}.config.blas{dot}ldflags))
print({module}.config.compiledir)
print("%s %s" % (sys.prefix, {module}.__version__))
"""
# Runs in Jupyter's own Python; shows the types of pictures, and the last cell's text.
RUN = """\
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], 4)
NotebookClient(notebook, timeout=240, kernel_name=sys.argv[2]).execute()
for cell in notebook.cells:
    for output in cell.get("outputs", ()):
        print(*[kind for kind in output.get("data", ()) if kind == "image/png"], end="")
print()
print(notebook.cells[-1].outputs[0]["text"], end="")
"""


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the Python of a venv with Jupyter, which is no environment of ours."""
    python = tmp_path_factory.mktemp("jupyter") / "venv/bin/python"
    subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True)
    rules = ["--require-hashes", "--no-deps", "--only-binary", ":all:", "--quiet"]
    pip = [str(python), "-I", "-m", "pip", "--disable-pip-version-check", "install", *rules]
    subprocess.run([*pip, "-r", str(REQUIREMENTS)], check=True)
    return python


def notebook(program: str) -> str:
    cell: dict[str, Any] = {"cell_type": "code", "id": "a", "execution_count": None, "metadata": {}}
    cells = [{**cell, "outputs": [], "source": program}]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


Install = Callable[..., str]


@pytest.fixture
def install(workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Give the function that installs the kernel of a variant for Jupyter; it returns its name."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))

    def run(flavour: str, framework: str | None = None) -> str:
        variant = load_variant(workspace, flavour, framework)
        place, pins = build.make_environment(workspace, variant), read_pins(workspace.sources_lock)
        kernels, name = kernel.kernels_below(None), kernel.default_name(variant)
        return kernel.install(workspace, variant, place, pins, name=name, kernels=kernels).name

    return run


def executed(jupyter: Path, file: Path, name: str) -> list[str]:
    """Run a notebook with a kernel; return the types of its pictures and the last text, by line."""
    words: list[str | Path] = [jupyter, "-c", RUN, file, name]
    return subprocess.check_output(words, text=True, cwd=file.parent).splitlines()


@pytest.mark.parametrize(
    ("framework", "module"),
    [("theano-0.8.2", "theano"), ("theano-1.0.5", "theano"), ("pytensor-3.3.7", "pytensor")],
)
def test_a_notebook(
    framework: str,
    module: str,
    install: Install,
    workspace: Workspace,
    prefix: Prefix,
    jupyter: Path,
    tmp_path: Path,
) -> None:
    place, source = prefix(framework, "openblas"), tmp_path / "a.ipynb"
    name = install("openblas", framework)
    program = PROGRAM.format(module=module, dot="__" if module == "pytensor" else ".")
    source.write_text(notebook(program))
    before = tree(place)
    version = framework.rpartition("-")[2]
    subject = subject_of(workspace, load_variant(workspace, "openblas", framework))
    write(export(subject, "kernelspec"), kernel.kernels_below(None) / "exported/kernel.json")
    for each in (name, "exported"):
        _, answer, compiled, place_and_version = executed(jupyter, source, each)
        assert answer == "54.0 -lblas_threads -lopenblas"
        assert Path(compiled).is_relative_to(place / "var/compiledir")
        assert place_and_version == f"{place} {version}"
    # The environment is as locked: ipykernel lies beside it.
    assert tree(place) == before


def test_the_notebook_of_the_examples(install: Install, jupyter: Path, tmp_path: Path) -> None:
    folder = tmp_path / "notebook"
    ignored = shutil.ignore_patterns("*.build")
    shutil.copytree(REPOSITORY / "examples/notebook", folder, ignore=ignored)
    printed = executed(jupyter, folder / "line.ipynb", install(str(folder)))
    assert printed == ["image/png", "slope 2.485, intercept 1.032, loss 0.263"]
