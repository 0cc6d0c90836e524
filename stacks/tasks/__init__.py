"""The tasks of ./invoke, which call the packages below; and the installed command of the wheel."""

import os
import sys
from pathlib import Path

# The last lines of the script `invoke`.
PROGRAM = r"""import sys
sys.path.insert(0, sys.argv.pop(1))
try:
    from stacks.tasks.program import main
    main()
except KeyboardInterrupt:
    # Before the task has begun.
    sys.stderr.write("\ninterrupted\n")
    sys.exit(130)"""


def main() -> None:
    """Become the same program as that of `./invoke`.

    -I: neither the folder that the user stands in nor PYTHONPATH may shadow a module.
    """
    root = str(Path(__file__).resolve().parents[2])
    words = [sys.executable, "-I", "-c", PROGRAM, root, *sys.argv[1:]]
    os.execv(sys.executable, words)  # noqa: S606
