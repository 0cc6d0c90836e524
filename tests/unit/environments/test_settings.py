from __future__ import annotations

import configparser
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from stacks.channel.settings_files import HOOK, MODULES, files_of, flags_of, rc_text
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.environments import settings
from stacks.variants.files import FlavourFile, Processor
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant
from unit.helpers.starts import PACKAGES

LINKED = "-lblas_threads -lopenblas"


def flags(text: str) -> dict[str, str]:
    parser = configparser.ConfigParser()
    parser.read_string(text)
    return {f"{s}.{k}": v for s in parser.sections() for k, v in parser.items(s)}


def test_the_rc_file_as_theano_reads_it(variant: Variant) -> None:
    place = "/a b/é"
    assert flags(rc_text(flags_of(variant, place))) == {
        "blas.ldflags": "-lblas_threads -lopenblas",
        "global.base_compiledir": "/a b/é/var/compiledir",
        "global.cxx": "g++",
        "global.device": "cpu",
        **({"global.floatx": "float64"} if "floatX" in variant.theano_flags() else {}),
    }


def test_a_percent_sign_comes_through_theanos_interpolation(variant: Variant) -> None:
    assert flags(rc_text({"gcc.cxxflags": "-D%s=%%"})) == {"gcc.cxxflags": "-D%s=%%"}


@pytest.mark.parametrize("name", ["a:b", "a%b", "a\\b", "a;b", "a\nb"])
def test_invalid_environment_paths_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="move the checkout"):
        settings.check_place(Path("/x") / name)


def test_valid_environment_paths() -> None:
    settings.check_place(Path("/a folder, naïve é/#1 $HOME & 'co' \"x\""))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def undone(variant: Variant, **environ: str) -> list[str]:
    return settings.undone(variant, Path("/prefix"), environ)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[gcc]\ncxxflags = -O2\n",
        "[blas]\nldflags = -lblas_threads -lopenblas\n",
        "[global]\noptimizer_verbose = True\n",
        "not an rc file",
        "\xff\xfe",
    ],
)
def test_additional_settings_override_nothing(
    workspace: Workspace, variant: Variant, home: Path, text: str
) -> None:
    (home / ".theanorc").write_bytes(text.encode("latin-1"))
    assert undone(variant) == []


def test_an_rc_file_that_overrides_the_variants_settings(
    workspace: Workspace, variant: Variant, home: Path
) -> None:
    (home / ".theanorc").write_text("[blas]\nLDFLAGS =\n[global]\ncxx = c++\n")
    assert undone(variant) == [
        f"{home}/.theanorc sets blas.ldflags to '', where the variant needs '{LINKED}'",
        f"{home}/.theanorc sets cxx to 'c++', where the variant needs 'g++'",
    ]


def test_flags_that_override_the_variants_settings(
    workspace: Workspace, variant: Variant, home: Path
) -> None:
    message = undone(variant, THEANO_FLAGS=" device=cuda , blas.ldflags=-la=b,floatX,x=1")
    assert sorted(message) == [
        f"THEANO_FLAGS sets blas.ldflags to '-la=b', where the variant needs '{LINKED}'",
        "THEANO_FLAGS sets device to 'cuda', where the variant needs 'cpu'",
    ]


def test_rc_files_named_by_the_user(workspace: Workspace, variant: Variant, home: Path) -> None:
    (home / "mine").write_text("[blas]\nldflags = -lx\n")
    (home / ".theanorc").write_text("[blas]\nldflags = -ly\n")
    assert len(message := undone(variant, THEANORC="/no/such:~/mine:")) == 1
    assert message[0].startswith(f"{home}/mine sets blas.ldflags to '-lx'")


def test_an_environments_own_rc_file_overrides_nothing(
    workspace: Workspace, variant: Variant, home: Path
) -> None:
    (home / "etc/theano-stacks").mkdir(parents=True)
    (home / "etc/theanorc").write_text("[blas]\nldflags = -lx\n")
    assert undone(variant, THEANORC=f"{home}/etc/theanorc") == []


def test_the_expectation_file_for_verify(variant: Variant, prefix: Path) -> None:
    settings.write(variant, prefix, Path("/final"), list(PACKAGES))
    message = json.loads((prefix / settings.EXPECTATION).read_text())
    assert message["flags"]["base_compiledir"] == "/final/var/compiledir"
    assert message["packages"] == PACKAGES
    assert (message["variant"], message["framework"], message["python"], message["baseline"]) == (
        "openblas",
        "theano-1.0.5",
        "3.9.2",
        False,
    )


def test_flags_are_compared_by_one_spelling(workspace: Workspace, home: Path) -> None:
    pytensor = load_variant(workspace, "pip-openblas", "pytensor-3.3.7")
    found = settings.undone(pytensor, home, {"PYTENSOR_FLAGS": "blas__ldflags=-lblas"})
    assert found == [
        f"PYTENSOR_FLAGS sets blas.ldflags to '-lblas', where the variant needs '{LINKED}'"
    ]


def test_pytensor_has_no_device(workspace: Workspace, home: Path) -> None:
    assert "device" not in flags_of(load_variant(workspace, "mkl", "pytensor-3.3.7"), "/p")


# What a file of envs/ may hold, and each language has a meaning for.
NASTY = 'it\'s "quoted" """ $HOME `id` $(id) %s %(x)s {prefix}/x {0} \\ # [global] a=b: c, d'


def nasty(variant: Variant) -> Variant:
    """Return a variant whose every free text is nasty, but valid."""
    assert variant.blas
    processor = Processor(flags=(NASTY,), known={NASTY: 0}, environment={"A": NASTY})
    blas = variant.blas.model_copy(update={"ldflags": NASTY, "processors": (processor,)})
    changes = {"summary": NASTY, "flags": {"gcc.cxxflags": NASTY}, "variables": {"NASTY": NASTY}}
    return Variant.model_validate({**dict(variant), **changes, "blas": blas})


def test_nasty_values_come_out_of_theanos_parser_as_they_are(variant: Variant) -> None:
    text = rc_text(flags_of(nasty(variant), "/p"))
    found = flags(text)
    assert found["gcc.cxxflags"] == found["blas.ldflags"] == NASTY
    assert sorted(found) == [
        "blas.ldflags", "gcc.cxxflags", "global.base_compiledir", "global.cxx", "global.device",
        "global.floatx",
    ]  # fmt: skip


@pytest.mark.parametrize("flag", ["DEFAULT.cxx", "floatX\n", "a]\n[global]\ncxx"])
def test_a_flag_cannot_open_another_section(variant: Variant, flag: str) -> None:
    with pytest.raises(ValidationError):
        FlavourFile.model_validate_json(json.dumps({"summary": "a", "flags": {flag: "evil"}}))


def pythons() -> list[str]:
    """Return this Python, and Python 2.7 where the machine has it."""
    old = shutil.which("python2.7")
    # A version manager has a program of this name that finds no Python.
    usable = old and subprocess.run([old, "-c", ""], env={}, capture_output=True).returncode == 0
    return [sys.executable, *([old] if old and usable else [])]


@pytest.mark.parametrize("python", pythons())
def test_nasty_values_come_out_of_the_hook_as_they_are(
    variant: Variant, tmp_path: Path, python: str
) -> None:
    prefix = tmp_path / "prefix"
    hook = files_of(nasty(variant))[f"site-packages/{HOOK}.py"]
    program = (
        "import os, runpy, sys, json\n"
        f"sys.prefix = sys.base_prefix = {str(prefix)!r}\n"
        "found = runpy.run_path(sys.argv[1])\n"
        "sys.stdout.write(json.dumps([os.environ['NASTY'], found['PROCESSORS']]))\n"
    )
    path = tmp_path / "hook.py"
    path.write_text(hook)
    done = subprocess.run(
        [python, "-c", program, str(path)], capture_output=True, text=True, check=False, env={}
    )
    assert done.stderr == ""
    value, [processor] = json.loads(done.stdout)
    assert value == NASTY.replace("{prefix}", str(prefix))
    assert processor == [[NASTY], [[NASTY, 0]], [["A", NASTY]]]


@pytest.mark.parametrize("kind", ["hard link", "link"])
def test_settings_are_not_written_through_a_packages_file(
    kind: str, variant: Variant, tmp_path: Path
) -> None:
    prefix, cached = tmp_path / "hostile", tmp_path / "cached"
    cached.write_text("another environment's")
    names = (settings.EXPECTATION, MODULES)
    for name in names:
        (prefix / name).parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            (prefix / name).symlink_to(cached)
        else:
            (prefix / name).hardlink_to(cached)
    packages = [{"name": "python", "version": "3.9.1", "sha256": "00", "manager": "conda"}]
    settings.write(variant, prefix, prefix, packages, tmp_path / "modules")
    assert cached.read_text() == "another environment's"
    assert all((prefix / name).stat().st_nlink == 1 for name in names)
    assert not any((prefix / name).is_symlink() for name in names)
