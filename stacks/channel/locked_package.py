"""A conda package as a lock names it, and the channel's address in locks."""

from dataclasses import dataclass

from stacks.sources.pins import CondaPin

# The address of the packages in locks; `./invoke serve` answers there.
PORT = 8420
URL = f"http://localhost:{PORT}/theano-stacks"


@dataclass(frozen=True)
class LockedPackage:
    """A conda package of a lock. depends: the match specs of what it needs. size: in bytes."""

    name: str
    version: str
    build: str
    url: str
    sha256: str
    md5: str
    size: int
    depends: tuple[str, ...] = ()

    @property
    def file_name(self) -> str:
        """The last part of the URL."""
        return self.url.rsplit("/", 1)[-1]

    @property
    def subdir(self) -> str:
        """The package's folder in its channel."""
        return self.url.rsplit("/", 2)[-2]

    @property
    def pin(self) -> CondaPin:
        """The package as a pin, whose URL is its path in a channel."""
        return CondaPin(
            name=self.name,
            version=self.version,
            filename=self.file_name,
            size=self.size,
            sha256=self.sha256,
            urls=(f"{self.subdir}/{self.file_name}",),
        )
