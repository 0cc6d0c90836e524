"""How many threads a call gets, by the policy in C; what a call of BLAS or LAPACK is known by."""

import ctypes
import itertools
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from unit.blas_threads import compiled

AROUND = """
#include "policy.c"
static int free_processors = 1, looks;
int machine_has_free_processors(int count) { looks++; return count <= free_processors; }
void set_free(int count) { free_processors = count; }
int looked(void) { return looks; }
int threads(uint64_t key, int most, double now) { return policy_threads(key, most, now); }
void record(uint64_t key, int threads, int most, double seconds, double now)
{ policy_record(key, threads, most, seconds, now); }
"""


class Program:
    """A program that calls BLAS, on a machine whose times the test gives."""

    def __init__(self, policy: ctypes.CDLL, most: int) -> None:
        self.policy = policy
        self.policy.threads.argtypes = (ctypes.c_uint64, ctypes.c_int, ctypes.c_double)
        real = ctypes.c_double
        self.policy.record.argtypes = (ctypes.c_uint64, ctypes.c_int, ctypes.c_int, real, real)
        self.most = most
        self.now = 0.0

    def call(self, times: Callable[[int], float], key: int = 1) -> int:
        """Call a routine that takes `times(threads)` seconds; return on how many threads it ran."""
        threads: int = self.policy.threads(key, self.most, self.now)
        seconds = times(threads)
        self.now += seconds
        self.policy.record(key, threads, self.most, seconds, self.now)
        return threads

    def calls(self, count: int, times: Callable[[int], float], key: int = 1) -> list[int]:
        return [self.call(times, key) for _ in range(count)]


@pytest.fixture
def program(tmp_path: Path) -> Callable[[int], Program]:
    return lambda most: Program(compiled(tmp_path, AROUND), most)


def ideal(threads: int) -> float:
    return 0.001 / threads


def useless(threads: int) -> float:
    return 0.001 * (1 if threads == 1 else 1.5)


def held_up(threads: int) -> float:
    """On a busy machine: who has several threads waits for a time slice."""
    return 0.001 if threads == 1 else 0.02


def is_kept(threads: list[int], count: int) -> bool:
    """Return whether calls had a number of threads, but for some, which measure half of it."""
    below = [each for each in threads if each != count]
    return len(below) <= len(threads) // 32 and set(below) <= {count // 2}


def test_counts_rise_while_they_pay(program: Callable[[int], Program]) -> None:
    # The first call of a count wakes its threads, and is not judged.
    rising = [1] * 4 + [2] * 5 + [4] * 5 + [8] * 5
    assert program(12).calls(50, ideal) == rising + [12] * (50 - len(rising))


def test_a_count_that_does_not_pay_is_left_and_tried_more_and_more_seldom(
    program: Callable[[int], Program],
) -> None:
    machine = program(2)
    threads = machine.calls(20_000, useless)
    # A trial ends when it has lost the time of two calls.
    begins = [n for n in range(1, len(threads)) if threads[n - 1 : n + 1] == [1, 2]]
    assert 5 <= len(begins) <= 25 and 5 * len(begins) <= threads.count(2) <= 6 * len(begins)
    gaps = [after - before for before, after in itertools.pairwise(begins)]
    assert gaps[0] < gaps[1] < gaps[2]


# The first call on two threads takes longer: one that has slept begins at the kernel's next tick.
@pytest.mark.parametrize(
    ("before", "slow", "after"), [(4, 0.0015, 5000), (4, 0.0045, 5000), (100, 0.0025, 100)]
)
def test_a_slow_call_is_forgiven_where_the_count_gains(
    program: Callable[[int], Program], before: int, slow: float, after: int
) -> None:
    machine = program(2)
    machine.calls(before, ideal)
    assert machine.call(lambda threads: slow) == 2
    assert is_kept(machine.calls(after, ideal), 2)


@pytest.mark.parametrize("share", [1.0, 1.1, 1.5, 10.0, 20.0])
@pytest.mark.parametrize("waking", [0.0, 0.004])
def test_trials_cost_at_most_a_twentieth(
    program: Callable[[int], Program], share: float, waking: float
) -> None:
    machine, asleep = program(2), True

    def times(threads: int) -> float:
        nonlocal asleep
        woken, asleep = asleep, threads == 1
        return 0.001 if threads == 1 else 0.001 * share + woken * waking

    threads = machine.calls(50_000, times)
    assert machine.now <= len(threads) * 0.001 * 1.05


def test_on_a_busy_machine_all_sizes_run_on_one_thread(program: Callable[[int], Program]) -> None:
    machine = program(2)
    for key in (1, 2):
        assert machine.calls(5, ideal, key) == [1, 1, 1, 1, 2]
    assert machine.call(held_up, 1) == 2
    assert machine.calls(5, ideal, 2) == [1] * 5


def test_with_one_other_program_all_processors_but_half_are_not_left(
    program: Callable[[int], Program],
) -> None:
    """On all 16 a call waits for a time slice; on 8 it does not."""
    machine = program(16)
    threads = machine.calls(50_000, lambda threads: ideal(threads) + 0.003 * (threads == 16))
    assert threads[1000:].count(8) > 0.8 * len(threads[1000:])
    machine.policy.set_free(0)
    assert machine.call(held_up, 2) == 1


def test_a_count_below_that_was_learnt_on_a_busy_machine_is_measured_again(
    program: Callable[[int], Program],
) -> None:
    machine = program(2)
    machine.calls(4, lambda threads: 0.003)
    # On two threads it is slower than on one that has its processor for itself.
    threads = machine.calls(5000, useless)
    assert threads[:60].count(2) > 50
    assert threads[-1000:].count(1) > 900


@pytest.mark.parametrize("share", [1.2, 1.03])
def test_idle_threads_that_spin_on_the_same_core_do_not_hide_that_one_is_faster(
    program: Callable[[int], Program], share: float
) -> None:
    """Two processors of one core: after a call on two threads, one takes half as long again."""
    machine, spin_until, chance = program(2), 0.0, random.Random(7)

    def times(threads: int) -> float:
        nonlocal spin_until
        alone = 0.0002 * (1.5 if machine.now < spin_until else 1)
        seconds = (alone if threads == 1 else 0.0002 * share) * chance.gauss(1, 0.05)
        if threads == 2:
            spin_until = machine.now + seconds + 0.05
        return seconds

    assert machine.calls(40_000, times)[10_000:].count(1) > 0.95 * 30_000


def test_a_number_that_the_program_has_lowered_is_judged_too(
    program: Callable[[int], Program],
) -> None:
    machine = program(8)
    assert machine.calls(100, ideal)[-1] == 8
    machine.most = 2
    threads = machine.calls(2000, lambda threads: 0.001 if threads == 1 else 0.004)
    assert threads.count(1) > 1800


def test_calls_of_two_threads_leave_a_count_once(program: Callable[[int], Program]) -> None:
    machine = program(2)
    machine.calls(20, ideal)
    policy, slow = machine.policy, 0.5
    assert [policy.threads(1, 2, machine.now) for _ in "ab"] == [2, 2]
    for _ in "ab":
        policy.record(1, 2, 2, slow, machine.now + slow)
    assert policy.threads(1, 2, machine.now + slow) == 1
    assert policy.threads(1, 2, machine.now + 60) == 2


def test_no_wait_gets_so_small_that_the_processor_flags_it(
    program: Callable[[int], Program],
) -> None:
    libm = ctypes.CDLL("libm.so.6")
    underflow = 0x10  # FE_UNDERFLOW of x86, fenv.h
    machine = program(2)
    machine.calls(100, ideal)
    machine.call(held_up)
    libm.feclearexcept(underflow)
    threads = machine.calls(20_000, ideal)
    assert not libm.fetestexcept(underflow)
    # One call that lost its processor changes little.
    assert threads[0] == 1 and threads.count(2) > 15_000


def test_no_trial_before_the_machine_is_free(program: Callable[[int], Program]) -> None:
    machine = program(2)
    assert machine.calls(5, held_up) == [1, 1, 1, 1, 2]
    machine.policy.set_free(0)
    looks = machine.policy.looked()
    assert machine.calls(2000, held_up) == [1] * 2000
    # It looks now and then, not at each call.
    assert 5 <= machine.policy.looked() - looks <= 50
    machine.policy.set_free(1)
    assert machine.calls(200, ideal)[-1] == 2


def test_sizes_of_one_place_in_the_table_do_not_forget_each_other(
    program: Callable[[int], Program],
) -> None:
    machine = program(2)
    place = [key for key in range(1, 20_000) if key * 0x9E3779B97F4A7C15 % 2**64 >> 54 == 7]
    for _ in range(10):
        last = [machine.call(ideal, key) for key in place[:8]]
    assert last == [2] * 8


AROUND_ROUTINES = """
#include "calls.c"
#include "fortran.c"
static uint64_t key, recorded;
static double work, large;
static int info;
static void nothing(void) { }
static void factorise(void *uplo, void *n, void *a, void *lda, int *found) { *found = info; }
void *library_function(const char *name)
{ return name[1] == 'p' ? (void *)factorise : (void *)nothing; }
void library_begin(struct call *call, uint64_t k, double w, const struct kind *kind)
{ call->key = key = k; work = w; large = kind->large; }
void library_end(const struct call *call) { recorded = call->key; }
uint64_t key_of_gemm(char ta, int m, int n, int k)
{ sgemm_(&ta, "N", &m, &n, &k, 0, 0, 0, 0, 0, 0, 0, 0); return key; }
uint64_t key_of_dgemm(char ta, int m, int n, int k)
{ dgemm_(&ta, "N", &m, &n, &k, 0, 0, 0, 0, 0, 0, 0, 0); return key; }
double work_of_potrf(int n) { int i; dpotrf_("L", &n, 0, &n, &i); return work; }
double work_of_getri(int n, int lwork)
{ int i = 0; zgetri_(&n, 0, &n, 0, 0, &lwork, &i); return work; }
int is_recorded(int of) { int n = 9, i; info = of; dpotrf_("L", &n, 0, &n, &i); return !!recorded; }
int is_large(void) { return work >= large; }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return compiled(tmp_path_factory.mktemp("routines"), AROUND_ROUTINES)


@pytest.fixture
def key(library: ctypes.CDLL) -> Callable[..., int]:
    def key_of(*sizes: int, letter: bytes = b"N", name: str = "key_of_gemm") -> int:
        function = library[name]
        function.argtypes = (ctypes.c_char, ctypes.c_int, ctypes.c_int, ctypes.c_int)
        function.restype = ctypes.c_uint64
        return int(function(letter, *sizes))

    return key_of


def test_sizes_that_nearly_agree_are_one_and_others_are_not(key: Callable[..., int]) -> None:
    assert key(960, 512, 128) == key(1023, 512, 128) == key(1023, 575, 143)
    calls = [(960, 512, 128), (959, 512, 128), (1024, 512, 128), (512, 960, 128), (15, 512, 128)]
    keys = {key(*sizes) for sizes in [*calls, (14, 512, 128), (0, 512, 128), (-1, 512, 1)]}
    keys |= {key(960, 512, 128, letter=b"T"), key(960, 512, 128, name="key_of_dgemm")}
    assert len(keys) == len(calls) + 5


def test_a_product_of_1000_is_large_and_one_of_an_lstm_s_gradient_is_not(
    library: ctypes.CDLL, key: Callable[..., int]
) -> None:
    key(1000, 1000, 1000)
    assert library.is_large()
    key(256, 1024, 800)
    assert not library.is_large()


def test_the_work_of_a_factorisation_follows_from_its_arguments(library: ctypes.CDLL) -> None:
    library.work_of_potrf.restype = library.work_of_getri.restype = ctypes.c_double
    assert library.work_of_potrf(300) == 300**3 / 3
    # A multiplication and an addition of complex numbers are four of each.
    assert library.work_of_getri(30, 900) == pytest.approx(4 * 30**3 * 4 / 3)
    # A question for the workspace is no work, and one that ended early teaches nothing.
    assert library.work_of_getri(30, -1) == 0
    assert [library.is_recorded(info) for info in (0, 3, -1)] == [1, 0, 0]
