"""Environments at unusual paths and on other file systems, of a moved checkout, and their settings.

However a person starts one: by path, by activation, by `run`; `clean` during a build."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from rattler.shell import ActivationVariables, Shell, activate

from integration.conftest import Prefix
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


def test_an_environment_on_another_file_system_is_copied(tiny: Tiny, tmp_path: Path) -> None:
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK) or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("/dev/shm is not another file system than the temporary folder")
    variant = tiny.variant("by-pip")
    with tempfile.TemporaryDirectory(prefix="theano-stacks-", dir=memory) as folder:
        target = Path(folder) / "environment"
        copied = pipeline.make_environment(tiny.workspace, variant, target)
        assert (copied / "lib/python2.7/os.py").stat().st_nlink == 1
        subprocess.run([copied / "bin/python", "-c", "import six"], check=True)


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


def test_clean_during_a_build(tiny: Tiny, tmp_path: Path) -> None:
    root = tmp_path / "a checkout, é"
    root.mkdir()
    tiny.copy_checkout(root)
    env = {**os.environ, "THEANO_STACKS_CACHE": str(tiny.cache)}

    def task(*words: str) -> subprocess.CompletedProcess[str]:
        done = called([*invoke(root), *words], cwd=root, env=env)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    place = root / "build/prefixes/tiny/by-conda"
    task("build", "-v", "by-conda")
    (place / READY).write_text("{}")
    with hold_lock(place, "it"):
        words = [*invoke(root), "build", "-v", "by-conda"]
        building = subprocess.Popen(words, cwd=root, env=env, stderr=subprocess.PIPE, text=True)
        assert building.stderr
        assert any("waiting: the environment tiny/by-conda" in line for line in building.stderr)
        before = tree(root / "build"), tree(tiny.cache)
        for chosen in ((), ("-v", "by-conda"), ("-v", "by-pip", "--cache")):
            done = task("clean", *chosen)
            assert (done.returncode, done.stdout) == (1, ""), chosen
            assert "is in use: nothing was removed" in done.stderr
            assert f"found:    process {building.pid}: " in done.stderr
            assert "build -v by-conda" in done.stderr and "fix:      wait until" in done.stderr
        assert (tree(root / "build"), tree(tiny.cache)) == before
        assert task("clean", "-v", "by-pip").stdout == "nothing to remove\n"
    with building:
        building.communicate()
    assert task("run", "-v", "by-conda", "--", "true").returncode == 0
    assert f"removing {place.parent.parent}\n" in task("clean").stdout
    assert not any((root / "build").iterdir())


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


def run_task(*words: str) -> subprocess.CompletedProcess[str]:
    return called([*invoke(), *words])


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
    done = run_task("run", "-v", "openblas", "-f", framework, "--", "python", str(ask))
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
    done = run_task("run", "-v", "openblas", "-f", framework, "--", "python", str(home / "ask.py"))
    assert done.stdout.strip().splitlines()[-1] == expected(place, "verbose", "-O2", "float32")
    assert not warnings_of(done.stderr)
    (home / "one").write_text("[global]\noptimizer_verbose = True\n")
    (home / "two").write_text("[gcc]\ncxxflags = -O1\n")
    monkeypatch.setenv("THEANORC", f"{home}/one:{home}/two")
    assert out(place / "bin/python", home / "ask.py") == expected(place, "verbose", "-O1")


MAKERS = {"btrfs": ("mkfs.btrfs", "-q"), "xfs": ("mkfs.xfs", "-q"), "ext4": ("mkfs.ext4", "-q")}
SIZE = 400 << 20
EDITED = "lib/python2.7/os.py"


@pytest.fixture
def file_system(kind: str, tmp_path: Path) -> Iterator[Path]:
    """Give a folder on a new file system of the kind, in a file."""
    maker = MAKERS[kind]
    if os.geteuid() or not shutil.which(maker[0]):
        pytest.skip(f"no {kind} to test on: only root with {maker[0]} can make one")
    image, folder = tmp_path / "image", tmp_path / "mounted"
    folder.mkdir()
    with image.open("wb") as file:
        file.truncate(SIZE)
    subprocess.run([*maker, image], check=True, capture_output=True)
    mounted = called(["mount", "-o", "loop", image, folder])
    if mounted.returncode:
        pytest.skip(f"no {kind} to test on: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize(("kind", "shares"), [("btrfs", False), ("xfs", False), ("ext4", True)])
def test_where_an_edit_in_an_environment_reaches(
    kind: str, shares: bool, file_system: Path, tiny_model: Tiny
) -> None:
    shutil.copytree(tiny_model.root, file_system / "tiny")
    tiny = Tiny(file_system / "tiny")
    first = tiny.make("by-conda")
    second = pipeline.make_environment(
        tiny.workspace, tiny.variant("by-conda"), file_system / "second"
    )
    [cached] = tiny.cache.glob(f"unpacked/*/{EDITED}")
    sound = cached.read_bytes()
    edited = first / EDITED
    if shares:
        assert edited.stat().st_mode & 0o222 == 0
    edited.chmod(0o644)
    edited.write_bytes(sound + b"# edited\n")
    assert ((second / EDITED).read_bytes() != sound) == shares
    assert (cached.read_bytes() != sound) == shares
    # Whatever the edit reached, a repair and the next environment are as the packages say.
    pipeline.make_environment(
        tiny.workspace, tiny.variant("by-conda"), file_system / "second", repair=True
    )
    third = pipeline.make_environment(
        tiny.workspace, tiny.variant("by-conda"), file_system / "third"
    )
    assert (second / EDITED).read_bytes() == (third / EDITED).read_bytes() == sound
