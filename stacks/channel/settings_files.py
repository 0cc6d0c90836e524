"""The settings of an environment, as files that Theano reads at every start.

They hold however python is started, by `./invoke run`, after `conda activate` or by its bare path,
because a .pth file names them to Theano, and the compiler to PATH, when the interpreter starts.
Nothing in them depends on the machine or on the lock.
"""

import configparser
import io
import re
from collections.abc import Mapping

from stacks.core.disk import REPOSITORY
from stacks.variants.variant import Variant

# The modules that run at each start of the environment's Python.
HOOKS = REPOSITORY / "recipes/settings/src"
FOLDER = "etc/theano-stacks"
RC_FILE = "etc/theanorc"
COMPILE_FOLDER = "var/compiledir"
HOOK, COMPILE_HOOK = "_theano_stacks", "_theano_stacks_compiled"
PTH = "theano-stacks.pth"
# A file of its own, as an image writes another theano-stacks.pth.
DEVICE_HOOK, DEVICE_PTH = "_theano_stacks_device", "theano-stacks-device.pth"
# What the builder writes for the hook, where it made the environment.
CONSTRAINTS = f"{FOLDER}/constraints.txt"
MODULES = f"{FOLDER}/modules"
MODULES_VARIABLE = "THEANO_STACKS_MODULES"
# NAME=NUMBER, as the start hook set it; libblas_threads reads it too.
THREADS_VARIABLE = "THEANO_STACKS_NUM_THREADS"
# conda, mamba, pixi and rattler replace it by the environment's path when they install the file.
PLACEHOLDER = "/the/environments/own/path/instead/of/theano-stacks"
README = """\
The settings of the environment are in etc/theanorc, and in _theano_stacks.py, which sets variables
when Python starts. Your own in ~/.{module}rc or {flags_variable} come after them.
"""


def render_files(variant: Variant, compiler: str = "g++") -> dict[str, str]:
    """Return the texts of a variant's settings by their paths in a noarch package of conda.

    compiler: the name of the environment's C++ compiler.
    """
    framework, blas = variant.framework, variant.blas
    hook = _filled(
        HOOK,
        module=framework.module,
        rc_variable=framework.rc_variable,
        environment=tuple(sorted(variant.variables.items())),
        threads=blas.threads if blas else (),
        threads_variable=THREADS_VARIABLE,
        one_thread=bool(blas and blas.one_thread),
        processors=tuple(
            (p.flags, tuple(sorted(p.known.items())), tuple(sorted(p.environment.items())))
            for p in (blas.processors if blas else ())
        ),
        modules=MODULES,
        constraints=CONSTRAINTS,
    )
    device = {}
    if variant.device != "cpu":
        device = {
            f"site-packages/{DEVICE_HOOK}.py": _filled(DEVICE_HOOK),
            f"site-packages/{DEVICE_PTH}": f"import {DEVICE_HOOK}\n",
        }
    return {
        **device,
        RC_FILE: rc_text(flags_of(variant, PLACEHOLDER, compiler)),
        # By this folder the hook knows the settings of another environment.
        f"{FOLDER}/README": README.format(**dict(framework)),
        # A package has no empty folders.
        f"{COMPILE_FOLDER}/.keep": "",
        f"site-packages/{HOOK}.py": hook,
        f"site-packages/{COMPILE_HOOK}.py": _filled(
            COMPILE_HOOK, flags_variable=framework.flags_variable
        ),
        f"site-packages/{PTH}": f"import {HOOK}\nimport {COMPILE_HOOK}\n",
    }


def _filled(hook: str, **values: object) -> str:
    """Return the source of a hook with values: "@NAME@" stands for one, @NAME@ for its text."""

    def value(match: re.Match[str]) -> str:
        return repr(values[match[1]]) if match[1] else str(values[match[2]])

    # In one pass: a value may have the form of a name.
    return re.sub(r'"@(\w+)@"|@(\w+)@', value, (HOOKS / f"{hook}.py").read_text("utf-8"))


def flags_of(variant: Variant, prefix: str, compiler: str = "g++") -> dict[str, str]:
    """Return every flag of the framework that an environment at a path sets."""
    return {
        **variant.theano_flags(),
        "cxx": compiler,
        "base_compiledir": f"{prefix}/{COMPILE_FOLDER}",
    }


def rc_text(flags: Mapping[str, str]) -> str:
    """Return the text of the framework's configuration file (Theano's theanorc)."""
    sections: dict[str, dict[str, str]] = {}
    for name, value in sorted(flags.items()):
        section, _, key = name.rpartition(".")
        sections.setdefault(section or "global", {})[key] = value.replace("%", "%%")
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_dict(sections)
    out = io.StringIO()
    parser.write(out)
    return f"# Written by theano-stacks.\n{out.getvalue().rstrip()}\n"
