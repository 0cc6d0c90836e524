"""What is compiled for an image, and the hook that gives each process its compile folder."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.channel.settings_files import HOOK
from stacks.core.errors import UsageError
from stacks.image import files
from stacks.variants.load import load_variant
from unit.helpers.checkout import CHECKOUT
from verify.core import machine

VARIANT = load_variant(CHECKOUT, "openblas")
# Stands for the environment's own hook, which runs before.
BEFORE = 'import os\nos.environ["THEANORC"] = "/opt/theano/etc/theanorc:~/.theanorc"\n'
PROGRAM = """
import json, os, sys
sys.base_prefix = sys.argv[1]
sys.path.insert(0, sys.argv[1] + "/lib/python3.9/site-packages")
for line in open(sys.argv[1] + "/lib/python3.9/site-packages/theano-stacks.pth"):
    exec(line)
print(json.dumps(os.environ["THEANORC"].split(os.pathsep)))
"""


# As in a container.
AS_FIRST = "import os\nos.getpid = lambda: 1\n" + PROGRAM
# Has another process make the folder while this one copies the first module.
OVERTAKEN = f"""
import shutil, subprocess, sys
plain, program = shutil.copyfile, {PROGRAM!r}
def copyfile(source, target):
    shutil.copyfile = plain
    subprocess.check_call([sys.executable, "-c", program, sys.argv[1]], stdout=2)
    plain(source, target)
shutil.copyfile = copyfile
{PROGRAM}"""


class Image:
    """A prefix with a warm module, the hook, and a home and a /tmp of its own."""

    def __init__(self, root: Path) -> None:
        self.prefix, self.tmp, self.home = root / "prefix", root / "tmp", root / "home"
        self.site_packages = self.prefix / "lib/python3.9/site-packages"
        self.site_packages.mkdir(parents=True)
        (self.site_packages / f"{HOOK}.py").write_text(BEFORE)
        warm = self.prefix / "var/compiledir/compiledir/tmp1"
        warm.mkdir(parents=True)
        (warm / "module.so").write_text("warm")
        os.utime(warm / "module.so", (0, 0))
        files.add_hook(VARIANT, self.prefix, "openblas-0123")
        self.tmp.mkdir()
        self.home.mkdir()

    def has_cpu(self, flags: str) -> None:
        """Have the hook read these flags of a CPU."""
        (self.prefix / "cpuinfo").write_text(f"processor\t: 0\nflags\t\t: {flags}\nbugs\t\t:\n\n")
        hook = self.site_packages / f"{files.HOOK}.py"
        hook.write_text(hook.read_text().replace("/proc/cpuinfo", f"{self.prefix}/cpuinfo"))

    def start(self, program: str = PROGRAM, **variables: str) -> subprocess.CompletedProcess[str]:
        """Start a Python with the hook."""
        return subprocess.run(
            [sys.executable, "-c", program, self.prefix],
            env={"TMPDIR": str(self.tmp), "HOME": str(self.home), **variables},
            capture_output=True,
            text=True,
            check=True,
        )

    def settings(self, **variables: str) -> Path:
        """Return the file that a start adds to the framework's settings."""
        done = self.start(**variables)
        assert done.stderr == ""
        first, own, last = json.loads(done.stdout)
        assert (first, last) == ("/opt/theano/etc/theanorc", "~/.theanorc")
        return Path(own)


@pytest.fixture
def image(tmp_path: Path) -> Image:
    image = Image(tmp_path)
    image.has_cpu(" ".join(("fpu", *files.CPU_FLAGS)))
    return image


def test_the_first_start_copies_the_warm_modules_to_a_folder_of_the_users(image: Image) -> None:
    settings = image.settings()
    place = settings.parent
    assert place == image.tmp / f"theano-{os.getuid()}" / f"openblas-0123-{files.MARCH}"
    assert settings.read_text() == (
        f"[global]\nbase_compiledir = {place / 'theano-stacks'}\ncompiledir_format = compiledir\n"
        f"[gcc]\ncxxflags = -march={files.MARCH}\n"
    )
    module = place / "theano-stacks/compiledir/tmp1/module.so"
    assert module.read_text() == "warm"
    # The framework throws away modules that were not used for a month.
    assert module.stat().st_mtime > 0
    assert place.parent.stat().st_mode & 0o777 == 0o700
    # A second start takes what is there.
    compiled_since = place / "theano-stacks/compiledir/new.so"
    compiled_since.write_text("new")
    assert image.settings() == settings
    assert compiled_since.read_text() == "new"
    assert [path.name for path in place.parent.iterdir()] == [place.name]


def test_the_part_of_a_killed_container_neither_hinders_the_next_nor_stays(image: Image) -> None:
    folder = image.tmp / f"theano-{os.getuid()}"
    folder.mkdir(mode=0o700)
    name = f"openblas-0123-{files.MARCH}"
    for number in ("1", "0123456789abcdef"):
        (folder / f"{name}.{number}.part/theano-stacks").mkdir(parents=True)
    done = image.start(AS_FIRST)
    assert done.stderr == ""
    assert [path.name for path in folder.iterdir()] == [name]
    assert (folder / name / "theano-stacks/compiledir/tmp1/module.so").read_text() == "warm"


def test_a_start_that_another_overtakes_takes_the_folder_of_the_other(image: Image) -> None:
    done = image.start(OVERTAKEN)
    assert "no folder" not in done.stderr
    settings = Path(json.loads(done.stdout)[1])
    assert [path.name for path in settings.parents[1].iterdir()] == [settings.parent.name]
    assert (settings.parent / "theano-stacks/compiledir/tmp1/module.so").read_text() == "warm"


def test_a_cpu_that_cannot_run_the_warm_modules_compiles_its_own(image: Image) -> None:
    """So does one whose user chooses that; each CPU on one volume has its own."""
    found = set()
    for flags, variables in (
        ("fpu sse2", {}),
        ("fpu sse2", {"THEANO_STACKS_MARCH": "native"}),
        ("fpu sse2 avx2", {"THEANO_STACKS_MARCH": "native"}),
        (" ".join(files.CPU_FLAGS), {"THEANO_STACKS_MARCH": "native"}),
    ):
        image.has_cpu(flags)
        settings = image.settings(**variables)
        assert "cxxflags = -march=native" in settings.read_text()
        assert list((settings.parent / "theano-stacks").iterdir()) == []
        assert re.fullmatch("openblas-0123-native-[0-9a-f]{8}", settings.parent.name)
        found.add(settings.parent.name)
    assert len(found) == 3


def test_the_user_may_choose_the_folder(image: Image, tmp_path: Path) -> None:
    chosen = tmp_path / "100% volume"
    settings = image.settings(THEANO_STACKS_COMPILEDIR=str(chosen))
    assert settings.is_relative_to(chosen / f"theano-{os.getuid()}")
    assert (chosen / f"theano-{os.getuid()}").stat().st_mode & 0o777 == 0o700
    # In the framework's file a lone % would begin a reference.
    assert "100%% volume" in settings.read_text()
    assert list(image.tmp.iterdir()) == []


@pytest.mark.parametrize("is_link", [False, True])
def test_a_folder_that_others_may_write_and_a_link_are_not_used(
    image: Image, tmp_path: Path, is_link: bool
) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    for folder in (image.tmp, tmp_path / "elsewhere"):
        trap = folder / f"theano-{os.getuid()}"
        if is_link:
            trap.symlink_to(tmp_path / "elsewhere")
        else:
            trap.mkdir()
            trap.chmod(0o777)
    assert image.settings().is_relative_to(image.home)
    done = image.start(THEANO_STACKS_COMPILEDIR=str(tmp_path / "elsewhere"))
    assert f"what is compiled goes to {image.home}" in done.stderr
    assert is_link or "others may write to it" in done.stderr
    assert not list(image.tmp.glob("theano-*/*/theano-stacks"))


def test_the_error_without_a_writable_folder_has_a_fix(image: Image) -> None:
    done = image.start(TMPDIR="/proc/none", HOME="/proc/none")
    assert json.loads(done.stdout) == ["/opt/theano/etc/theanorc", "~/.theanorc"]
    assert re.search(r"(?s)no folder to compile in.*/proc/none/theano-.*--tmpfs /tmp", done.stderr)
    assert "Traceback" not in done.stderr


NAME = """it's "my"\\n cache"""


@pytest.mark.parametrize(
    ("flavour", "given", "variables", "folder"),
    [
        ("gpuarray", "", {}, "pocl"),
        ("gpuarray", "", {"POCL_CACHE_DIR": "/own/kernels"}, "/own/kernels"),
        # A stack's, of any characters.
        ("openblas", "POCL_CACHE_DIR", {}, NAME),
    ],
)
def test_folders_in_variables_go_to_a_folder_of_the_users(
    image: Image, flavour: str, given: str, variables: dict[str, str], folder: str
) -> None:
    variant = load_variant(CHECKOUT, flavour)
    if given:
        variant = variant.model_copy(update={"variables": {given: f"{{prefix}}/var/{NAME}"}})
    files.add_hook(variant, image.prefix, "own-0123")
    program = PROGRAM + 'print(os.environ["POCL_CACHE_DIR"])'
    output = image.start(program, THEANO_STACKS_MARCH="zen", **variables).stdout
    own = image.tmp / f"theano-{os.getuid()}" / "own-0123-zen" / folder
    assert output.splitlines()[-1] == str(own)


def test_a_cpu_without_the_needed_flags_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "read_text", lambda _: "processor : 0\nflags : fpu sse2\n")
    with pytest.raises(UsageError, match=r"(?s)this CPU cannot run.*no abm avx2"):
        files.check_machine()
    flags = f"flags : fpu {' '.join(files.CPU_FLAGS)}\n"
    monkeypatch.setattr(machine, "read_text", lambda _: flags)
    files.check_machine()


@pytest.mark.parametrize(("flavour", "device"), [("openblas", None), ("gpuarray-cuda", "cpu")])
def test_modules_are_compiled_without_a_gpu(flavour: str, device: str | None) -> None:
    """A machine that makes an image may have none, and `import theano` would end."""
    variant = load_variant(CHECKOUT, flavour, "theano-1.0.5")
    flags = files.warm_flags(variant, Path("/folder"))
    assert flags.get("device") == device
    assert flags["base_compiledir"] == "/folder" and flags["linker"] == "cvm"
