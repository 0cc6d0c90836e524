from __future__ import annotations

from pathlib import Path

import pytest
from rattler import exceptions

from stacks.channel.rattler_errors import CondaError, translated
from stacks.core.disk import DiskError


def test_a_refusal_of_the_disk_has_its_fix() -> None:
    with (
        pytest.raises(DiskError, match="/any: No space left") as caught,
        translated(Path("/any"), "x could not be read"),
    ):
        raise exceptions.IoError("No space left on device (os error 28)")
    assert caught.value.fix and "free some space" in caught.value.fix


@pytest.mark.parametrize("error", [exceptions.IoError, OSError])
def test_a_full_disk_is_named(error: type[Exception]) -> None:
    """`extract` raises OSErrors without a number."""
    with pytest.raises(DiskError), translated(Path("/any"), "x could not be read"):
        raise error("failed to unpack `a`: No space left on device (os error 28)")


def test_any_other_failure_says_what_could_not_be_done() -> None:
    with pytest.raises(CondaError) as caught, translated(Path("/any"), "x could not be read"):
        raise exceptions.ExtractError("not an archive")
    assert (caught.value.what, caught.value.found) == ("x could not be read", "not an archive")


def test_errors_of_our_own_are_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError), translated(Path("/any"), "x"):
        raise ZeroDivisionError
