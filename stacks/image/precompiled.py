"""The compiled files of an image: the framework's first modules, and the bytecode of all Python.

They must run on another CPU, as another user and at another path than where they were compiled, and
have the same bytes wherever they are compiled.
"""

from __future__ import annotations

import json
from pathlib import Path

from stacks.channel.settings_files import COMPILE_FOLDER, COMPILE_HOOK, PTH, rc_text
from stacks.channel.settings_files import HOOK as SETTINGS_HOOK
from stacks.core import reproducible
from stacks.core.disk import REPOSITORY, scratch
from stacks.core.errors import UsageError
from stacks.core.process import call
from stacks.image import packing
from stacks.image.metadata import PREFIX
from stacks.variants.variant import Variant

CONTENT = REPOSITORY / "docker" / "content"
HOOK = "_theano_stacks_compiledir"
# GCC 10 does not have the name x86-64-v3 yet.
MARCH = "haswell"
CPU_FLAGS = ("abm", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe")
# Installers rarely run, and their bytecode would be 5 MB.
LEFT_OUT = r"site-packages/(pip|setuptools|pkg_resources)/"
# With these its compiled modules run on other machines. The hook sets them in an image.
FLAGS = {
    "gcc.cxxflags": f"-march={MARCH}",
    # The framework's default contains the kernel's version.
    "compiledir_format": "compiledir",
}


def check_machine(cpuinfo: Path = Path("/proc/cpuinfo")) -> None:
    """Raise UsageError if this CPU cannot run what is compiled for the images."""
    with cpuinfo.open() as file:
        flags = {w for line in file if line.startswith("flags") for w in line.split()}
    missing = [flag for flag in CPU_FLAGS if flag not in flags]
    if missing:
        raise UsageError(
            "this CPU cannot run the modules that an image contains, so it cannot make the image",
            expected=f"the CPU's flags {' '.join(CPU_FLAGS)} (Intel since Haswell, AMD since Zen)",
            found=f"no {' '.join(missing)}",
            fix="make the image on another machine; it runs here, and compiles for this CPU",
        )


def warm(variant: Variant, environment: Path) -> None:
    """Compile the modules that every start of the framework needs into its compile folder.

    Raises CommandError with the framework's own message if that fails.
    """
    with scratch() as temporary:
        folder = environment / COMPILE_FOLDER
        rc_file = temporary / "rc"
        # PyTensor's default linker is numba, whose results cannot be shipped.
        flags = {**FLAGS, "base_compiledir": str(folder), "linker": "cvm"}
        if variant.device == "cuda":
            # The machine that makes the image may have no GPU; PoCL is in the environment.
            flags["device"] = "cpu"
        rc_file.write_text(rc_text(flags), encoding="utf-8")
        paths = CONTENT / "warm.py", folder, environment, Path(PREFIX), temporary / "compiler"
        call(
            [environment / "bin/python", *paths],
            cwd=temporary,
            env={**_environment(temporary), variant.framework.rc_variable: str(rc_file)},
        )


def add_hook(variant: Variant, environment: Path, key: str) -> None:
    """Give each user of the image a writable compile folder when Python starts.

    key: the folder's name, which must differ between environments.
    """
    text = (CONTENT / "compiledir.py").read_text()
    for word, value in {
        "key": key,
        "rc_variable": variant.framework.rc_variable,
        "march": MARCH,
        "format": FLAGS["compiledir_format"],
        "cpu_flags": " ".join(CPU_FLAGS),
        # Inside of a Python string, also of Python 2.7.
        "folders": json.dumps("\n".join(_folders(variant)))[1:-1],
    }.items():
        text = text.replace(f"{{{word}}}", value)
    site_packages = environment / f"lib/python{variant.framework.python}/site-packages"
    (site_packages / f"{HOOK}.py").write_text(text)
    # This one does more: it has compiled modules to begin with.
    (site_packages / f"{COMPILE_HOOK}.py").unlink(missing_ok=True)
    path = site_packages / PTH
    # It may be a hard link into the cache.
    path.unlink(missing_ok=True)
    path.write_text(f"import {SETTINGS_HOOK}\nimport {HOOK}\n")


def _folders(variant: Variant) -> list[str]:
    """Return VARIABLE=FOLDER of the variables that name a folder below the environment's var."""
    var = "{prefix}/var/"
    variables = sorted(variant.variables.items())
    return [f"{name}={value[len(var) :]}" for name, value in variables if value.startswith(var)]


def to_bytecode(environment: Path, python: str) -> None:
    """Compile every Python file of the environment, in one process and a fixed order."""
    folder = environment / f"lib/python{python}"
    # Python 2.7's bytecode contains the time of its source.
    packing.normalise(folder)
    if python == "2.7":
        options = ["-d", f"{PREFIX}/lib/python{python}"]
    else:
        options = ["--invalidation-mode", "unchecked-hash", "-s", str(environment)]
        options += ["-p", str(PREFIX)]
    options += ["-x", LEFT_OUT]
    with scratch() as temporary:
        call(
            [environment / "bin/python", "-m", "compileall", "-q", "-f", *options, folder],
            cwd=temporary,
            env=_environment(temporary),
            # 1: a file is not Python of this version; some libraries have such tests.
            accepted=(0, 1),
        )


def _environment(temporary: Path) -> dict[str, str]:
    # Precompiled headers contain settings of this machine.
    return reproducible.environment(temporary, OMP_NUM_THREADS="1", THEANO_STACKS_QUICK="0")
