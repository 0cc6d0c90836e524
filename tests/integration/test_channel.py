"""What is in the packages: every ELF file of every framework's environment, and the Pythons."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

from integration.conftest import Prefix
from stacks.channel.staging.elf import elf_files
from stacks.environments.make.settings import EXPECTATION

FRAMEWORKS = ("theano-1.0.5", "theano-0.8.2")
NEWEST_GLIBC = (2, 31)
OF_THE_SYSTEM = {
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "libutil.so.1",
    "ld-linux-x86-64.so.2",
}
# One of numba's threading layers, used where the user has installed it.
OPTIONAL = {"libtbb.so.12"}


PLACES = [
    *((framework, "openblas") for framework in FRAMEWORKS),
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


def dynamic(root: Path) -> Iterator[tuple[Path, ELFFile, DynamicSection]]:
    """Yield the programs and libraries, but for the C library of the compiler's own sysroot."""
    sysroot = root / "lib/gxx-sysroot/lib"
    for path in elf_files(root):
        if path.is_relative_to(sysroot):
            continue
        with path.open("rb") as file:
            elf = ELFFile(file)
            section = elf.get_section_by_name(".dynamic")
            if isinstance(section, DynamicSection):
                yield path, elf, section


def expectation(place: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((place / EXPECTATION).read_bytes())
    return content


def inside(place: Path) -> Callable[[Path], bool]:
    return lambda path: path.resolve(strict=True).is_relative_to(place.resolve())


def test_programs_need_no_newer_glibc_and_only_libraries_of_the_environment(place: Path) -> None:
    newer, lacking = set(), set()
    newest = (2, 35) if place.parent.name == "pytensor-2.38.3" else NEWEST_GLIBC
    for path, elf, section in dynamic(place):
        needed = elf.get_section_by_name(".gnu.version_r")
        for _, versions in needed.iter_versions() if isinstance(needed, GNUVerNeedSection) else ():
            names = [v.name for v in versions if v.name.startswith("GLIBC_2")]
            numbers = [tuple(map(int, n.removeprefix("GLIBC_").split("."))) for n in names]
            newer |= {(path, number) for number in numbers if number > newest}
        tags = list(section.iter_tags())
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
            if name not in OF_THE_SYSTEM | OPTIONAL and not any(map(inside(place), where)):
                lacking.add((str(path.relative_to(place)), name))
    assert (newer, lacking) == (set(), set())


def test_no_link_is_broken_or_leaves_the_environment(place: Path) -> None:
    links = [path for path in place.rglob("*") if path.is_symlink()]
    assert links
    assert [path for path in links if not inside(place)(path)] == []


def python(place: Path, code: str) -> str:
    return subprocess.check_output(
        [place / "bin/python", "-W", "ignore", "-c", code], text=True, stderr=subprocess.STDOUT
    ).strip()


def test_the_standard_library_is_complete(place: Path) -> None:
    assert python(
        place,
        """
import bz2, ctypes, curses, decimal, hashlib, json, multiprocessing, readline, sqlite3, ssl, sys
import xml.parsers.expat, zlib, distutils.core, sysconfig, pydoc
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
print("whole")
""",
    ) == "whole"  # fmt: skip


def test_every_compiled_module_of_the_standard_library_imports(place: Path) -> None:
    """Of 3.13 they need functions that its executable would lack if it had only what it calls."""
    code = """
import os, pkgutil, sys
version = "%d.%d" % sys.version_info[:2]
folder = os.path.join(sys.prefix, "lib", "python" + version, "lib-dynload")
names = [name for _, name, _ in pkgutil.iter_modules([folder])]
for name in names:
    __import__(name)
print(len(names))
"""
    assert int(python(place, code).split()[-1]) > 20


def test_python_reports_its_own_paths(place: Path) -> None:
    output = python(
        place,
        """
import os, site, sys, sysconfig
from distutils import sysconfig as old
# The frozen site of Debian's 3.11 names two folders of Debian's as well, which are not there.
here = [p for p in site.getsitepackages() if os.path.exists(p)]
assert here
paths = list(sysconfig.get_paths().values()) + here + [
    sys.prefix, sys.exec_prefix, old.get_python_lib(), old.get_python_inc(),
    sysconfig.get_config_h_filename(), sysconfig.get_makefile_filename(),
    sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INCLUDEPY")]
assert all(os.path.exists(p) for p in paths if "makefile" not in p.lower()), paths
print("\\n".join(paths + [p for p in sys.path if p]))
values = [v for v in sysconfig.get_config_vars().values() if isinstance(v, str)]
assert not [v for v in values if "dist-packages" in v or "x86_64-linux-gnu-" in v], values
""",
    )
    assert [line for line in output.splitlines() if not line.startswith(str(place))] == []
    assert "dist-packages" not in output


def test_pip_lists_the_installed_packages(place: Path) -> None:
    pip = [str(place / "bin/python"), "-m", "pip", "--disable-pip-version-check"]
    version = subprocess.check_output([*pip, "--version"], text=True, stderr=subprocess.DEVNULL)
    assert str(place) in version
    listed = subprocess.check_output(
        [*pip, "list", "--format", "freeze"], text=True, stderr=subprocess.DEVNULL
    )
    names = {line.partition("==")[0].lower() for line in listed.splitlines()}
    framework = place.parent.name.rpartition("-")[0]
    assert names >= {"numpy", "pip", "scipy", "setuptools", "wheel", framework}


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


def test_an_extension_compiles_with_the_environments_own_compiler(
    place: Path, tmp_path: Path
) -> None:
    (tmp_path / "setup.py").write_text(SETUP)
    (tmp_path / "probe.c").write_text(PROBE % ("stdio.h", *["probe"] * 4))
    (tmp_path / "probepp.cpp").write_text(PROBE % ("iostream", *["probepp"] * 4))
    # Nothing of the host's: only the environment's programs.
    env = {"PATH": str(place / "bin"), "LC_ALL": "C"}
    subprocess.run(
        [place / "bin/python", "setup.py", "-q", "build_ext", "--inplace"],
        cwd=tmp_path,
        env=env,
        check=True,
    )
    output = subprocess.check_output(
        [place / "bin/python", "-c", "import probe, probepp; print(probe.value + probepp.value)"],
        cwd=tmp_path,
        env=env,
        text=True,
    )
    assert output == "84\n"


@pytest.mark.parametrize("framework", ["pytensor-2.38.3", "pytensor-3.3.7"])
def test_pytensor_keeps_its_compiler_where_the_path_has_only_the_environment(
    framework: str, prefix: Prefix, tmp_path: Path
) -> None:
    """It drops one that does not run, without an error, and computes in Python."""
    code = "import pytensor; print(repr([pytensor.config.cxx, pytensor.config.blas__ldflags]))"
    place = prefix(framework, "openblas")
    output = subprocess.check_output(
        [place / "bin/python", "-c", code],
        env={"PATH": str(place / "bin"), "HOME": str(tmp_path), "LC_ALL": "C"},
        text=True,
    )
    assert output.splitlines()[-1] == "['g++', '-lblas_threads -lopenblas']"


def test_a_program_compiles_links_and_runs(place: Path, tmp_path: Path) -> None:
    (tmp_path / "x.cpp").write_text(
        "#include <iostream>\n#include <vector>\n"
        'extern "C" double cblas_ddot(int, const double *, int, const double *, int);\n'
        "int main() { std::vector<double> v(3, 2); "
        "std::cout << cblas_ddot(3, v.data(), 1, v.data(), 1) << std::endl; }\n"
    )
    ldflags = expectation(place)["blas"]["ldflags"].split()
    command = [str(place / "bin/g++"), "x.cpp", "-o", "x", *ldflags, f"-Wl,-rpath,{place}/lib"]
    subprocess.run(command, cwd=tmp_path, check=True)
    # What the environment's Python sets when it starts: MKL's other layers are not there.
    env = {**os.environ, "MKL_THREADING_LAYER": "GNU", "MKL_INTERFACE_LAYER": "LP64"}
    assert subprocess.check_output([tmp_path / "x"], text=True, env=env) == "12\n"
