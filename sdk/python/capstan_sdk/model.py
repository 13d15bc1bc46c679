"""The host's model. Needs :meth:`Request.model <capstan_sdk.Request.model>`; its tokens count against the granted budget of the turn."""

from __future__ import annotations

from typing import List

from . import _host
from .types import Message, ModelResponse


def complete(messages: List[Message], max_tokens: int) -> ModelResponse:
    """One completion without tools.

    Raises :class:`~capstan_sdk.types.HostError`: it is not granted, the budget is used up, or the request failed.
    """
    return _host.current().complete(messages, max_tokens)


def ask(prompt: str, max_tokens: int) -> str:
    """One question, one answer. Raises as :func:`complete`."""
    return complete([Message.user(prompt)], max_tokens).message.text
