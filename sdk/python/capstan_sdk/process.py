"""Programs on the host. Needs :meth:`Request.process <capstan_sdk.Request.process>` for the program.

A program runs with the rights of the user, outside of the sandbox. It starts in a granted directory or in an empty one, ends with the
call, and is not run at all where this extension could have written it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, Optional, Sequence


@dataclass(frozen=True)
class Command:
    """One program with everything that it gets."""

    #: A file name looked up on the host's path, or an absolute path. No shell is involved.
    program: str
    arguments: Sequence[str] = ()
    stdin: bytes = b""
    #: Nothing is inherited. Variables that only shape output (``LANG``, ``TZ``, ``NO_COLOR`` and the like) are free; any other needs the
    #: capability ``environment`` for its name.
    environment: Dict[str, str] = field(default_factory=dict)
    #: A directory that was granted; ``None``: an empty temporary one.
    directory: Optional[str] = None
    #: 0: as long as the running call may last.
    timeout_ms: int = 0


@dataclass(frozen=True)
class Outcome:
    """A program that ran."""

    #: ``None`` when a signal ended it.
    exit_code: Optional[int] = 0
    #: At most 1 MiB each.
    stdout: bytes = b""
    stderr: bytes = b""
    truncated: bool = False
    timed_out: bool = False

    @property
    def is_success(self) -> bool:
        """Whether it ended by itself with the exit code 0."""
        return self.exit_code == 0 and not self.timed_out

    @property
    def text(self) -> str:
        """What it wrote to stdout."""
        return self.stdout.decode(errors="replace")


def run(
    program: str,
    *arguments: str,
    stdin: bytes = b"",
    environment: Optional[Dict[str, str]] = None,
    directory: Optional[str] = None,
    timeout_ms: int = 0,
) -> Outcome:
    """Runs a program to its end.

    A program that ran and failed is an :class:`Outcome`. Raises :class:`~capstan_sdk.types.HostError` where it is not granted or could
    not be started.
    """
    from . import _host

    command = Command(program, arguments, stdin, environment or {}, directory, timeout_ms)
    return _host.current().run_program(command)
