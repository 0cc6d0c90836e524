"""A module file for Environment Modules and Lmod, of the environment that `build` makes.

It names PATH only: the environment's Python reads its settings by itself, however it is started.
Environment Modules' manual, modulefile(4).
"""

from __future__ import annotations

import re

from stacks.environments.variables import own_variables
from stacks.exports.subject import Export, Subject
from verify.core import surroundings


def export(subject: Subject) -> Export:
    """Return a module file in Tcl."""
    prefix = str(subject.environment)
    lines = [
        "#%Module1.0",
        f"module-whatis {_quoted(subject.summary)}",
        f"prepend-path PATH {_quoted(f'{prefix}/bin')}",
        *(f"unsetenv {name}" for name in surroundings.dropped() if name.startswith("PYTHON")),
        *(f"setenv {k} {_quoted(v)}" for k, v in own_variables(subject.environment).items()),
    ]
    usage = (
        f"./invoke build {subject.variant.option}; with {{to}} in a folder of MODULEPATH: "
        "module load {name}"
    )
    return Export({subject.name: "\n".join(lines) + "\n"}, usage)


def _quoted(text: str) -> str:
    """Return a text as a word of Tcl."""
    return '"' + re.sub(r'([\\"$\[\]{}])', r"\\\1", text) + '"'
