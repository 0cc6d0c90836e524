"""Check a scan in a process of its own. Started by scan.py.

Arguments: the framework's module, the folder to compile into, and the framework's flags as the user
has set them. Prints the check as a JSON list.
"""

from __future__ import absolute_import, division, print_function

import json

from verify.checks import scan
from verify.context import Context
from verify.core import compiling
from verify.core import framework as frameworks
from verify.core.fixes import explained
from verify.core.report import failed


def main(argv):
    """Check, and print the result."""
    name, folder, user_flags = argv
    compiling.use_compile_folder(folder)
    # Beside what it compiles: for what is tried after a failure.
    context = Context(frameworks.load(name), None, folder, user_flags)
    try:
        check = scan.check(context)
    except Exception as error:
        check = failed(scan.NAME, *explained(context, error))
    print(json.dumps(check))
