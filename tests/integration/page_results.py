"""Results for the published page, with texts that are not to be markup."""

from __future__ import annotations

from stacks.bench.profile import Profile
from stacks.bench.result import (
    Machine,
    MeasuredPackage,
    Noise,
    Peak,
    Result,
    Run,
    Series,
    Settings,
    Subject,
)

EVIL = "<img src=http://198.51.100.1/ onerror=console.error(1)>"


def a_result(name: str, rates: dict[str, float]) -> Result:
    """Return a result: each variant's GFLOP/s, the same in each of seven rounds."""
    noise = Noise(load=0, others=0, steal=0, throttled=0, frequency=None)
    subjects = tuple(
        Subject(
            framework="theano-1.0.5",
            flavour=flavour,
            baseline=flavour == "base",
            lock="a" * 64,
            packages=(MeasuredPackage(name=EVIL, version="1", sha256="b" * 64),),
        )
        for flavour in rates
    )
    every = tuple(
        Run(
            subject=f"theano-1.0.5/{flavour}",
            workload="gemm",
            threads=2,
            round=number,
            seconds=1,
            noise=noise,
            series=(
                Series(name="Gemm float64 2000", unit="GFLOP/s", samples=(rate,)),
                Series(name="Gemm float32 2000", unit="GFLOP/s", samples=(2 * rate,)),
            ),
        )
        for number in range(1, 8)
        for flavour, rate in rates.items()
    )
    machine = Machine(
        name=name,
        cpu=EVIL,
        vendor="Someone",
        model="1 2 3",
        microcode="0x1",
        cores=2,
        memory=8 << 30,
        kernel="6.1",
        glibc="2.36",
        peak=(Peak(dtype="float64", threads=2, gflops=200.0),),
    )
    return Result(
        schema=1,
        began="2026-11-21T05:30:00Z",
        seconds=60,
        commit="c" * 40,
        changed=False,
        machine=machine,
        settings=Settings(
            workloads=("gemm",), rounds=7, threads=(2,), quick=True, pinned=True, quota=None
        ),
        subjects=subjects,
        runs=every,
        remarks=(EVIL,),
    )


def a_profile(seconds: float) -> Profile:
    """Return the profile of a call with as many parts as a plot can have."""
    kinds = [("A", "Py"), ("B", "C & Py"), *((f"C{n}", "C") for n in range(4)), ("P", "Py")]
    kinds += [("(scan's own overhead)", ""), ("(calling the function)", "")]
    one = seconds / (len(kinds) + 1)
    steps = {"optimiser": 60.0, "validation": 10.0, "linker": 30.0, "import": 10.0}
    return Profile.model_validate(
        {
            "calls": 1,
            "seconds": seconds,
            "compile": {"total": 100.0, "modules": 0, **steps},
            "rows": tuple({"name": n, "type": t, "seconds": one, "calls": 1} for n, t in kinds),
            "rest": {"classes": 1, "seconds": one, "calls": 1},
        }
    )


def programs(name: str, seconds: dict[str, float], busy: int = 0) -> Result:
    """Return a result with each variant's seconds of a call of a program, and its profile."""
    result = a_result(name, seconds)
    of = {f"theano-1.0.5/{flavour}": value for flavour, value in seconds.items()}
    runs = tuple(
        run.model_copy(
            update={
                "workload": "ntm",
                "busy": busy,
                "series": (
                    Series(
                        name="ntm step",
                        unit="s",
                        samples=(of[run.subject],),
                        compile=100.0,
                        profile=a_profile(of[run.subject]),
                    ),
                ),
            }
        )
        for run in result.runs
    )
    settings = result.settings.model_copy(update={"workloads": ("ntm",), "busy": busy})
    return result.model_copy(update={"runs": runs, "settings": settings})
