"""What an extension asks the user for."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from enum import Enum
from typing import Any, Sequence, Tuple


class Power(str, Enum):
    """Rights over the conversation rather than over the machine."""

    #: A gate before tool calls may answer :class:`~capstan_sdk.Rewrite`.
    REWRITE_ARGUMENTS = "rewrite-arguments"
    #: ``after_tool_call`` may amend a result.
    REWRITE_RESULT = "rewrite-result"
    #: ``before_turn``, ``before_model`` and ``after_model`` may answer :class:`~capstan_sdk.Rewrite`.
    REWRITE_CONTEXT = "rewrite-context"
    #: A compressor may replace messages.
    COMPRESS = "compress"
    #: A memory may hold what the agent remembers.
    REMEMBER = "remember"


@dataclass(frozen=True)
class Request:
    """A wish and why. The user reads the reason word for word before anything is granted: one sentence that says what it is for.

    >>> Request.read_directory(".", "It reads the tables that you ask about.").kind
    'directory'
    """

    #: The capability, as ``capstan ext run --allow`` names it.
    kind: str
    #: What belongs to the kind.
    value: Any
    reason: str
    #: False: the extension works without it, only less.
    required: bool = True

    def optional(self) -> "Request":
        """The same wish, for an extension that works without it, only less."""
        return dataclasses.replace(self, required=False)

    @classmethod
    def read_directory(cls, path: str, reason: str) -> "Request":
        """To read files below a directory: absolute, ``~/…``, or ``.`` and below for the workspace. The extension sees the
        workspace at ``/workspace`` and any other directory at its own path; ``open`` and ``pathlib`` work there."""
        return cls("directory", (path, "read-only"), reason)

    @classmethod
    def write_directory(cls, path: str, reason: str) -> "Request":
        """To read and change files below a directory."""
        return cls("directory", (path, "read-write"), reason)

    @classmethod
    def http(cls, pattern: str, reason: str, methods: Sequence[str] = ()) -> "Request":
        """To send HTTP requests: ``scheme://host[:port]``, where the host may start with ``*.``, and upper-case methods (none:
        ``GET`` and ``HEAD``)."""
        methods_: Tuple[str, ...] = tuple(methods)
        return cls("http", (pattern, methods_), reason)

    @classmethod
    def secret(cls, name: str, endpoint: str, reason: str) -> "Request":
        """To use a credential that the user stored under ``name``, toward one ``https`` endpoint, which needs :meth:`http` too. The
        extension only ever holds the placeholder ``{{secret:NAME}}``, which the host replaces in request headers."""
        return cls("secret", (name, endpoint), reason)

    @classmethod
    def environment(cls, name: str, reason: str) -> "Request":
        """To read one environment variable, with ``os.environ``."""
        return cls("environment", name, reason)

    @classmethod
    def process(cls, program: str, reason: str) -> "Request":
        """To run programs: a glob over file name or absolute path, then globs for the arguments, word by word. ``git``: any
        arguments; ``git log *``: exactly these two; ``git log **``: ``log`` and any further ones."""
        return cls("process", program, reason)

    @classmethod
    def model(cls, tokens: int, reason: str) -> "Request":
        """To call the host's model for at most this many tokens a turn."""
        return cls("model", tokens, reason)

    @classmethod
    def key_value(cls, limit_bytes: int, reason: str) -> "Request":
        """To keep at most this many bytes of its own."""
        return cls("key-value", limit_bytes, reason)

    @classmethod
    def session_memory(cls, reason: str) -> "Request":
        """To put facts of the session into the agent's prompt."""
        return cls("session-memory", None, reason)

    @classmethod
    def power(cls, power: Power, reason: str) -> "Request":
        """To have a say over the conversation."""
        return cls("power", power, reason)

    def needs_wasi(self) -> bool:
        """Whether the component needs the system interfaces for it, without which it is smaller and starts sooner."""
        return self.kind in ("directory", "http", "secret", "environment")
