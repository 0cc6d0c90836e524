"""What is in the packages: every ELF file of every framework's environment, and the Pythons."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

from integration.conftest import Prefix
from integration.programs import called
from stacks.channel.staging.elf import elf_files
from stacks.environments.make.settings import EXPECTATION

NEWEST_GLIBC = (2, 31)
OF_THE_SYSTEM = {
    *("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1"),
    "ld-linux-x86-64.so.2",
}
# One of numba's threading layers, used where the user has installed it.
OPTIONAL = {"libtbb.so.12"}
PLACES = [
    ("theano-1.0.5", "openblas"),
    ("theano-0.8.2", "openblas"),
    ("theano-1.0.5", "blis"),
    ("theano-1.0.5", "mkl"),
    ("pytensor-2.38.3", "openblas"),
    ("pytensor-3.3.7", "openblas"),
    ("theano-pymc-1.1.2", "openblas"),
    ("aesara-2.8.7", "openblas"),
]


@pytest.fixture(params=PLACES, ids="/".join)
def place(request: pytest.FixtureRequest, prefix: Prefix) -> Path:
    return prefix(*request.param)


def is_inside(place: Path, path: Path) -> bool:
    return path.resolve(strict=True).is_relative_to(place.resolve())


def test_programs_need_no_newer_glibc_and_only_libraries_of_the_environment(place: Path) -> None:
    newer, lacking = set(), set()
    newest = (2, 35) if place.parent.name == "pytensor-2.38.3" else NEWEST_GLIBC
    # Not the C library of the compiler's own sysroot.
    sysroot = place / "lib/gxx-sysroot/lib"
    for path in (path for path in elf_files(place) if not path.is_relative_to(sysroot)):
        with path.open("rb") as file:
            elf = ELFFile(file)
            section = elf.get_section_by_name(".dynamic")
            if not isinstance(section, DynamicSection):
                continue
            tags = list(section.iter_tags())
            needed = elf.get_section_by_name(".gnu.version_r")
            found = isinstance(needed, GNUVerNeedSection) and list(needed.iter_versions())
            for _, versions in found or ():
                names = [v.name for v in versions if v.name.startswith("GLIBC_2")]
                numbers = [tuple(map(int, n.removeprefix("GLIBC_").split("."))) for n in names]
                newer |= {(path, number) for number in numbers if number > newest}
        rpaths = [str(vars(t)[n]) for t in tags for n in ("rpath", "runpath") if n in vars(t)]
        folders = [part for rpath in rpaths for part in rpath.split(":") if part]
        # SciPy's wheel still names a folder of the machine that built it.
        folders = [folder for folder in folders if not folder.startswith("/opt/_internal/")]
        assert all(folder.startswith("$ORIGIN") for folder in folders), (path, folders)
        # The DT_RPATH of the program that loads a module serves the module as well, and what a
        # wheel carries is loaded by modules that name its folder. The compiler's programs and
        # their libraries have an rpath of their own, and nothing else.
        compiler = path.is_relative_to(place / "lib/gxx-sysroot") and folders
        looked_in = [] if compiler else [place / "lib"]
        looked_in += [path.parent] * (".libs" in path.parent.name)
        looked_in += [Path(folder.replace("$ORIGIN", str(path.parent))) for folder in folders]
        for name in {str(vars(tag)["needed"]) for tag in tags if "needed" in vars(tag)}:
            where = [folder / name for folder in looked_in if (folder / name).is_file()]
            is_there = any(is_inside(place, each) for each in where)
            if name not in OF_THE_SYSTEM | OPTIONAL and not is_there:
                lacking.add((str(path.relative_to(place)), name))
    assert (newer, lacking) == (set(), set())
    links = [path for path in place.rglob("*") if path.is_symlink()]
    assert links and [path for path in links if not is_inside(place, path)] == []


WHOLE = """
import bz2, ctypes, curses, decimal, hashlib, json, multiprocessing, readline, sqlite3, ssl, sys
import xml.parsers.expat, zlib, distutils.core, os, pkgutil, pydoc, site, sysconfig
from distutils import sysconfig as old
if sys.version_info[0] == 3:
    import _decimal, lzma, uuid, _uuid
else:
    import bsddb, dbm
if sys.version_info >= (3, 13):
    import dbm.sqlite3
else:
    import crypt
    if sys.version_info[0] == 3:
        import dbm.ndbm
expected = {(2, 7): "1.1.1", (3, 9): "1.1.1", (3, 11): "3.0", (3, 13): "3.5"}[sys.version_info[:2]]
assert ssl.OPENSSL_VERSION.startswith("OpenSSL " + expected)
ssl.create_default_context()
assert sqlite3.connect(":memory:").execute("select 6 * 7").fetchone() == (42,)
assert hashlib.new("ripemd160", b"").hexdigest()[:4] == "9c11"
assert ctypes.CDLL("libsqlite3.so.0").sqlite3_libversion_number() > 3000000
assert bz2.decompress(bz2.compress(b"x")) == zlib.decompress(zlib.compress(b"x")) == b"x"

# Of 3.13 they need functions that its executable would lack if it had only what it calls.
version = "%d.%d" % sys.version_info[:2]
folder = os.path.join(sys.prefix, "lib", "python" + version, "lib-dynload")
names = [name for _, name, _ in pkgutil.iter_modules([folder])]
assert len(names) > 20
for name in names:
    __import__(name)

# The frozen site of Debian's 3.11 names two folders of Debian's as well, which are not there.
here = [p for p in site.getsitepackages() if os.path.exists(p)]
assert here
paths = list(sysconfig.get_paths().values()) + here + [
    sys.prefix, sys.exec_prefix, old.get_python_lib(), old.get_python_inc(),
    sysconfig.get_config_h_filename(), sysconfig.get_makefile_filename(),
    sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INCLUDEPY")]
assert all(os.path.exists(p) for p in paths if "makefile" not in p.lower()), paths
paths += [p for p in sys.path if p]
assert not [p for p in paths if not p.startswith(sys.argv[1]) or "dist-packages" in p], paths
values = [v for v in sysconfig.get_config_vars().values() if isinstance(v, str)]
assert not [v for v in values if "dist-packages" in v or "x86_64-linux-gnu-" in v], values
print("whole")
"""


def test_python_is_whole_and_reports_its_own_paths(place: Path) -> None:
    done = called([place / "bin/python", "-W", "ignore", "-c", WHOLE, place])
    assert done.stdout.split()[-1:] == ["whole"], done.stderr


SETUP = """
from distutils.core import Extension, setup
setup(name="probe", version="1", ext_modules=[Extension("probe", ["probe.c"]),
      Extension("probepp", ["probepp.cpp"], extra_compile_args=["-std=c++14", "-fopenmp"],
                extra_link_args=["-fopenmp"])])
"""
PROBE = """
#include <Python.h>
#include <math.h>
#include <%s>
int probe_value(void) { return (int)cos(0.0) + 41; }
#if PY_MAJOR_VERSION >= 3
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "%s", 0, -1, 0, 0, 0, 0, 0};
PyMODINIT_FUNC PyInit_%s(void) {
    PyObject *m = PyModule_Create(&module);
    PyModule_AddIntConstant(m, "value", probe_value());
    return m;
}
#else
PyMODINIT_FUNC init%s(void) {
    PyObject *m = Py_InitModule("%s", NULL);
    PyModule_AddIntConstant(m, "value", probe_value());
}
#endif
"""
LINKED = """
#include <iostream>
#include <vector>
extern "C" double cblas_ddot(int, const double *, int, const double *, int);
int main() {
    std::vector<double> v(3, 2);
    std::cout << cblas_ddot(3, v.data(), 1, v.data(), 1) << std::endl;
}
"""


def test_extensions_and_programs_compile_with_the_environments_own_compiler(
    place: Path, tmp_path: Path
) -> None:
    (tmp_path / "setup.py").write_text(SETUP)
    (tmp_path / "probe.c").write_text(PROBE % ("stdio.h", *["probe"] * 4))
    (tmp_path / "probepp.cpp").write_text(PROBE % ("iostream", *["probepp"] * 4))
    # Nothing of the host's: only the environment's programs.
    env = {"PATH": str(place / "bin"), "LC_ALL": "C"}
    words = ["-q", "build_ext", "--inplace"]
    subprocess.run([place / "bin/python", "setup.py", *words], cwd=tmp_path, env=env, check=True)
    code = "import probe, probepp; print(probe.value + probepp.value)"
    command: list[str | Path] = [place / "bin/python", "-c", code]
    assert subprocess.check_output(command, cwd=tmp_path, env=env, text=True) == "84\n"

    (tmp_path / "x.cpp").write_text(LINKED)
    ldflags = json.loads((place / EXPECTATION).read_bytes())["blas"]["ldflags"].split()
    words = ["x.cpp", "-o", "x", *ldflags, f"-Wl,-rpath,{place}/lib"]
    subprocess.run([place / "bin/g++", *words], cwd=tmp_path, check=True)
    # What the environment's Python sets when it starts: MKL's other layers are not there.
    env = {**os.environ, "MKL_THREADING_LAYER": "GNU", "MKL_INTERFACE_LAYER": "LP64"}
    assert subprocess.check_output([tmp_path / "x"], text=True, env=env) == "12\n"


@pytest.mark.parametrize("framework", ["pytensor-2.38.3", "pytensor-3.3.7"])
def test_pytensor_keeps_its_compiler_where_the_path_has_only_the_environment(
    framework: str, prefix: Prefix, tmp_path: Path
) -> None:
    """It drops one that does not run, without an error, and computes in Python."""
    code = "import pytensor; print(repr([pytensor.config.cxx, pytensor.config.blas__ldflags]))"
    place = prefix(framework, "openblas")
    env = {"PATH": str(place / "bin"), "HOME": str(tmp_path), "LC_ALL": "C"}
    output = subprocess.check_output([place / "bin/python", "-c", code], env=env, text=True)
    assert output.splitlines()[-1] == "['g++', '-lblas_threads -lopenblas']"
