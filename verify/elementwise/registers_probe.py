"""Examine the vector registers after each operation. Started by registers.py.

Arguments: the framework's module, and the folder to compile into. Prints a JSON object:
`unclean`, the names of the operations that leave the upper halves in use, and `count` of all; or
`unknown`, why that cannot be told.
"""

from __future__ import absolute_import, division, print_function

import json
import os
import tempfile

from verify.context import Context
from verify.core import compiling
from verify.core import framework as frameworks
from verify.elementwise import calls, registers


def main(argv):
    """Compile the operations that the starter has compiled, call them, and print the result."""
    name, folder = argv
    compiling.use_compile_folder(folder)
    framework = frameworks.load(name)
    flags = os.environ.get(framework.flags_variable, "")
    context = Context(framework, None, tempfile.mkdtemp(), flags)
    try:
        found = registers.examine(context, calls.calls(context))
        if found is None:
            raise registers.UnknownError(registers.HIDDEN)
    except registers.UnknownError as error:
        print(json.dumps({"unknown": str(error)}))
    else:
        print(json.dumps({"unclean": found[0], "count": found[1]}))
