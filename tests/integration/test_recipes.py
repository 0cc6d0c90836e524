"""What the recipes change in Theano, and what the built packages say of themselves.

C code of operations, second starts, corrected gradients; licences, the Pythons that they run on.
"""

import json
import os
import subprocess
from email.parser import HeaderParser
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from rattler import Version, VersionSpec
from rattler.package_streaming import extract

from integration.conftest import Prefix
from integration.programs import result
from integration.test_first_step import run
from stacks.channel.assemble import Candidate
from stacks.channel.build import build_packages
from stacks.channel.candidates import read_channel, with_settings
from stacks.core.workspace import Workspace
from stacks.variants.load import all_variants

C_CODE = Path(__file__).with_name("c_code_driver.py")


@pytest.mark.parametrize("framework", ["theano-1.0.5", "theano-0.8.2"])
def test_c_code_gives_what_python_gives(prefix: Prefix, tmp_path: Path, framework: str) -> None:
    place, flags = prefix(framework, "openblas"), f"base_compiledir={tmp_path}"
    plain, ours = (
        result(place, C_CODE, THEANO_FLAGS=flags, THEANO_STACKS_QUICK=quick) for quick in ("0", "1")
    )
    for name, outcomes in ours["outcomes"].items():
        assert outcomes == plain["outcomes"][name], name
        kinds = {type(outcome[0]) for outcome in outcomes}
        assert kinds == {str, list}, f"{name}: results and errors"
    # Integers, and numbers of two precisions, stay with Python.
    in_python = [name.rpartition("} ")[2] for name, in_c in ours["in_c"].items() if not in_c]
    assert sorted(in_python) == ["float64 float32 i", "int32 int32 i"]
    assert not any(in_c for name, in_c in plain["in_c"].items() if name.startswith("read"))


# A step of a classifier; prints how many modules were compiled, and two losses.
CLASSIFIER = """
import json
import numpy as np
import theano
import theano.tensor as T
try:
    from theano.gof import cmodule
except ImportError:
    from theano.link.c import cmodule

compiled = []
original = cmodule.GCC_compiler.compile_str
def compile_str(*positional, **named):
    compiled.append(positional)
    return original(*positional, **named)
cmodule.GCC_compiler.compile_str = staticmethod(compile_str)

x, y = T.matrix(), T.ivector()
weights, bias = theano.shared(np.full((4, 3), 0.1)), theano.shared(np.array([0.1, 0.2, 0.3]))
chances = T.nnet.softmax(T.dot(x, weights) + bias)
loss = -T.mean(T.log(chances)[T.arange(y.shape[0]), y])
updates = [(each, each - 0.1 * T.grad(loss, each)) for each in (weights, bias)]
step = theano.function([x, y], loss, updates=updates)
inputs = np.arange(8.0).reshape(2, 4), np.array([0, 2], "int32")
print(json.dumps([len(compiled), [float(step(*inputs)) for _ in range(2)]]))
"""


@pytest.mark.parametrize("framework", ["theano-1.0.5", "theano-pymc-1.1.2"])
def test_compiles_nothing(prefix: Prefix, tmp_path: Path, framework: str) -> None:
    place, sizes = prefix(framework, "openblas"), []
    starts = []
    for seed in ("1", "2"):
        variables = {"PYTHONHASHSEED": seed, "THEANO_STACKS_QUICK": "0"}
        done = run(place, tmp_path, "-c", CLASSIFIER, flags="floatX=float64", **variables)
        starts.append(json.loads(done.stdout.splitlines()[-1]))
        sizes.append({path: path.stat().st_size for path in tmp_path.rglob("key.pkl")})
    (first, values), (second, same) = starts
    assert first > 5 and second == 0
    assert same == values
    # Nor does it add keys to the modules that are there.
    assert sizes[0] == sizes[1]


UNTIL = Path(__file__).with_name("until_driver.py")


@pytest.mark.parametrize("framework", ["theano-0.8.2", "theano-1.0.5", "theano-pymc-1.1.2"])
def test_the_gradients_are_those_of_finite_differences(
    framework: str, prefix: Prefix, tmp_path: Path
) -> None:
    place = prefix(framework, "openblas")
    # Without C: what is corrected is Python.
    env = {**os.environ, "THEANO_FLAGS": f"base_compiledir={tmp_path},cxx="}
    output = subprocess.check_output([place / "bin/python", UNTIL], env=env, text=True)
    assert json.loads(output.splitlines()[-1]) == []


LICENCE_NAMES = ("licen", "copying", "copyright")


@pytest.fixture(scope="module")
def unpacked(
    workspace: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> dict[Path, Candidate]:
    """Give every package of the channel, unpacked."""
    channel = with_settings(read_channel(workspace), all_variants(workspace))
    root, candidates = tmp_path_factory.mktemp("packages"), channel.candidates
    built = build_packages(workspace, channel, candidates.values(), quiet=True)
    for name, each in built.items():
        extract(each.path, root / name)
    return {root / name: candidates[name] for name in built}


def test_every_package_carries_its_licence(unpacked: dict[Path, Candidate]) -> None:
    lacking = [
        folder.name
        for folder in unpacked
        if not any(
            path.stat().st_size > 200
            for path in folder.rglob("*")
            if path.is_file()
            and "info" not in path.relative_to(folder).parts[:1]
            and any(name in path.name.lower() for name in LICENCE_NAMES)
        )
    ]
    assert lacking == []


def test_copies_of_gccs_libraries_are_declared(unpacked: dict[Path, Candidate]) -> None:
    """They are copyleft: a package that is published without sources must not have them."""
    silent = [
        f"{folder.name}: {path.name}"
        for folder, candidate in unpacked.items()
        if "GPL" not in candidate.recipe.about.license
        for path in folder.rglob("lib*.so*")
        if path.name.startswith(("libgfortran", "libquadmath", "libgomp", "libstdc++", "libgcc_s"))
    ]
    assert silent == []


def test_no_package_is_for_a_python_that_its_maker_excludes(
    unpacked: dict[Path, Candidate],
) -> None:
    recipes = [candidate.recipe for candidate in unpacked.values()]
    pythons = [each.package.version for each in recipes if each.package.name == "python"]
    excluded = []
    for folder, candidate in unpacked.items():
        specs = [s for s in candidate.recipe.requirements.run if s.split()[0] == "python"]
        for metadata in folder.rglob("*.dist-info/METADATA"):
            made_for = HeaderParser().parsestr(metadata.read_text("utf-8"))["Requires-Python"]
            for spec in specs if made_for else ():
                ours, theirs = VersionSpec(spec.partition(" ")[2] or "*"), SpecifierSet(made_for)
                excluded += [
                    f"{folder.name}: {spec}, but {made_for}"
                    for python in pythons
                    if ours.matches(Version(python)) and python not in theirs
                ]
    assert excluded == []
