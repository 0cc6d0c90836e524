"""What a fork ends before it begins: forks.c beside copies of libgomp that count how often."""

import subprocess
import sys
from pathlib import Path

from unit.blas_threads import compiled

AROUND = """
#include "forks.c"
static void nothing(int ended) { (void)ended; }
void begin(void) { forks_wait(nothing); }
"""
LIBGOMP = "int ended; int omp_pause_resource_all(int how) { ended += how; return 0; }"
PROGRAM = """
import ctypes, os, sys
copies = [ctypes.CDLL(path) for path in sys.argv[2:]]
ctypes.CDLL(sys.argv[1]).begin()
for _ in range(2):
    if not (child := os.fork()):
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
print([ctypes.c_int.in_dll(copy, "ended").value for copy in copies])
"""


def test_a_fork_ends_the_threads_of_each_wheel_s_libgomp(tmp_path: Path) -> None:
    copies = []
    for name in ("libgomp-e985bcbb.so.1.0.0", "libgomp-24e2ab19.so.1", "libothers.so"):
        folder = tmp_path / name
        folder.mkdir()
        compiled(folder, LIBGOMP)
        copies.append((folder / "around.so").rename(folder / name))
    compiled(tmp_path, AROUND)
    command = [sys.executable, "-c", PROGRAM, *map(str, (tmp_path / "around.so", *copies))]
    assert subprocess.check_output(command, text=True) == "[2, 2, 0]\n"
