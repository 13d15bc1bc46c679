"""Lines for the log. Always available. A line holds at most 4 KiB in a tool and 1 KiB elsewhere; the host counts and drops what is too
much.

>>> from capstan_sdk import log
>>> log.info(f"read {3} files")
"""

from __future__ import annotations

from . import _host


def trace(message: str) -> None:
    """For what only a debugging author wants to see."""
    _host.current().write_log("trace", message)


def debug(message: str) -> None:
    """For details of the work."""
    _host.current().write_log("debug", message)


def info(message: str) -> None:
    """For what a curious user wants to know."""
    _host.current().write_log("info", message)


def warn(message: str) -> None:
    """For what the user should look at some day."""
    _host.current().write_log("warn", message)


def error(message: str) -> None:
    """For what went wrong."""
    _host.current().write_log("error", message)
