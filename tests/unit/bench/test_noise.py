"""What else a machine did, in words; tests/unit/verify/core/test_noise.py reads the counters."""

from __future__ import annotations

import subprocess
import sys

from stacks.bench import noise
from unit.helpers.benching import QUIET


def test_each_kind_of_noise_is_a_remark() -> None:
    assert noise.remarks([QUIET, QUIET]) == []
    loud = QUIET.model_copy(
        update={"others": 1.5, "steal": 0.2, "throttled": 2.0, "frequency": 2000.0}
    )
    assert noise.remarks([QUIET, loud]) == [
        "other programs were busy in 1 of 2 measurements, on up to 1.5 cores",
        "the host took processor time away in 1 of 2 measurements, up to 20%",
        "the container's CPU limit stopped it for 2.0 s",
        "the cores' clock went from 2000 to 3000 MHz",
    ]


def test_the_processor_time_of_a_process_with_that_of_its_children() -> None:
    code = "import subprocess, sys, time\n"
    code += "if sys.argv[1:]: subprocess.call([sys.executable, '-c', sys.argv[1]])\n"
    code += "while time.process_time() < 0.2: pass\nprint(flush=True); input()"
    inner = "import time\nwhile time.process_time() < 0.2: pass"
    with subprocess.Popen(
        [sys.executable, "-c", code, inner], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout and process.stdout.readline()
        alone = noise.processor_seconds(process.pid)
        assert 0.15 < alone < noise.processor_seconds(process.pid, with_children=True) - 0.15
        process.communicate(b"\n")
    assert noise.processor_seconds(process.pid) == 0
