"""The wheel of the suite: installed by pip and by uv, as a program, and as a plugin of pytest."""

import os
import subprocess
from importlib import metadata
from pathlib import Path

import pytest

from integration.conftest import Prefix
from integration.programs import called
from stacks.core.workspace import Workspace
from stacks.distribution import release
from stacks.locks import uv
from stacks.sources.pins import read_pins

# pytest as it is pinned, with what it imports on any Python; most have no code of a version.
PYTEST = ("pytest", "pluggy", "iniconfig", "packaging", "pygments", "pytest-xdist", "execnet")
TESTS = """
import os, pytest

@pytest.mark.fast_blas
def test_marker(): pass

@pytest.mark.fast_blas(without=["kernels", "Gemm float64 speed", "Gemm float32 speed"])
def test_without_kernels(): pass

@pytest.mark.fast_blas(without=["colonels"])
def test_misspelt(): pass

def test_fixture(assert_fast_blas):
    assert "BROKEN" not in os.environ, "the test itself has run"
    report = assert_fast_blas()
    assert report["ok"] and report["framework"]["module"] == "numpy"
    assert "peak float64, 1 thread" in [timing["name"] for timing in report["timings"]]

@pytest.mark.usefixtures("assert_fast_blas")
class TestClass:
    def test_method(self): pass

def test_plain(): pass
"""


@pytest.fixture(scope="module")
def base(prefix: Prefix) -> Path:
    return prefix("pytensor-3.3.7", "pip-default")


@pytest.fixture(scope="module")
def wheel(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release.write_suite(workspace, tmp_path_factory.mktemp("wheel"), wheel=True)


@pytest.fixture(scope="module")
def by_pip(base: Path, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of a virtual environment that has NumPy, and the wheel, installed by pip."""
    place = _environment(base, tmp_path_factory.mktemp("pip") / "venv")
    _pip(base, place, "install", "--no-index", wheel)
    return place


def _environment(base: Path, place: Path) -> Path:
    """Make a virtual environment that has an environment's Python and NumPy, and pytest."""
    subprocess.run([base / "bin/python", "-m", "venv", "--without-pip", place], check=True)
    [site] = place.glob("lib/python*/site-packages")
    [theirs] = base.glob("lib/python*/site-packages")
    for path in theirs.glob("numpy*"):
        (site / path.name).symlink_to(path)
    for name in PYTEST:
        for first in {file.parts[0] for file in metadata.files(name) or ()} - {".."}:
            path = Path(str(metadata.distribution(name).locate_file(first)))
            if not (site / first).exists():
                (site / first).symlink_to(path)
    return place


def _pip(base: Path, place: Path, *words: str | Path) -> str:
    # Without the settings of the environment whose pip it is.
    variables = {**os.environ, "PIP_CONFIG_FILE": os.devnull}
    command = [base / "bin/python", "-m", "pip", "--python", place / "bin/python", *words]
    return subprocess.check_output(command, env=variables, text=True)


def _run(
    base: Path, words: list[str | Path], folder: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    path = f"{base / 'bin'}{os.pathsep}{os.environ['PATH']}"
    variables = {**os.environ, "PATH": path, "COLUMNS": "200", **variables}
    return called(words, env=variables, cwd=folder, timeout=300)


def test_pip_and_uv_install_it_whole_and_remove_it_whole(
    base: Path, workspace: Workspace, wheel: Path, tmp_path: Path
) -> None:
    uv_program = uv.unpack(workspace, read_pins(workspace.sources_lock), tmp_path)
    place = tmp_path / "venv"
    subprocess.run([base / "bin/python", "-m", "venv", "--without-pip", place], check=True)
    before = sorted(place.rglob("*"))
    _pip(base, place, "install", "--no-index", wheel)
    assert _pip(base, place, "check") == "No broken requirements found.\n"
    assert {place / "bin/blas-verify", *place.glob("lib/*/*/blas_verify")} < {*place.rglob("*")}
    _pip(base, place, "uninstall", "--yes", "blas-verify")
    assert sorted(place.rglob("*")) == before
    by_uv: list[str | Path] = [uv_program, "pip", "--offline", "--no-config"]
    python = ["--python", str(place / "bin/python")]
    programs: tuple[list[str | Path], ...] = (
        [place / "bin/blas-verify"],
        [place / "bin/python", "-m", "blas_verify"],
    )
    done = _run(base, [*by_uv, "install", *python, "--no-index", wheel], tmp_path)
    assert done.returncode == 0, done.stderr
    assert _run(base, [*by_uv, "check", *python], tmp_path).returncode == 0
    for program in programs:
        done = _run(base, program, tmp_path)
        assert done.returncode == 2 and "this Python has no Theano" in done.stderr


def test_python_2_installs_it(prefix: Prefix, wheel: Path, tmp_path: Path) -> None:
    python = prefix("theano-0.8.2", "pip-openblas") / "bin/python"
    place = tmp_path / "packages"
    words: list[str | Path] = [python, "-m", "pip", "install", "--no-index", "--target", place]
    subprocess.run([*words, wheel], check=True, env={**os.environ, "PIP_CONFIG_FILE": os.devnull})
    # Every module was compiled, the plugin too.
    assert (place / "blas_verify/pytest_plugin.pyc").is_file()
    programs: list[list[str | Path]] = [["-m", "blas_verify"], [place / "bin/blas-verify"]]
    for program in programs:
        words = [python, *program, "--help"]
        done = _run(python.parent.parent, words, tmp_path, PYTHONPATH=str(place))
        assert done.returncode == 0 and "usage: verify" in done.stdout, done.stderr


def _pytest(
    base: Path, place: Path, folder: Path, *options: str, **variables: str
) -> tuple[dict[str, int], str]:
    """Run TESTS; return {outcome: count} and the output."""
    (folder / "test_blas.py").write_text(TESTS)
    options = ("-p", "no:cacheprovider", "--strict-markers", *options)
    words: list[str | Path] = [place / "bin/python", "-m", "pytest", *options, "test_blas.py"]
    output = _run(base, words, folder, **variables).stdout
    counts = output.splitlines()[-1].strip("= ").rpartition(" in ")[0].split(", ")
    return {item.split()[1]: int(item.split()[0]) for item in counts}, output


def test_the_plugin_passes_tests_where_blas_is_fast(
    base: Path, by_pip: Path, tmp_path: Path
) -> None:
    temporary = tmp_path / "temporary"
    options = ("-k", "not misspelt", "-n", "2", "--basetemp", str(temporary))
    counts, output = _pytest(base, by_pip, tmp_path, *options)
    assert counts == {"passed": 5}, output
    reports = list(temporary.rglob("blas-verify.json"))
    assert len(reports) == 1, "the processes of pytest-xdist verify once"


def test_the_plugin_fails_tests_with_what_failed_and_the_fix(
    base: Path, by_pip: Path, tmp_path: Path
) -> None:
    # Prescott's kernels crash in NumPy's library on Zen 4; these do not, and are slow enough.
    faults = {"OPENBLAS_CORETYPE": "Sandybridge", "BROKEN": "yes"}
    # As where a test of pytest-xdist starts this pytest, after an older run of the suite.
    stale = tmp_path / "pytest-of-me"
    stale.mkdir()
    for name in ("blas-verify.json", "blas-verify.txt"):
        (stale / name).write_text("{}")
    faults["PYTEST_XDIST_WORKER"] = "gw0"
    options = ("--basetemp", str(stale / "pytest-0"))
    counts, output = _pytest(base, by_pip, tmp_path, *options, **faults)
    assert counts == {"failed": 4, "passed": 2}, output
    assert f"{by_pip}/bin/python does not use a fast BLAS: " in output
    assert "\nkernels: " in output
    assert "\n  fix: OPENBLAS_CORETYPE=Sandybridge selects these kernels:\n" in output, output
    assert "colonels: no check of blas-verify has this name\n  fix: take one of serving" in output
    assert "Traceback" not in output and "the test itself has run" not in output
