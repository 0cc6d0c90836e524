"""The texts of a variant's settings, as the framework and Python read them."""

from __future__ import annotations

import configparser
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from stacks.channel.settings_files import HOOK, PLACEHOLDER, files_of, flags_of, rc_text
from stacks.core.workspace import Workspace
from stacks.variants.files import FlavourFile, Processor
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant


def flags(text: str) -> dict[str, str]:
    parser = configparser.ConfigParser()
    parser.read_string(text)
    return {f"{s}.{k}": v for s in parser.sections() for k, v in parser.items(s)}


def test_the_settings_of_a_variant(workspace: Workspace, variant: Variant) -> None:
    files = files_of(variant)
    assert sorted(files) == [
        "etc/theano-stacks/README",
        "etc/theanorc",
        "site-packages/_theano_stacks.py",
        "site-packages/_theano_stacks_compiled.py",
        "site-packages/theano-stacks.pth",
        "var/compiledir/.keep",
    ]
    assert [name for name, text in files.items() if PLACEHOLDER in text] == ["etc/theanorc"]
    assert "Your own in ~/.theanorc or THEANO_FLAGS come after" in files["etc/theano-stacks/README"]
    assert "cxx = x86_64-g++\n" in files_of(variant, "x86_64-g++")["etc/theanorc"]
    device = files_of(load_variant(workspace, "gpuarray", "theano-1.0.5"))
    assert sorted(device.keys() - files) == [
        "site-packages/_theano_stacks_device.py",
        "site-packages/theano-stacks-device.pth",
    ]
    assert "device" not in flags_of(load_variant(workspace, "mkl", "pytensor-3.3.7"), "/p")


# What a file of envs/ may hold, and each language has a meaning for.
NASTY = 'it\'s "quoted" """ $HOME `id` $(id) %s %(x)s {prefix}/x {0} \\ # [x] a=b: c "@modules@"'


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
