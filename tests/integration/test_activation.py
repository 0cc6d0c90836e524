"""An environment's settings, however a person starts it: by path, by activation, by `run`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from rattler.shell import ActivationVariables, Shell, activate

from integration import programs
from integration.conftest import Prefix
from integration.programs import called

FRAMEWORKS = ("theano-1.0.5", "theano-0.8.2")
ASK = """
import os, subprocess, theano
config = theano.config
places = [os.path.join(p, config.cxx) for p in os.environ["PATH"].split(os.pathsep)]
print("|".join([config.blas.ldflags, [p for p in places if os.path.exists(p)][0],
                config.base_compiledir, config.optimizer_verbose and "verbose" or "quiet",
                config.gcc.cxxflags, config.floatX]))
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty home, without the user's own settings, that has the program ask.py."""
    for name in ("THEANORC", "THEANO_FLAGS", "CONDA_PREFIX", "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "ask.py").write_text(ASK)
    return tmp_path


def out(*command: str | Path) -> str:
    return subprocess.check_output(command, text=True, stderr=subprocess.DEVNULL).strip()


def expected(place: Path, verbose: str = "quiet", flags: str = "", floatx: str = "float64") -> str:
    blas, compiled = "-lblas_threads -lopenblas", f"{place}/var/compiledir"
    return "|".join([blas, f"{place}/bin/g++", compiled, verbose, flags, floatx])


def invoke(*words: str) -> subprocess.CompletedProcess[str]:
    return called([*programs.invoke(), *words])


def warnings_of(text: str) -> list[str]:
    """Return the warnings but for one: the environments of these tests are not verified."""
    lines = [line for line in text.splitlines() if line.startswith("warning")]
    return [line for line in lines if "has not been verified" not in line]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_program_has_the_settings(framework: str, prefix: Prefix, home: Path) -> None:
    """Started by its path, by conda's activation, and by `run`."""
    place, ask = prefix(framework, "openblas"), home / "ask.py"
    assert out(place / "bin/python", ask) == expected(place)
    script = activate(place, ActivationVariables(), Shell.bash).script
    shell = ("bash", "--norc", "-c")
    output = out(*shell, f"{script}\nwhich g++; python {ask}; echo $CONDA_PREFIX")
    assert output.splitlines() == [f"{place}/bin/g++", expected(place), str(place)]
    # Activation sets only PATH and conda's own variables, which conda removes again.
    before = set(out(*shell, "env").splitlines())
    after = set(out(*shell, f"{script}\npython {ask} >/dev/null; env").splitlines())
    names = {line.partition("=")[0] for line in after - before}
    assert {name for name in names if not name.startswith("CONDA_")} <= {"PATH"}
    assert not (place / "etc/conda").exists()
    done = invoke("run", "-v", "openblas", "-f", framework, "--", "python", str(ask))
    assert (done.returncode, done.stdout.strip()) == (0, expected(place))
    assert not warnings_of(done.stderr)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_user_settings_are_merged(
    framework: str, prefix: Prefix, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = prefix(framework, "openblas")
    (home / ".theanorc").write_text(
        "[global]\noptimizer_verbose = True\nfloatX = float32\n[gcc]\ncxxflags = -O2\n"
    )
    done = invoke("run", "-v", "openblas", "-f", framework, "--", "python", str(home / "ask.py"))
    assert done.stdout.strip().splitlines()[-1] == expected(place, "verbose", "-O2", "float32")
    assert not warnings_of(done.stderr)
    (home / "one").write_text("[global]\noptimizer_verbose = True\n")
    (home / "two").write_text("[gcc]\ncxxflags = -O1\n")
    monkeypatch.setenv("THEANORC", f"{home}/one:{home}/two")
    assert out(place / "bin/python", home / "ask.py") == expected(place, "verbose", "-O1")
