"""What a context derives from its expectation and its framework."""

import importlib
from types import SimpleNamespace

import pytest

context = importlib.import_module("verify.context")


@pytest.mark.parametrize(
    ("expectation", "baseline"),
    [(None, False), ({"baseline": False}, False), ({"baseline": 1}, True)],
)
def test_only_an_expectation_can_name_the_baseline(
    expectation: dict[str, object] | None, baseline: bool
) -> None:
    assert context.Context(None, expectation, "/tmp", "").is_baseline is baseline


@pytest.mark.parametrize(
    ("ldflags", "linked"), [(None, False), ("", False), (" ", False), ("-lopenblas", True)]
)
def test_a_framework_with_empty_ldflags_links_no_blas(ldflags: str | None, linked: bool) -> None:
    framework = SimpleNamespace(flag={"blas.ldflags": ldflags}.get)
    assert context.Context(framework, None, "/tmp", "").has_ldflags is linked
