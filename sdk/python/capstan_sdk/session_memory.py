"""Facts of the running session that the agent sees in its prompt. Needs
:meth:`Request.session_memory <capstan_sdk.Request.session_memory>`; every function raises :class:`~capstan_sdk.types.HostError` where it
is not granted or the host failed."""

from __future__ import annotations

from typing import Optional

from . import _host


def get(key: str) -> Optional[str]:
    """One fact."""
    return _host.current().fact(key)


def set(key: str, value: str) -> None:
    """Adds or replaces a fact."""
    _host.current().set_fact(key, value)


def remove(key: str) -> None:
    """Forgets a fact. A key that does not exist is no error."""
    _host.current().forget_fact(key)


def snapshot() -> str:
    """All of it, as the prompt shows it."""
    return _host.current().facts()
