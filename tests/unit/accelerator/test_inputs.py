"""The hash of a module's inputs: what changes it, what does not, and what has none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unit.accelerator.conftest import Load

# Print what -march=native means, as g++ -### does.
COMPILER = """\
#!/bin/sh
echo ' cc1plus "-march=znver4" -mavx512f --param "l1-cache-size=32"' >&2
"""


@pytest.fixture
def inputs(load: Load) -> Any:
    return load("theano_stacks_inputs")


class Environment:
    """A folder with all of an environment that the compiler reads."""

    def __init__(self, inputs: Any, place: Path) -> None:
        self.inputs, self.place = inputs, place
        self.variables: dict[str, str] = {"PATH": f"{place}/bin:/usr/bin:/bin"}
        self.version = "10.2.1"
        self.arguments: dict[str, Any] = {
            "name": "m1",
            "source": "#include <Python.h>\n",
            "lib_dirs": [f"{place}/lib"],
            "libs": ["openblas", "python3.9"],
            "options": ("-O3", "-march=native", "--param", "l2-cache-size=512", "-DA=1", "-g0"),
            "hidden": True,
            "compiler": "g++",
            "settings": ["1.0.5"],
        }

    @property
    def folders(self) -> list[str]:
        return [f"{self.place}/include/python3.9", f"{self.place}/lib/numpy/include"]

    def write(self) -> Environment:
        self.put("bin/g++", COMPILER)
        (self.place / "bin/g++").chmod(0o755)
        self.put("conda-meta/gxx-10.json", "{}")
        self.put("conda-meta/libblas-3.json", "{}")
        self.put("include/python3.9/Python.h", "int a;")
        self.put("include/amdlibm.h", "int b;")
        self.put("lib/numpy/include/numpy/arrayobject.h", "int c;")
        self.put("lib/libpython3.9.so", "\x7fELF python")
        self.put("lib/libopenblas.so", "\x7fELF openblas")
        self.put("lib/gxx-sysroot/usr/include/math.h", "int d;")
        return self

    def put(self, name: str, text: str) -> None:
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def made(self) -> Any:
        """Return the Inputs of a new process."""
        return self.inputs.Inputs(str(self.place), self.version, self.variables)

    def key(self) -> str:
        arguments = {"include_dirs": self.folders, **self.arguments}
        key: str = self.made().key(self.inputs.Module(**arguments))
        return key


Change = Callable[[Environment], object]


@pytest.fixture
def environment(inputs: Any, tmp_path: Path) -> Environment:
    return Environment(inputs, tmp_path / "an é prefix").write()


def other(**arguments: Any) -> Change:
    return lambda environment: environment.arguments.update(arguments)


def variable(name: str, value: str) -> Change:
    return lambda environment: environment.variables.update({name: value})


def put(name: str, text: str) -> Change:
    return lambda environment: environment.put(name, text)


@pytest.mark.parametrize(
    "change",
    [
        other(name="m2"),
        other(source="#include <Python.h>\nint x;\n"),
        other(options=("-O2", "-g0")),
        other(options=("-march=native", "-O3", "--param", "l2-cache-size=512", "-DA=1", "-g0")),
        other(libs=["python3.9", "openblas"]),
        other(libs=["openblas", "python3.9", "x"]),
        other(hidden=False),
        other(settings=["0.8.2"]),
        put("bin/g++", COMPILER.replace("znver4", "znver3")),
        put("conda-meta/gxx-10.json", "{ }"),
        put("conda-meta/gxx-11.json", "{}"),
        put("include/python3.9/Python.h", "int A;"),
        put("include/python3.9/math.h", ""),
        put("include/amdlibm.h", "int B;"),
        put("lib/numpy/include/numpy/arrayobject.h", "int C;"),
        put("lib/libopenblas.so", "\x7fELF openblas 2"),
        put("lib/libpython3.9.so", "\x7fELF python 2"),
        put("lib/libstdc++.so", "\x7fELF of another package"),
        put("lib/libm.a", "!<arch>\n"),
        variable("LD_LIBRARY_PATH", "/opt/lib"),
        lambda environment: setattr(environment, "version", "10.2.2"),
    ],
)
def test_inputs_that_change_the_key(environment: Environment, change: Change) -> None:
    before = environment.key()
    assert len(before) == 64
    change(environment)
    (environment.place / "bin/g++").chmod(0o755)
    assert environment.key() != before


@pytest.mark.parametrize(
    "change",
    [
        put("conda-meta/libblas-3.json", "{ }"),
        put("lib/libother.so", "\x7fELF"),
        put("include/python3.9/cc.pyc", "written by Python"),
        put("include/python3.9/cc.py", "read by Python"),
        put("bin/python", ""),
        variable("HOME", "/elsewhere"),
        variable("CPATH", ""),
    ],
)
def test_inputs_that_do_not_change_the_key(environment: Environment, change: Change) -> None:
    before = environment.key()
    change(environment)
    assert environment.key() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *[(variable(name, "x"), name) for name in ("CPATH", "LIBRARY_PATH", "GCC_EXEC_PREFIX")],
        *[
            (other(options=("-O3", word)), word)
            for word in (
                *("-g", "-include", "-I/opt", "-L/opt", "-Wl,-rpath,/opt", "-Wa,-x", "@file"),
                *("-fplugin=x", "-fprofile-use", "-flto", "-fuse-ld=gold", "-specs=x", "-B/opt"),
                *("file.o", "-ffile-prefix-map=a=b", "-save-temps", "-isystem"),
            )
        ],
        *[(other(source=f"x {word}"), word) for word in ("__TIME__", "__DATE__", ".incbin")],
        (other(source="// é\n"), "ascii"),
        (other(include_dirs=["/usr/include"]), "/usr/include is outside"),
        (other(include_dirs=[""]), "outside"),
        (other(lib_dirs=["/usr/lib"]), "/usr/lib is outside"),
        (other(libs=[":x.so"]), "a library called :x.so"),
        (other(libs=["../x"]), "a library called"),
        (put("lib/libopenblas.so", "INPUT(/opt/x.so)"), "may name other files"),
        (lambda e: (e.place / "include/away").symlink_to("/usr/include"), "is a link"),
        (other(compiler="c++"), "c++ is not the environment's own"),
        (other(compiler="/usr/bin/g++"), "not the environment's own"),
        (variable("PATH", "/usr/bin:/bin"), "not the environment's own"),
        (lambda environment: setattr(environment, "version", "7.5.0"), "GCC 7.5.0"),
        (lambda environment: setattr(environment, "version", ""), "invalid literal"),
        (lambda e: (e.place / "conda-meta/gxx-10.json").unlink(), "no records"),
        (lambda e: shutil.rmtree(e.place / "conda-meta"), "No such file"),
        (put("bin/g++", "#!/bin/sh\nexit 1\n"), "-march=native cannot be resolved"),
    ],
)
def test_inputs_without_a_hash_have_no_key(
    environment: Environment, change: Change, message: str
) -> None:
    change(environment)
    with pytest.raises(environment.inputs.UnknownError) as error:
        environment.key()
    assert message in str(error.value)


def test_another_compiler_hashes_all_packages(environment: Environment) -> None:
    shutil.rmtree(environment.place / "lib/gxx-sysroot")
    before = environment.key()
    environment.put("conda-meta/libblas-3.json", "{ }")
    assert environment.key() != before


def covers(environment: Environment, *names: str | Path) -> bool:
    """Return whether the hash covers a module that was made from these files."""
    escaped = [str(name).replace("$", "$$").replace(" ", "\\ ") for name in names]
    rule = environment.place / "list"
    rule.write_text("mod.o: \\\n" + " \\\n ".join(escaped) + "\n")
    covered: bool = environment.made().covers(str(rule), environment.folders, ["/tmp/a b/mod.cpp"])
    return covered


def test_files_outside_of_the_hash_are_not_covered(environment: Environment) -> None:
    place = environment.place
    own = [place / "include/python3.9/Python.h", place / "lib/numpy/include/numpy/arrayobject.h"]
    own += [place / "lib/gxx-sysroot/usr/lib/../include/math.h", Path("/tmp/a b/mod.cpp")]
    assert covers(environment, *own)
    strange = [Path("/usr/include/math.h"), Path("/opt/$HOME/x y.h"), place / "lib/other/x.h"]
    strange += [place / "include-too/x.h", place / "include/python3.9/cc.pyc"]
    (place / "include/python3.9/away.h").symlink_to("/usr/include/math.h")
    strange.append(place / "include/python3.9/away.h")
    for path in [*strange, place / "include/../lib/x.h"]:
        assert not covers(environment, *own, path), path


def test_module_that_contains_a_path(environment: Environment, tmp_path: Path) -> None:
    made = environment.made()
    assert not made.has_path(b"/theano/include", "/tmp/x")
    assert made.has_path(b"..." + os.fsencode(environment.place) + b"/include", "/tmp/x")
    assert made.has_path(b".../tmp/x/mod.cpp", "/tmp/x")


def test_both_spellings_of_the_path_are_mapped(environment: Environment, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(environment.place)
    own = Environment(environment.inputs, tmp_path / "link")
    assert own.made().path_options() == tuple(
        f"-fmacro-prefix-map={path}=/theano"
        for path in sorted([str(environment.place), str(tmp_path / "link")])
    )
    assert own.key() == environment.key()
