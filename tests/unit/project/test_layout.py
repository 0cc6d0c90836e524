"""The test of a module is found by its name: tests/unit/<package>/test_<module>.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY

SUITE = "tests/integration/test_verify_environments.py runs it, test_verify_faults.py has it fail"
DEVICE = "tests/integration/test_device.py runs it on a device of PoCL"
WORKLOAD = "tests/integration/test_workloads.py runs it"
TIMED = "tests/integration/test_bench.py runs it"
LOCKS = "tests/integration/test_lock.py makes, changes and checks locks"
PAGE = "tests/unit/publish/test_command.py reads the whole documents that it makes"
TASKS = "its tasks only pass their options on; tests/unit/tasks/test_task.py lists them all"

# The modules without a unit test of their name, and why.
EXCEPTIONS = {
    "stacks/bench/record.py": "a base class and two limits: tests/unit/bench/test_result.py",
    "stacks/core/validation.py": "its messages name lines: tests/unit/core/test_yamlfile.py",
    "stacks/environments/stack_lock.py": "tests/integration/test_stack.py locks real ones",
    "stacks/environments/other_channel.py": "tests/unit/locks/test_other_channel.py installs by it",
    "stacks/image/reproduce.py": "tests/integration/test_image.py makes two images by it",
    "stacks/publish/markdown.py": PAGE,
    "stacks/publish/page.py": PAGE,
    "stacks/publish/svg.py": "tests/unit/publish/test_plots.py measures its drawings",
    "stacks/tasks/cluster.py": "tests/integration/test_cluster.py runs its commands",
    "stacks/tasks/images.py": TASKS,
    "stacks/tasks/use.py": TASKS,
    "stacks/variants/files.py": "models only: tests/unit/project/test_schemas.py",
    "verify/checks/linkers_probe.py": "tests/integration/test_verify_environments.py runs it",
    "verify/checks/scan_probe.py": SUITE,
    "verify/device/cases.py": DEVICE,
    "verify/device/cublas.py": "tests/integration/test_device.py calls it on a library of its own",
    "verify/device/description.py": "models only: tests/unit/verify/device/test_cuda.py has one",
    "verify/device/optimiser.py": DEVICE,
    "verify/device/speed.py": DEVICE,
    "verify/elementwise/registers_probe.py": "tests/integration/test_verify_registers.py runs it",
    "verify/program_hook/sitecustomize.py": "tests/unit/profiles/test_program.py runs it",
    "verify/program_report.py": "tests/unit/profiles/test_program.py runs it",
    "verify/suite.py": SUITE,
    "verify/workloads/gibbs.py": WORKLOAD,
    "verify/workloads/logreg.py": TIMED,
    "verify/workloads/lstm.py": WORKLOAD,
    "verify/workloads/lenet.py": WORKLOAD,
    "verify/workloads/mlp.py": WORKLOAD,
    "verify/workloads/model.py": WORKLOAD,
    "verify/workloads/ntm.py": WORKLOAD,
    "verify/workloads/scan_gc.py": WORKLOAD,
    "verify/workloads/scan_outside.py": WORKLOAD,
}


def modules() -> list[str]:
    return [
        str(path.relative_to(REPOSITORY))
        for root in ("recipes", "stacks", "verify")
        for path in sorted((REPOSITORY / root).rglob("*.py"))
        if path.name != "__init__.py"
    ]


def location_of_test(module: str) -> Path:
    path = Path(module.removeprefix("stacks/"))
    if path.parts[0] == "recipes":
        return (
            Path("tests/unit/accelerator") / f"test_{path.stem.removeprefix('theano_stacks_')}.py"
        )
    return Path("tests/unit") / path.parent / f"test_{path.stem.strip('_')}.py"


@pytest.mark.parametrize(
    ("module", "test"),
    [
        ("stacks/core/disk.py", "tests/unit/core/test_disk.py"),
        ("recipes/x/src/theano_stacks_scan.py", "tests/unit/accelerator/test_scan.py"),
        ("verify/blas/peak.py", "tests/unit/verify/blas/test_peak.py"),
        ("verify/__main__.py", "tests/unit/verify/test_main.py"),
    ],
)
def test_the_name_of_a_modules_test(module: str, test: str) -> None:
    assert str(location_of_test(module)) == test


def test_every_module_has_a_test_or_is_an_exception() -> None:
    untested = {
        module for module in modules() if not (REPOSITORY / location_of_test(module)).is_file()
    }
    assert sorted(untested - EXCEPTIONS.keys()) == [], "write a test, or give a reason above"
    assert sorted(EXCEPTIONS.keys() - untested) == [], "these have a test, or are gone: take out"


def test_every_test_that_a_reason_names_exists() -> None:
    for reason in EXCEPTIONS.values():
        for word in reason.replace(",", " ").replace(":", " ").split():
            if word.startswith("tests/"):
                assert (REPOSITORY / word).is_file(), word
