"""Environments at unusual paths and of a moved checkout; `clean` during a build."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from integration.programs import called, invoke
from integration.tiny import Tiny, tree
from stacks.core.disk import hold_lock
from stacks.core.workspace import Workspace
from stacks.environments.folders import READY, folder_of, report_path
from stacks.environments.make import build as pipeline
from stacks.variants.load import load_variant

# Multiplies two matrices by a C function that Theano compiles, and prints its library.
MULTIPLY = """
import numpy, theano, theano.tensor as T
a, b, c = T.matrices("abc")
f = theano.function([a, b, c], 0.5 * T.dot(a, b) + 2 * c)
ones = numpy.ones((50, 50))
assert (f(ones, ones, ones) == 27).all()
nodes = zip(f.maker.fgraph.toposort(), f.fn.thunks)
print([type(node.op).__name__ for node, thunk in nodes if hasattr(thunk, "cthunk")])
lines = [line.rstrip("\\n") for line in open("/proc/self/maps") if "/libopenblasp-r0.3.34" in line]
print("%d %s" % (len(set(l[l.index("/"):] for l in lines)), lines[0][lines[0].index("/"):]))
print(theano.config.compiledir)
"""


@pytest.mark.parametrize("framework", ["theano-1.0.5", "theano-0.8.2"])
def test_a_path_with_blanks_and_letters_of_other_alphabets(
    workspace: Workspace, framework: str, tmp_path: Path
) -> None:
    variant = load_variant(workspace, "openblas", framework)
    place = tmp_path / "a folder, naïve é, #1 $HOME & 'co'" / "prefix"
    pipeline.make_environment(workspace, variant, place)
    env = {"HOME": str(tmp_path), "THEANO_STACKS_MODULES": "0"}
    words: list[str | Path] = [place / "bin/python", "-c", MULTIPLY]
    ops, mapped, compiled = subprocess.check_output(words, text=True, env=env).splitlines()
    assert "'Gemm'" in ops
    assert mapped == f"1 {place}/lib/libopenblasp-r0.3.34.so"
    assert compiled.startswith(f"{place}/var/compiledir/")
    assert list(Path(compiled).rglob("*.so"))


def test_an_environment_on_another_file_system_is_copied_with_a_note(
    tiny: Tiny, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK) or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("/dev/shm is not another file system than the temporary folder")
    variant = tiny.variant("by-pip")
    with tempfile.TemporaryDirectory(prefix="theano-stacks-", dir=memory) as folder:
        target = Path(folder) / "environment"
        copied = pipeline.make_environment(tiny.workspace, variant, target)
        [note] = [line for line in capfd.readouterr().err.splitlines() if line.startswith("note:")]
        assert f"the cache {tiny.cache} is on another file system" in note
        assert (copied / "lib/python2.7/os.py").stat().st_nlink == 1
        subprocess.run([copied / "bin/python", "-c", "import six"], check=True)
        pipeline.make_environment(tiny.workspace, variant, target)
    assert "note:" not in capfd.readouterr().err, "nothing was copied"


def test_a_new_environment_has_no_verdict_of_the_one_before(tiny: Tiny) -> None:
    variant = tiny.variant("by-conda")
    target, report = folder_of(tiny.workspace, variant), report_path(tiny.workspace, variant)
    pipeline.make_environment(tiny.workspace, variant)
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text('{"ok": true}')
    tiny.make("by-conda")
    pipeline.make_environment(tiny.workspace, variant)
    assert report.exists(), "one was made elsewhere, and this one was ready"
    (target / READY).unlink()
    pipeline.make_environment(tiny.workspace, variant)
    assert not report.exists()


class Checkout:
    """A copy of the checkout with the small variants in place of the others."""

    def __init__(self, tiny: Tiny, root: Path) -> None:
        self.root, self.cache = root, tiny.cache
        tiny.copy_checkout(root)

    def command(self, *words: str) -> tuple[list[str], dict[str, Any]]:
        env = {**os.environ, "THEANO_STACKS_CACHE": str(self.cache)}
        return [*invoke(self.root), *words], {"cwd": self.root, "env": env}

    def invoke(self, *words: str) -> subprocess.CompletedProcess[str]:
        command, options = self.command(*words)
        done = called(command, **options)
        assert "Traceback" not in done.stderr, done.stderr
        return done


@pytest.fixture
def checkout(tiny: Tiny, tmp_path: Path) -> Checkout:
    root = tmp_path / "a checkout, é"
    root.mkdir()
    return Checkout(tiny, root)


def test_clean_during_a_build(checkout: Checkout) -> None:
    place = checkout.root / "build/prefixes/tiny/by-conda"
    checkout.invoke("build", "-v", "by-conda")
    (place / READY).write_text("{}")
    command, options = checkout.command("build", "-v", "by-conda")
    with hold_lock(place, "it"):
        building = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **options)
        assert building.stderr
        assert any("waiting: the environment tiny/by-conda" in line for line in building.stderr)
        before = tree(checkout.root / "build"), tree(checkout.cache)
        for words in ((), ("-v", "by-conda"), ("-v", "by-pip", "--cache")):
            done = checkout.invoke("clean", *words)
            assert (done.returncode, done.stdout) == (1, ""), words
            assert "is in use: nothing was removed" in done.stderr
            assert f"found:    process {building.pid}: " in done.stderr
            assert "build -v by-conda" in done.stderr and "fix:      wait until" in done.stderr
        assert (tree(checkout.root / "build"), tree(checkout.cache)) == before
        assert checkout.invoke("clean", "-v", "by-pip").stdout == "nothing to remove\n"
    with building:
        building.communicate()
    assert checkout.invoke("run", "-v", "by-conda", "--", "true").returncode == 0
    assert f"removing {place.parent.parent}\n" in checkout.invoke("clean").stdout
    assert not any((checkout.root / "build").iterdir())
