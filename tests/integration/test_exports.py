"""Each exported form, read by the tool that it is for."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from integration.bare_machine import run_in_root, unpack_root
from integration.conda_client import Conda, names
from integration.conftest import Prefix
from integration.programs import called, printed
from integration.published import serving, solve
from integration.tiny import Tiny, flip
from stacks.core.workspace import Workspace
from stacks.exports import forms
from stacks.exports.packages import subject_of
from stacks.locks import lock, uv
from stacks.sources.fetch import fetch
from stacks.sources.pins import URL, IndexPin, read_pins
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Words = list[str | Path]
MODULES = {
    "Environment Modules": Path("/usr/share/modules/init/sh"),
    "Lmod": Path("/usr/share/lmod/lmod/init/sh"),
}
ASK = "import theano; print(theano.config.blas.ldflags, theano.config.cxx)"


def export(workspace: Workspace, variant: Variant, form: str, target: Path) -> Path:
    return forms.write(forms.export(subject_of(workspace, variant), form), target)


def at(address: str, path: Path) -> Path:
    """Change the channel's address in an exported file to that of a test's server."""
    path.write_text(path.read_text().replace(URL, address))
    return path


@pytest.mark.parametrize("name", ["by-conda", "by-pip"])
def test_conda_makes_the_environment(name: str, tiny: Tiny, conda: Conda, tmp_path: Path) -> None:
    variant, place = tiny.variant(name), tmp_path / "made"
    locked = lock.read(tiny.workspace, variant)
    wheels = lay_out(tiny.workspace, locked.requirements, tmp_path / "files")
    with serving(tiny.workspace, [variant]) as address:
        path = at(address, export(tiny.workspace, variant, "environment", tmp_path))
        pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
        conda.succeed("env", "create", "-f", path, "-p", place, variables=pip)
    assert names(place) == {package.name for package in locked.packages}
    code = "import six; print(six.__version__)"
    assert printed(place, "-c", code) == "1.16.0\n"


def lay_out(workspace: Workspace, pins: tuple[IndexPin, ...], folder: Path) -> Path:
    """Copy pinned files into a new folder."""
    folder.mkdir()
    for path in fetch(workspace, pins).values():
        shutil.copy(path, folder)
    return folder


def test_the_solver_of_pixi_finds_the_locked_packages(tiny: Tiny, tmp_path: Path) -> None:
    variant = tiny.variant("by-conda")
    path = export(tiny.workspace, variant, "pixi", tmp_path)
    specs = [
        f"{name}[{', '.join(f'{key}={value!r}' for key, value in table.items())}]"
        for name, table in tomllib.loads(path.read_text())["dependencies"].items()
    ]
    environment = tmp_path / "environment.yml"
    environment.write_text(yaml.safe_dump({"dependencies": specs}))
    with serving(tiny.workspace, [variant]) as address:
        records = solve(address, environment, tmp_path / "client")
    assert {r.file_name for r in records} == {p.filename for p in tiny.lock("by-conda").packages}


def test_pip_and_uv_take_the_files_with_the_locked_hashes_only(
    workspace: Workspace, prefix: Prefix, tmp_path: Path
) -> None:
    variant, pins = load_variant(workspace, "pip-default"), read_pins(workspace.sources_lock)
    locked = lock.read(workspace, variant)
    wheels = lay_out(workspace, locked.requirements, tmp_path / "files")
    for form in ("pylock", "requirements"):
        export(workspace, variant, form, tmp_path)
    python = prefix("theano-1.0.5", "pip-default") / "bin/python"
    made, program = tmp_path / "made", uv.unpack(workspace, pins, tmp_path)
    common: Words = ["install", "--target", made, "--no-build-isolation", "-r"]
    by_uv: Words = [program, "pip", *common, tmp_path / "pylock.toml", "--offline"]
    by_uv += ["--python", python]
    by_pip: Words = [python, "-m", "pip", *common, tmp_path / "requirements.txt"]
    by_pip += ["--dry-run", "--ignore-installed", "--no-deps", "--no-index", "--find-links", wheels]
    start: Words = [python, "-S", "-c", "import theano; print(theano.__version__)"]

    def run(words: Sequence[str | Path], **more: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "UV_CACHE_DIR": str(tmp_path / "cache"), **more}
        return called(words, env=env)

    expected = ["numpy==1.22.4", "scipy==1.8.1", "six==1.16.0", "theano==1.0.5"]
    done = run(by_uv)
    assert [line[3:] for line in done.stderr.splitlines() if line.startswith(" + ")] == expected
    # Without the environment's own packages and settings.
    own = {"PYTHONPATH": str(made), "HOME": str(tmp_path)}
    assert "blas_opt_info" in run(start, **own).stderr, "why the settings are exported"
    assert run(start, **own, THEANORC=str(tmp_path / "theanorc")).stdout == "1.0.5\n"
    done = run(by_pip)
    assert "Would install Theano-1.0.5 numpy-1.22.4 scipy-1.8.1 six-1.16.0" in done.stdout
    [six] = wheels.glob("six-*.whl")
    # Another time of its first file: still a wheel.
    flip(six, 10)
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in run(by_pip).stderr
    shutil.rmtree(made)
    assert "Hash mismatch for `six" in run(by_uv).stderr


@pytest.mark.parametrize("tool", MODULES)
def test_a_module_is_loaded_swapped_and_unloaded(
    tool: str, workspace: Workspace, prefix: Prefix, tmp_path: Path
) -> None:
    frameworks = {"new": "theano-1.0.5", "old": "theano-0.8.2"}
    places = [prefix(framework, "openblas") for framework in frameworks.values()]
    for name, framework in frameworks.items():
        variant = load_variant(workspace, "openblas", framework)
        export(workspace, variant, "modulefile", tmp_path / "files" / name)
    script = f"""
    . {MODULES[tool]} && module use {tmp_path}/files && module load new || exit 1
    python -c '{ASK}'
    for change in 'swap new old' 'load new' 'unload new old'; do
        module $change 2>/dev/null
        echo "$(command -v python) ${{CONDA_PREFIX-none}}"
    done
    """
    if tool == "Lmod":
        # Debian has it instead of Environment Modules, not beside them.
        root = unpack_root(tmp_path, "lmod")
        done = run_in_root(root, script, folders=[tmp_path / "files", *places])
    elif MODULES[tool].is_file():
        env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
        done = called(["sh", "-c", script], env=env)
    else:
        pytest.skip(f"needs {tool}")
    first, swapped, second, none = done.stdout.splitlines()
    new, old = (f"{place}/bin/python {place}" for place in places)
    assert first == "-lblas_threads -lopenblas g++", done.stderr
    # The second of a family is refused, or takes the place of the first.
    assert (swapped, second) == (old, new if tool == "Lmod" else old)
    assert none.split()[-1] == "none" and not any(str(place) in none for place in places)
