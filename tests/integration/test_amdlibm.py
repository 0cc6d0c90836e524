"""amdlibm-compat computes correctly at every tier and in user code; AMD LibM can replace it."""

import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from integration.checking import checked
from integration.conftest import Prefix
from integration.programs import avx512, printed, result
from stacks.channel import candidates as candidates_module
from stacks.channel.assemble import Candidate
from stacks.channel.candidates import Channel
from stacks.channel.recipe import read_recipes
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.environments.make import build as pipeline
from stacks.environments.programs import SUITE
from stacks.variants.load import load_variant

DRIVER = Path(__file__).with_name("libm_driver.py")
TIERS = ("sse2", "avx2", "avx512")
LOOP = """
#include <math.h>
#include <amdlibm.h>
#define LOOPS(name) \\
  extern "C" void loop_vrsa_##name##f(int n, float *x, float *z) \\
    { for (int i = 0; i < n; i++) z[i] = name(x[i]); } \\
  extern "C" void loop_vrda_##name(int n, double *x, double *z) \\
    { for (int i = 0; i < n; i++) z[i] = name(x[i]); }
"""
LOOPED = ("exp", "log", "log2", "sin", "cos", "tanh", "log1p", "expm1")
# Theano's types and signatures; the counts that only a long can hold.
MANY = """
#include <amdlibm.h>
#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>
int main() {
  const long part = 2 << 20, n = (1L << 31) + 5, bytes = (n * 4 / part + 1) * part;
  float *arrays[2];
  for (float *&array : arrays) {
    int file = memfd_create("array", 0);
    if (ftruncate(file, part)) return 2;
    char *place = (char *)mmap(0, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (long at = 0; at < bytes; at += part)
      mmap(place + at, part, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    array = (float *)place;
  }
  float *x = arrays[0], *z = arrays[1];
  char *last = (char *)z + bytes - part;
  mmap(last, part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
  for (long i = 0; i < part / 4; i++) x[i] = 0;
  amd_vrsa_expf(n, x, z);
  amd_vrsa_expf(-n, x, z);
  std::printf("%g %g %g\\n", z[0], z[n - 1], z[n]);
}
"""
AMDS = """
static const char *version = "AOCL-LibM 0.0.0, made up for a test";
const char *amd_version(void) { return version; }
#include <math.h>
void amd_vrsa_expf(int n, float *x, float *z) { for (int i = 0; i < n; i++) z[i] = expf(x[i]); }
void amd_vrda_exp(int n, double *x, double *z) { for (int i = 0; i < n; i++) z[i] = exp(x[i]); }
"""


@pytest.fixture
def place(prefix: Prefix) -> Path:
    return prefix("theano-1.0.5", "openblas-amdlibm")


@pytest.mark.parametrize("tier", TIERS)
def test_every_tier_computes_correctly(place: Path, tier: str) -> None:
    """ULP, special values, few elements, in place, not aligned, nothing written outside."""
    library = place / "lib/libamdlibm.so"
    assert result(place, DRIVER, library, SUITE, AMDLIBM_COMPAT_MAX=tier) == []


def test_the_variable_only_lowers_the_tier(place: Path) -> None:
    program = (
        "import ctypes, sys; f = ctypes.CDLL(sys.argv[1]).amdlibm_compat_tier;"
        "f.restype = ctypes.c_char_p; print(f().decode())"
    )

    def tier(limit: str) -> str:
        words = ("-c", program, place / "lib/libamdlibm.so")
        return printed(place, *words, AMDLIBM_COMPAT_MAX=limit).strip()

    best = tier("")
    assert tier("sse2") == "sse2"
    assert tier("avx512") == tier("avx9") == best
    assert TIERS.index(tier("avx2")) == min(1, TIERS.index(best))


def compile_against(place: Path, source: Path, target: Path, *flags: str) -> None:
    """Compile a C++ file that calls the library with an environment's compiler."""
    words: list[str | Path] = [place / "bin/g++", source, "-o", target, *flags]
    words += ["-lamdlibm", f"-Wl,-rpath,{place / 'lib'}", "-Wl,-rpath,/usr/lib"]
    subprocess.run(words, check=True)


@pytest.mark.parametrize(
    "flags",
    [
        ["-msse2"],
        ["-mavx"],
        ["-mavx2", "-mfma"],
        pytest.param(["-mavx512f"], marks=avx512),
        ["-march=native"],
    ],
)
def test_loops_in_user_code_compute_correctly(
    place: Path, tmp_path: Path, flags: list[str]
) -> None:
    source, library = tmp_path / "loops.cpp", tmp_path / "loops.so"
    source.write_text(LOOP + "".join(f"LOOPS({name})\n" for name in LOOPED))
    flags = [*flags, "-O3", "-DREPLACE_WITH_AMDLIBM", "-shared", "-fPIC"]
    compile_against(place, source, library, *flags)
    names = [f"loop_vrsa_{name}f" for name in LOOPED] + [f"loop_vrda_{name}" for name in LOOPED]
    assert result(place, DRIVER, library, SUITE, *names) == []


def test_more_elements_than_an_int_can_count(place: Path, tmp_path: Path) -> None:
    (tmp_path / "many.cpp").write_text(MANY)
    compile_against(place, tmp_path / "many.cpp", tmp_path / "many", "-O1", "-D_GNU_SOURCE")
    assert subprocess.check_output([tmp_path / "many"], text=True) == "1 1 0\n"


def test_amdlibm_and_amdlibm_compat_exclude_each_other(workspace: Workspace) -> None:
    recipes = read_recipes(workspace.recipes)
    channel = candidates_module.read_channel(workspace)
    assert not [o for o in channel.candidates.values() if o.recipe.package.name == "amdlibm"]
    package = recipes["amdlibm"].package.model_copy(update={"version": "4.2.0"})
    amds = Candidate(recipes["amdlibm"].model_copy(update={"package": package}), "0" * 64)
    both = Channel({**channel.candidates, amds.file_name: amds}, channel.pins)
    with pytest.raises(UsageError, match="cannot satisfy"):
        candidates_module.solve(both, ["amdlibm", "amdlibm-compat"])


def write_archive(path: Path, compiler: Path) -> None:
    """Write an archive laid out like AMD's."""
    source, library, home = path.with_name("alm.c"), path.with_name("libalm.so"), "amd-libm"
    source.write_text(AMDS)
    words: list[str | Path] = [compiler, "-O2", "-shared", "-fPIC", "-Wl,-soname,libalm.so"]
    subprocess.run([*words, source, "-o", library, "-lm"], check=True)
    with tarfile.open(path, "w:gz") as tar:
        tar.add(library, f"{home}/lib/libalm.so")
        tar.add(library, f"{home}/lib/static/libalm.a")
        text = b"#ifndef AMD_LIBM_H\n#define AMD_LIBM_H\ndouble amd_exp(double);\n#endif\n"
        entry = tarfile.TarInfo(f"{home}/include/amdlibm.h")
        entry.size = len(text)
        tar.addfile(entry, io.BytesIO(text))


def test_amdlibm_from_a_tarball_replaces_amdlibm_compat(
    workspace: Workspace,
    prefix: Prefix,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    target, tarball = tmp_path / "environment", tmp_path / "aocl-libm-linux-gcc-4.2.0.tar.gz"
    variant = load_variant(workspace, "openblas-amdlibm", "theano-1.0.5")
    write_archive(tarball, prefix("theano-1.0.5", "openblas") / "bin/gcc")
    monkeypatch.setenv("AMDLIBM_TARBALL", str(tarball))
    pipeline.make_environment(workspace, variant, target)
    assert "unlocked amdlibm 4.2.0 from AMDLIBM_TARBALL in place of" in capsys.readouterr().err
    libm, loops, accuracy = checked(target, "libm", "loops", "accuracy")
    assert (libm.status, libm.detail) == ("pass", "AMD LibM, libalm.so")
    assert (loops.status, accuracy.status) == ("skip", "pass")
    program = (
        "import numpy, theano, theano.tensor as T; x = T.fvector();"
        "f = theano.function([x], x ** numpy.float32(1.5)); print(f([4])[0])"
    )
    powers = subprocess.check_output([target / "bin/python", "-c", program], text=True)
    assert powers == "8.0\n", "this release has no amd_vrsa_powxf"
    monkeypatch.delenv("AMDLIBM_TARBALL")
    pipeline.make_environment(workspace, variant, target)
    assert checked(target, "libm")[0].detail.startswith("amdlibm-compat")
