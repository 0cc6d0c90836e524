"""Locks as conda-lock reads them and `lock --check` compares them, and those of a stack.yaml.

That lies beside one's code: locked with uv or pip, built, run, checked; on each flavour.
"""

import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from integration.published import install, serving, solve
from integration.tiny import Tiny
from stacks.core.errors import StaleError, UsageError
from stacks.core.workspace import Workspace, default_workspace
from stacks.environments.make import build
from stacks.locks import lock
from stacks.locks import update as lock_update
from stacks.locks.lock import lock_folder
from stacks.sources.pins import read_pins, write_pins
from stacks.variants.load import all_variants, load_variant

VARIANTS = all_variants(default_workspace())


# conda-lock's command, for each lock, in a folder of its own: all in one start of Python.
RENDER = """
import os, sys
from conda_lock.conda_lock import main
for path, folder in zip(sys.argv[1::2], sys.argv[2::2]):
    os.mkdir(folder)
    os.chdir(folder)
    kinds = ["--kind", "explicit", "--kind", "env"]
    main(["render", *kinds, "--platform", "linux-64", path], standalone_mode=False)
"""


def test_conda_lock_accepts_every_committed_lock(workspace: Workspace, tmp_path: Path) -> None:
    folders = [tmp_path / variant.id.replace("/", " ") for variant in VARIANTS]
    words: list[str | Path] = []
    for variant, folder in zip(VARIANTS, folders, strict=True):
        words += [lock_folder(workspace, variant) / "conda-lock.yml", folder]
    subprocess.run([sys.executable, "-c", RENDER, *words], check=True, timeout=300)
    for variant, folder in zip(VARIANTS, folders, strict=True):
        explicit, environment = (
            (folder / f"conda-linux-64.{ending}").read_text() for ending in ("lock", "lock.yml")
        )
        for package in lock.read(workspace, variant).packages:
            assert package.url in explicit, variant.id
            line = f"{package.name}={package.version}={package.build}"
            assert line in environment, variant.id


def test_the_committed_locks_and_those_of_the_examples_are_current(workspace: Workspace) -> None:
    examples = lock_update.examples(workspace)
    assert len(examples) >= 7
    lock_update.check_locks(workspace, (*VARIANTS, *examples))


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("envs/frameworks/tiny.yaml", "[six ==1.16.0]", "[six]", "six is new"),
        (
            "envs/variants/by-conda.yaml",
            "blas: numpy\n",
            "blas: numpy\nflags: {optimizer: fast_run}\n",
            "asks for other packages or settings",
        ),
        (
            "recipes/wheel-0.37/recipe.yaml",
            "license: MIT",
            "license: ISC",
            "wheel: locked is wheel-0.37.1-py",
        ),
    ],
)
def test_a_changed_file(tiny: Tiny, file: str, old: str, new: str, message: str) -> None:
    path = tiny.root / file
    path.write_text(path.read_text().replace(old, new))
    [found, *_] = stale(tiny)
    assert message in found and "pip: locked" not in found


def stale(tiny: Tiny) -> list[str]:
    """Return what is said of each lock: both are named at once, with the fix."""
    variants = [tiny.variant(name) for name in ("by-conda", "by-pip")]
    with pytest.raises(StaleError) as caught:
        lock_update.check_locks(tiny.workspace, variants)
    assert caught.value.fix and "./invoke lock" in caught.value.fix
    return re.split(r"(?=tiny/by-pip is stale)", caught.value.what)


def test_a_changed_pin(tiny: Tiny) -> None:
    # As they were written, the locks are current.
    lock_update.check_locks(tiny.workspace, all_variants(tiny.workspace))
    sources = tiny.workspace.sources_lock
    pins = read_pins(sources)
    files = [dataclasses.replace(p, sha256="0" * 64) if p.name == "six" else p for p in pins.files]
    write_pins(sources, dataclasses.replace(pins, files=tuple(files)))
    by_conda, by_pip = stale(tiny)
    assert "six: locked is six-1.16.0-py" in by_conda and "setuptools" not in by_conda
    assert "six-1.16.0-py2.py3-none-any.whl is pinned, and not locked" in by_pip


TINY = "summary: mine\nextends: {}\nframework: tiny\npip: [{}]\n"
THEANO = "summary: mine\nextends: openblas\nframework: theano-1.0.5\npip: [{}]\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give the path of a stack.yaml in a folder with a blank and letters that are not ASCII."""
    folder = tmp_path / "my prøject"
    folder.mkdir()
    return folder / "stack.yaml"


def out(python: Path, program: str) -> str:
    return subprocess.check_output([python, "-c", program], text=True).strip()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("flavour", ["by-conda", "by-pip"])
def test_python_2(flavour: str, tiny: Tiny, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # simplegeneric has no wheel.
    file.write_text(TINY.format(flavour, "simplegeneric, decorator==4.4.2, six"))
    variant = load_variant(tiny.workspace, str(file))
    build.relock(tiny.workspace, variant)
    lines = capsys.readouterr().err
    assert "simplegeneric 0.8.1 only as a source archive" in lines
    # The base's packages are made with a line, before the one of what is then quick.
    assert "\n  channel " in lines[: lines.index("\n  resolve ")] and "base" not in lines
    first = contents(file.with_suffix(".lock"))
    assert {pin["name"] for pin in json.loads(first["files.json"])["own"]} == {
        "decorator", "simplegeneric"
    }  # fmt: skip
    build.relock(tiny.workspace, variant)
    assert contents(file.with_suffix(".lock")) == first
    place = build.make_environment(tiny.workspace, variant)
    assert place == file.with_suffix(".build") / "environment"
    program = "import decorator, simplegeneric, six; print(decorator.__version__, six.__version__)"
    assert out(place / "bin/python", program) == "('4.4.2', '1.16.0')"
    expected = json.loads((place / "etc/theano-stacks/expect.json").read_text())
    assert {"decorator", "simplegeneric"} < {p["name"] for p in expected["packages"]}
    assert (file.with_suffix(".build") / ".gitignore").read_text() == "*\n"
    # Nothing of it lies in the checkout.
    assert not tiny.workspace.environments.exists()


def test_settings_of_its_own_reach_every_client(tiny: Tiny, file: Path, tmp_path: Path) -> None:
    program = "import os; print(os.environ.get('MINE'))"
    # What the framework has needs no file.
    file.write_text(TINY.format("by-conda", "six") + "environment: {MINE: '{prefix}/mine'}\n")
    flavour, variant = tiny.variant("by-conda"), load_variant(tiny.workspace, str(file))
    build.relock(tiny.workspace, variant)
    assert not (file.with_suffix(".lock") / "files.json").exists()
    place, other = build.make_environment(tiny.workspace, variant), tmp_path / "other"
    assert out(place / "bin/python", program) == f"{place}/mine"
    with serving(tiny.workspace, [flavour, variant]) as address:
        file = file.with_suffix(".lock") / "environment.yml"
        install(solve(address, file, tmp_path / "client"), other, tmp_path / "packages")
    assert out(other / "bin/python", program) == f"{other}/mine"
    assert out(tiny.make("by-conda") / "bin/python", program) == "None"


def test_what_cannot_be_locked(tiny: Tiny, file: Path) -> None:
    file.write_text(TINY.format("by-conda", "simplegeneric"))
    variant = load_variant(tiny.workspace, str(file))
    with pytest.raises(UsageError, match=r"simplegeneric 0\.8\.1 only as a source archive"):
        build.relock(tiny.workspace, variant, with_sdists=False)
    assert not file.with_suffix(".lock").exists()


def test_a_conflict_says_who_asks_for_what_and_which_framework_fits(
    workspace: Workspace, file: Path
) -> None:
    file.write_text(THEANO.format("pymc3==3.11.6"))
    with pytest.raises(UsageError) as caught:
        build.relock(workspace, load_variant(workspace, str(file)))
    message = " ".join(str(caught.value).split())
    assert "they need theano-pymc too" in message
    assert "change `framework:` to theano-pymc-1.1.2, which they fit" in message


def test_locked_versions_stay_until_an_upgrade(
    workspace: Workspace, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def versions(requests: str, *, upgrade: bool = False) -> dict[str, str]:
        file.write_text(THEANO.format(requests))
        variant = load_variant(workspace, str(file))
        build.relock(workspace, variant, upgrade=upgrade)
        pins = json.loads((file.with_suffix(".lock") / "files.json").read_text())["own"]
        return {pin["name"]: pin["version"] for pin in pins}

    old = {"cycler": "0.10.0"}
    assert versions("cycler==0.10.0") == old
    more = versions("cycler, iniconfig")
    assert more["cycler"] == "0.10.0" and "iniconfig" in more
    assert versions("cycler", upgrade=True)["cycler"] != "0.10.0"
    assert "note" not in capsys.readouterr().err
    (file.with_suffix(".lock") / "files.json").write_text("<<<<<<< HEAD\n")
    versions("cycler")
    assert "all versions are chosen anew" in capsys.readouterr().err
