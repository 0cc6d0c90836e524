"""Reports and contexts of the verification suite, made by hand."""

import tempfile
from types import SimpleNamespace
from typing import Any

from verify.core import report

# The fix of an expectation with the variant v of the framework f.
REPAIR = "put the files back:\n./invoke build --variant v --framework f --repair"


def document(*checks: object, home: str = "/usr") -> dict[str, Any]:
    """Return a whole report with these checks, or one that passed."""
    content: dict[str, Any] = report.document(
        variant="pip-openblas",
        framework={
            "name": "theano-1.0.5",
            "module": "theano",
            "version": "1.0.5",
            "python": "3.9.2",
        },
        machine={
            "cpu": "A processor",
            "vendor": "Maker",
            "cores": 2,
            "memory": 1 << 30,
            "kernel": "6.1",
            "glibc": "2.36",
            "peak": [{"dtype": "float64", "threads": 1, "gflops": 58.2}],
        },
        settings={
            "floatX": "float64",
            "ldflags": f"-L{home}/lib -lopenblas",
            "cxx": "g++",
            "mode": "Mode",
            "linker": "cvm",
            "threads": 2,
        },
        packages=[{"name": "numpy", "version": "1.22.4", "sha256": "00"}],
        checks=checks or (report.passed("blas.ldflags", "-lopenblas"),),
        timings=[report.timing("import", "s", [1.5, 1.0, 1.25])],
    )
    return content


def context(flags: dict[str, Any] | None = None, **attributes: object) -> SimpleNamespace:
    """Return a context of a Theano 1.0.5, by default with a compiler and no BLAS."""
    default = {"blas.ldflags": "", "cxx": "g++", "mode": "Mode", "linker": "cvm", "optimizer": "o4"}
    framework = SimpleNamespace(
        name="theano",
        version="1.0.5",
        flags_variable="THEANO_FLAGS",
        rc_variable="THEANORC",
        rc_file="~/.theanorc",
        flag=(default if flags is None else flags).get,
        spelled=str,
        runs_numba=False,
        has_blas_op=lambda classes: True,
        tensor=SimpleNamespace(dot=None, outer=None),
        batched_dot=None,
    )
    return SimpleNamespace(
        **{
            "framework": framework,
            "expectation": None,
            "is_whole": False,
            "user_flags": "",
            "second_blas_fix": None,
            "is_by_numba": False,
            "serving": None,
            "folder": tempfile.gettempdir(),
            "culprit": None,
            **attributes,
        }
    )
