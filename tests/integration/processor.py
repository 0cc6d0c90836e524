"""What the processor of the tests can do."""

from __future__ import annotations

from pathlib import Path

import pytest

CPUINFO = Path("/proc/cpuinfo").read_text()
HAS_AVX512 = all(f" avx512{part}" in CPUINFO for part in ("f", "bw", "cd", "dq", "vl"))
avx512 = pytest.mark.skipif(not HAS_AVX512, reason="needs a processor with AVX-512")
