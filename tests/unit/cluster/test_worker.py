from __future__ import annotations

from stacks.cluster import worker as cluster_worker


def test_nothing_of_dasks_own_settings_reaches_what_is_timed() -> None:
    dasks = {"OMP_NUM_THREADS": "1", "MALLOC_TRIM_THRESHOLD_": "65536", "PYTHONHASHSEED": "6640"}
    own = {"PATH": "/bin", "MKL_NUM_THREADS": "4"}
    assert cluster_worker.clean_environment({**dasks, **own}) == own


def test_what_the_person_has_set_reaches_a_program() -> None:
    own = {"OMP_NUM_THREADS": "1", "PYTHONPATH": "/mine"}
    dasks = {"MALLOC_TRIM_THRESHOLD_": "65536", "THEANO_STACKS_SET": "OMP_NUM_THREADS PYTHONPATH"}
    assert cluster_worker.clean_environment({**own, **dasks}) == own
