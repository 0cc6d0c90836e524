"""C extensions in a stack's source archives: compiled to the same bytes wherever and whenever."""

import os
import subprocess
import tarfile
from pathlib import Path

import pytest
from unit.helpers.serving import index_file

from integration.conftest import Prefix
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace, default_workspace
from stacks.environments.make import user_packages
from stacks.variants.load import framework_names

# Both name their file: by the macro, and in what debugging information there is. The second asks
# for that, and finds its header by a path that has the random name of pip's folder.
SETUP = """\
import os
from setuptools import Extension, setup

second = {{"include_dirs": [os.path.abspath("include")], "extra_compile_args": ["-g"]}}
setup(
    name="fourtytwo", version="1.0",
    ext_modules=[
        Extension("fourtytwo", ["fourtytwo.c"], include_dirs=["include"]),
        Extension("fourtythree", ["fourtythree.cpp"]{arguments}, **second),
    ],
)
"""
SOURCE = """\
#include <Python.h>
#include "where.h"
#if PY_MAJOR_VERSION >= 3
static struct PyModuleDef definition = {{PyModuleDef_HEAD_INIT, "{name}", NULL, -1, NULL}};
PyMODINIT_FUNC PyInit_{name}(void) {{
    PyObject *module = PyModule_Create(&definition);
    PyModule_AddStringConstant(module, "where", where());
    return module;
}}
#else
PyMODINIT_FUNC init{name}(void) {{
    PyObject *module = Py_InitModule("{name}", NULL);
    PyModule_AddStringConstant(module, "where", where());
}}
#endif
"""
HEADER = "static const char *where(void) { return __FILE__; }\n"
# As a setup.py does that finds its headers by their path.
ABSOLUTE = ', define_macros=[("HERE", \'"%s"\' % __import__("os").path.abspath("."))]'


def compiled(made: Path, folder: Path, tmp: Path, arguments: str = "") -> Path:
    """Compile two extensions, in C and in C++, from an archive; return their wheel.

    folder: of the archive. tmp: of the cache and of temporary files.
    """
    source = folder / "fourtytwo-1.0"
    (source / "include").mkdir(parents=True, exist_ok=True)
    (source / "setup.py").write_text(SETUP.format(arguments=arguments))
    (source / "include/where.h").write_text(HEADER)
    use = "const char *here = HERE;\n" if arguments else ""
    for name in ("fourtytwo.c", "fourtythree.cpp"):
        text = SOURCE.format(name=name.partition(".")[0])
        (source / name).write_text(text + (use if name.endswith("cpp") else ""))
    (source / "MANIFEST.in").write_text("include include/where.h\n")
    (source / "PKG-INFO").write_text("Metadata-Version: 1.0\nName: fourtytwo\nVersion: 1.0\n")
    path = folder / "fourtytwo-1.0.tar.gz"
    if not path.exists():
        with tarfile.open(path, "w:gz") as file:
            file.add(source, source.name)
    pin = index_file(path.read_bytes(), path.name, "fourtytwo")
    (tmp / "tmp").mkdir(parents=True, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp / "tmp"))
        workspace = Workspace(folder, tmp / "cache")
        return user_packages.wheel_of(workspace, made, pin, path, [])[1]


# What a user's shell may have.
SURROUNDINGS = {"LC_ALL": "POSIX", "TZ": "Asia/Kolkata", "SOURCE_DATE_EPOCH": "1", "CFLAGS": "-O0"}


@pytest.mark.parametrize("framework", framework_names(default_workspace()))
def test_an_extension_is_the_same_wherever_it_is_compiled(
    framework: str, prefix: Prefix, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = prefix(framework, "openblas")
    wheels = [compiled(made, tmp_path, tmp_path / "first")]
    before = os.umask(0o077)
    try:
        for name, value in SURROUNDINGS.items():
            monkeypatch.setenv(name, value)
        wheels.append(compiled(made, tmp_path, tmp_path / "a second one"))
    finally:
        os.umask(before)
    assert wheels[0].read_bytes() == wheels[1].read_bytes()
    target = tmp_path / "target"
    words: list[str | Path] = ["-q", "--no-deps", "--no-index", "--target", target, wheels[0]]
    subprocess.run([made / "bin/python", "-m", "pip", "install", *words], check=True)
    program = "import fourtytwo, fourtythree; print(fourtytwo.where, fourtythree.where)"
    command: list[str | Path] = [made / "bin/python", "-c", program]
    found = subprocess.check_output(command, env={"PYTHONPATH": str(target)}, text=True)
    assert str(tmp_path) not in found and "include/where.h" in found


def test_an_extension_with_the_path_of_its_folder_is_refused_each_time(
    prefix: Prefix, tmp_path: Path
) -> None:
    for _ in range(2):
        with pytest.raises(UsageError, match=r"reproducibly: fourtythree\S*\.so has the path"):
            compiled(prefix("theano-1.0.5", "openblas"), tmp_path, tmp_path / "x", ABSOLUTE)
