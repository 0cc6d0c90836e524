"""The texts of a variant's settings, as the framework and Python read them; the device's hook."""

import configparser
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from integration.programs import called

from stacks.channel.settings_files import (
    DEVICE_HOOK,
    HOOK,
    HOOKS,
    PLACEHOLDER,
    flags_of,
    rc_text,
    render_files,
)
from stacks.core.workspace import Workspace
from stacks.variants.files import Processor
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant


def flags(text: str) -> dict[str, str]:
    parser = configparser.ConfigParser()
    parser.read_string(text)
    return {f"{s}.{k}": v for s in parser.sections() for k, v in parser.items(s)}


def test_the_settings_of_a_variant(workspace: Workspace, variant: Variant) -> None:
    files = render_files(variant)
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
    assert "cxx = x86_64-g++\n" in render_files(variant, "x86_64-g++")["etc/theanorc"]
    device = render_files(load_variant(workspace, "gpuarray", "theano-1.0.5"))
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
    hook = render_files(nasty(variant))[f"site-packages/{HOOK}.py"]
    program = (
        "import os, runpy, sys, json\n"
        f"sys.prefix = sys.base_prefix = {str(prefix)!r}\n"
        "found = runpy.run_path(sys.argv[1])\n"
        "sys.stdout.write(json.dumps([os.environ['NASTY'], found['PROCESSORS']]))\n"
    )
    path = tmp_path / "hook.py"
    path.write_text(hook)
    done = called([python, "-c", program, str(path)], env={})
    assert done.stderr == ""
    value, [processor] = json.loads(done.stdout)
    assert value == NASTY.replace("{prefix}", str(prefix))
    assert processor == [[NASTY], [[NASTY, 0]], [["A", NASTY]]]


# As in Theano: it logs the error, and goes on.
GPUARRAY = """
import logging
pygpu_activated = {opened}
try:
    raise ValueError("no such device")
except Exception:
    logging.getLogger("theano.gpuarray").{level}("Could not initialize", exc_info=True)
"""


def imported(
    folder: Path, device: str = "cuda", opened: bool = False, level: str = "error", **env: str
) -> subprocess.CompletedProcess[str]:
    """Import a Theano with the hook in force; env: `first`: code that runs before the import."""
    package = folder / "theano" / "gpuarray"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text(
        f"class config: device = {device!r}\nimport theano.gpuarray\n"
    )
    (package / "__init__.py").write_text(GPUARRAY.format(opened=opened, level=level))
    (folder / "_theano_stacks_device.py").write_text((HOOKS / f"{DEVICE_HOOK}.py").read_text())
    code = (
        f"import sys; sys.path.insert(0, {str(folder)!r}); import _theano_stacks_device\n"
        f"print('logging' in sys.modules); {env.pop('first', 'pass')}\n"
        "import theano; print('imported')"
    )
    words = [sys.executable, "-I", "-S", "-c", code]
    return called(words, env=env)


def test_a_device_that_was_not_opened_is_an_error(tmp_path: Path) -> None:
    done = imported(tmp_path / "a")
    assert (done.returncode, done.stdout) == (1, "False\n"), "it imports nothing before Theano is"
    first, *_, last = done.stderr.splitlines()[-3:]
    assert first.startswith("RuntimeError: Theano cannot compute on the device of this environment")
    assert first.endswith(": no such device") and last.endswith("THEANO_FLAGS=device=cpu")
    assert "Could not initialize" not in done.stderr, "the reason is in the error"
    done = imported(tmp_path / "b", first="import logging; logging.disable(logging.CRITICAL)")
    assert done.returncode == 1
    assert "environment: logging is disabled, so the reason is not known" in done.stderr


@pytest.mark.parametrize(
    "changes",
    [
        {"opened": True, "level": "warning"},
        {"device": "cpu", "level": "info"},
        # Of init_gpu_device, and of the second of two contexts.
        {"device": "cpu"},
        {"opened": True},
        # A program that has the device has started this one.
        {"THEANO_GPU_IS_ALREADY_ACTIVE": "Yes"},
    ],
)
def test_other_imports_go_on(tmp_path: Path, changes: dict[str, Any]) -> None:
    done = imported(tmp_path, **changes)
    assert (done.returncode, done.stdout) == (0, "False\nimported\n"), done.stderr
    assert ("Could not initialize" in done.stderr) == (changes.get("level") != "info")
