"""What an image has compiled: the framework's first modules, and the bytecode of all Python files.

It must run on another CPU, under another user and at another path than where it was made, and come
out the same bytes wherever it is made.
"""

from __future__ import annotations

from pathlib import Path

from stacks.core import reproducible
from stacks.core.disk import REPOSITORY, scratch
from stacks.core.errors import UsageError
from stacks.core.process import call
from stacks.environments import settings
from stacks.image import normalised
from stacks.image.config import PREFIX
from stacks.variants.variant import Variant

CONTENT = REPOSITORY / "docker" / "content"
HOOK = "_theano_stacks_compiledir"
# GCC 10 does not know x86-64-v3 by that name yet.
MARCH = "haswell"
CPU_FLAGS = ("abm", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe")
# Installers are run now and then; their bytecode would be 5 MB.
LEFT_OUT = r"site-packages/(pip|setuptools|pkg_resources)/"
FLAGS = {
    "gcc.cxxflags": f"-march={MARCH}",
    # The framework's own has the kernel's version in it.
    "compiledir_format": "compiledir",
}


def for_image(variant: Variant) -> Variant:
    """Return the variant with the flags that let compiled modules move to another machine."""
    return variant.model_copy(update={"flags": {**variant.flags, **FLAGS}})


def check_machine(cpuinfo: Path = Path("/proc/cpuinfo")) -> None:
    """Raise UsageError where this CPU cannot run what is compiled for the images."""
    with cpuinfo.open() as file:
        found = {w for line in file if line.startswith("flags") for w in line.split()}
    lacking = [flag for flag in CPU_FLAGS if flag not in found]
    if lacking:
        raise UsageError(
            "an image cannot be made on this CPU: modules that it brings are compiled and tried",
            expected=f"the CPU's flags {' '.join(CPU_FLAGS)} (Intel since Haswell, AMD since Zen)",
            found=f"no {' '.join(lacking)}",
            fix="make it on another machine; it will run here, and compile for this CPU",
        )


def warm(variant: Variant, environment: Path) -> None:
    """Compile into the environment's compile folder what every start of the framework compiles.

    Raises CommandError with the framework's own words where that fails.
    """
    with scratch() as room:
        folder = environment / settings.COMPILE_FOLDER
        rc_file = room / "rc"
        text = str(folder).replace("%", "%%")
        # PyTensor's own choice of a linker is numba, whose products no image can carry.
        rc_text = f"[global]\nbase_compiledir = {text}\nlinker = cvm\n"
        rc_file.write_text(rc_text, encoding="utf-8")
        script = CONTENT / "warm.py"
        call(
            [
                environment / "bin/python",
                script,
                folder,
                environment,
                str(PREFIX),
                room / "compiler",
            ],
            cwd=room,
            env={**_environment(room), variant.framework.rc_variable: str(rc_file)},
        )


def add_hook(variant: Variant, environment: Path, key: str) -> None:
    """Let each Python of the image begin with a compile folder that its user may write.

    `key` names the folder: it must differ between environments.
    """
    text = (CONTENT / "compiledir.py").read_text()
    for word, value in {
        "key": key,
        "rc_variable": variant.framework.rc_variable,
        "march": MARCH,
        "cpu_flags": " ".join(CPU_FLAGS),
        "folders": " ".join(_folders(variant)),
    }.items():
        text = text.replace(f"{{{word}}}", value)
    site_packages = environment / f"lib/python{variant.framework.python}/site-packages"
    (site_packages / f"{HOOK}.py").write_text(text)
    path = site_packages / "theano-stacks.pth"
    path.write_text(f"import {settings.HOOK}\nimport {HOOK}\n")


def _folders(variant: Variant) -> list[str]:
    """Return VARIABLE=FOLDER of what the environment keeps below its own var."""
    own = "{prefix}/var/"
    every = sorted(variant.environment().items())
    return [f"{name}={value[len(own) :]}" for name, value in every if value.startswith(own)]


def to_bytecode(environment: Path, python: str) -> None:
    """Compile every Python file of the environment, in one process and always in one order."""
    folder = environment / f"lib/python{python}"
    # Python 2.7's bytecode has the time of its source in it.
    normalised.normalise(folder)
    if python == "2.7":
        how = ["-d", f"{PREFIX}/lib/python{python}"]
    else:
        how = ["--invalidation-mode", "unchecked-hash", "-s", str(environment)]
        how += ["-p", str(PREFIX)]
    how += ["-x", LEFT_OUT]
    with scratch() as room:
        call(
            [environment / "bin/python", "-m", "compileall", "-q", "-f", *how, folder],
            cwd=room,
            env=_environment(room),
            # 1: some file is no Python of this version; libraries carry such ones for their tests.
            accepted=(0, 1),
        )


def _environment(room: Path) -> dict[str, str]:
    # Headers that are compiled once would carry the marks of this machine.
    return reproducible.environment(room, OMP_NUM_THREADS="1", THEANO_STACKS_QUICK="0")
