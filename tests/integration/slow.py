"""The slow tests, which `./invoke test` leaves out and `./invoke test --all` has.

Each takes more than ten seconds on two cores, or needs an environment that no everyday test needs.
What an everyday test covers of the same is said where it is not the other cases of the same test.
"""

from collections.abc import Collection
from fnmatch import fnmatchcase

# Frameworks and flavours whose cases are slow: making their environments takes the time.
OTHER_CASES = (
    *("aesara-2.8.7", "pytensor-2.38.3", "theano-pymc-1.1.2"),
    *("mkl-amdlibm", "openblas-amdlibm", "gpuarray"),
)
# Modules in which every test is slow.
MODULES = (
    # test_engine makes images; the workflow `variants` verifies each variant's in a container.
    "test_dockerfile_alone",
    "test_image",
    "test_image_in_engine",
    # tests/unit/environments/use/test_kernel.py; test_guides installs one.
    "test_kernel",
    # tests/unit/distribution/test_vendor.py.
    "test_vendor",
    # tests/unit/verify/device and tests/unit/image.
    "test_device",
    # test_verify_faults; the unit tests of each check.
    "test_fixes_numpy",
    "test_verify_libraries",
    # test_exports and test_published install by conda.
    "test_clients",
)
# By module and name, as in fnmatch(3).
TESTS = (
    "test_amdlibm::test_amdlibm_from_a_tarball_*",
    "test_bare_machine::test_the_first_command_*",
    "test_blas_choice::*mkl*",
    "test_blas_choice::*blis-theano-1.0.5*",
    "test_blas_choice::*theano-1.0.5*blis*",
    "test_channel::*blis*",
    "test_channel::*mkl*",
    "test_channel::*pytensor*",
    "test_cluster::test_a_program_runs_over_*",
    "test_cluster::test_a_stack_of_ones_own_*",
    "test_cluster::test_the_scheduler_is_lost",
    "test_exports::test_pip_and_uv_take_*",
    "test_first_step::test_stored_graph_*theano-1.0.5*",
    "test_fixes::*environment_of_this_project*cxxflags*",
    "test_fixes::*environment_of_this_project*global*",
    "test_fixes::test_of_a_baseline_that_is_linked[[][[]*",
    # tests/unit/verify/checks.
    "test_fixes::test_of_array_functions_*",
    "test_fixes::test_of_loops_*",
    "test_fixes::test_of_the_compiler_s_options_*",
    "test_fixes::test_a_missing_header_*",
    # The tutorial types it with the flavour that is the default.
    "test_guides::*[[]README:1*",
    "test_guides::*[[]examples/*",
    "test_guides::*[[]explanation/amdlibm:1*",
    "test_guides::*[[]guides/bench:[13]*",
    # README types the same of the checkout; guides/ci runs the file.
    "test_guides::*[[]guides/fix-your-python:3*",
    "test_guides::*[[]guides/hpc:1*",
    # tests/unit/image writes archives; test_engine makes an image.
    "test_guides::*[[]guides/images:4*",
    # tests/unit/distribution/test_vendor.py; tests/unit/sources fetch from a vendored folder.
    "test_guides::*[[]guides/offline:[12]*",
    # The tutorial types a profile; test_workloads has reports and profiles.
    "test_guides::*[[]guides/profiling:[12]*",
    "test_guides::*[[]guides/pymc:*",
    # README and fix-your-python diagnose without the task; test_verify_environments starts it.
    "test_guides::*[[]guides/slow:[13]*",
    "test_guides::*[[]guides/your-own-code:1*",
    "test_guides::*[[]guides/your-program:[23]*",
    "test_guides::*[[]reference/verify:1*",
    "test_page::test_no_page_is_wider_than_a_telephone_*",
    "test_page::test_the_same_bytes_*",
    "test_pip::*pytensor*",
    "test_prefix::test_a_path_with_blanks_*theano-1.0.5*",
    "test_recipes::test_c_code_*theano-1.0.5*",
    "test_recipes::test_copies_of_gccs_*",
    "test_recipes::test_every_package_*",
    "test_recipes::test_no_package_*",
    # The packages of everyday's environments have the digests of the locks, or are not used.
    "test_reproducible::test_every_package_*",
    # Of the small environment it is everyday's.
    "test_reproducible::test_two_*theano-*",
    "test_reproducible::test_in_2036_a_real_variant_*",
    "test_shared_modules::*theano-1.0.5*",
    "test_shared_modules::test_another_variant_*",
    "test_shared_modules::test_measurements_*",
    "test_shared_modules::test_modules_are_shared_*",
    "test_stack::test_a_conflict_*",
    "test_stack::test_python_2?by-pip?",
    "test_threads::*theano-0.8.2*",
    "test_users::test_a_checkout_*",
    "test_users::test_two_users_*",
    # test_guides builds and verifies the environment of the tutorial.
    "test_verify_environments::test_a_built_environment_passes*",
    "test_verify_environments::test_kept_modules_*",
    "test_verify_environments::test_numpy_alone*",
    "test_verify_environments::test_the_program_for_processors_*",
    "test_verify_faults::test_a_variable[[]mkl-*",
    "test_verify_faults::*theano-pymc*",
    # Others of the same flags, functions and order are everyday's.
    "test_fixes::*environment_of_this_project*-lopenblas -lnothere-*",
    "test_verify_faults::test_a_preloaded_*[[][el]*",
    "test_verify_faults::test_a_variable[[]pip-openblas-None-variables[24]-*",
    # tests/unit/verify/checks/test_settings.py and tests/unit/verify/blas/test_chains.py.
    "test_verify_faults::test_a_variable[[]pip-*-variables[678]-*",
    # tests/unit/verify/checks/test_compile_time.py.
    "test_verify_faults::*pytensor-3.3.7/pip-default-*",
    # Libraries in a variable; tests/unit/verify/blas have the checks of a second one.
    "test_verify_faults::test_a_blas_that_nothing_calls_*",
    "test_verify_faults::test_a_scipy_with_which_numba_*",
    "test_verify_wheel::test_the_plugin_fails_*",
    "test_workloads::*-elementwise-*",
    "test_workloads::*pytensor*",
    "test_workloads::test_a_fixed_*",
    "test_workloads::test_a_program_is_suspended_*",
    "test_workloads::test_a_report_has_*theano-1.0.5*",
    "test_workloads::test_an_environment_without_*",
    "test_workloads::test_the_gradients_*",
    "test_workloads::test_the_optimiser_moves_*",
    "test_workloads::test_the_slow_and_*",
    "test_workloads::test_the_tutorials_networks_*",
)


def is_slow(test: str) -> bool:
    """Return whether a test is slow, by `module::name`, with its parameters in brackets."""
    module, _, name = test.partition("::")
    case = name.partition("[")[2]
    return (
        module in MODULES
        or any(other in case for other in OTHER_CASES)
        or any(fnmatchcase(test, pattern) for pattern in TESTS)
    )


def unused(tests: Collection[str]) -> list[str]:
    """Return the modules and patterns that match none of all tests: they were renamed."""
    modules = {test.partition("::")[0] for test in tests}
    return [module for module in MODULES if module not in modules] + [
        pattern for pattern in TESTS if not any(fnmatchcase(test, pattern) for test in tests)
    ]
