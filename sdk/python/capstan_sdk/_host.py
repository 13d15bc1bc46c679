"""The one way to the host. In a component it leads through the generated bindings; natively, which is in tests and while a build looks
at what a module declares, it leads to a fake host."""

from __future__ import annotations

from typing import List, Optional, Protocol

from .process import Command, Outcome
from .types import Message, ModelResponse


class HostCalls(Protocol):
    """What a host does for an extension."""

    def write_log(self, level: str, message: str) -> None: ...
    def report_progress(self, text: str) -> None: ...
    def is_cancelled(self) -> bool: ...
    def config(self) -> str: ...
    def stored(self, key: str) -> Optional[bytes]: ...
    def store(self, key: str, value: bytes) -> None: ...
    def forget(self, key: str) -> None: ...
    def stored_keys(self, prefix: str) -> List[str]: ...
    def fact(self, key: str) -> Optional[str]: ...
    def set_fact(self, key: str, value: str) -> None: ...
    def forget_fact(self, key: str) -> None: ...
    def facts(self) -> str: ...
    def run_program(self, command: Command) -> Outcome: ...
    def complete(self, messages: List[Message], max_tokens: int) -> ModelResponse: ...
    def emit(self, label: str, data: str) -> None: ...


_now: Optional[HostCalls] = None


def current() -> HostCalls:
    """The host of this moment."""
    global _now
    if _now is None:
        # Not at the top: the fake host's module is part of no component, and this one is part of each.
        from .testing import Host

        _now = Host()
    return _now


def swap(host: Optional[HostCalls]) -> Optional[HostCalls]:
    """Puts another host in place and answers the one before."""
    global _now
    before, _now = _now, host
    return before


__all__ = ["HostCalls", "current", "swap"]
