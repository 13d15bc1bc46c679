"""What is always there for a running call."""

from __future__ import annotations

from . import _host


def progress(text: str) -> None:
    """Shows a partial result of the running tool call. It replaces what was reported before and holds at most 64 KiB. Without effect
    outside tools."""
    _host.current().report_progress(text)


def is_cancelled() -> bool:
    """True once the user has aborted. A call that goes on is stopped a moment later."""
    return _host.current().is_cancelled()
