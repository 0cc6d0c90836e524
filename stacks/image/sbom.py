from __future__ import annotations

from collections.abc import Sequence

from stacks.channel import Channel
from stacks.image.config import ImageConfig
from stacks.lock import Lock
from stacks.prefix import Part
from stacks.variant import Variant


def render(
    variant: Variant, config: ImageConfig, channel: Channel, parts: Sequence[Part], lock: Lock
) -> str:
    return "{}\n"
