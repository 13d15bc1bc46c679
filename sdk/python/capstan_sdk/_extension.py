"""What the extension is as a whole."""

from __future__ import annotations

import re
from typing import Any, Literal, Optional, Sequence, Union

from . import _registry
from ._requests import Request
from ._shapes import Schema, shape_of


def extension(
    *,
    id: str = "",
    version: str = "",
    summary: str = "",
    requests: Sequence[Request] = (),
    config: Optional[Union[type, Schema]] = None,
    lifetime: Literal["call", "session"] = "call",
) -> None:
    """Says what the extension is and what it asks for. Called once, at the top of the module.

    Args:
        id: What the user calls it: a-z, 0-9 and -, at most 48 letters. Without it: the project's name.
        version: A semantic version. Without it: the project's version.
        summary: One line for lists.
        requests: What it asks the user for. Without any, it computes, logs and reads its configuration.
        config: The type of its configuration table, a dataclass or a TypedDict whose members have defaults, or a JSON Schema. The host
            checks the user's table before the extension ever sees it. Without it: it takes no configuration.
        lifetime: ``"call"``: a fresh instance serves each call, and nothing is kept in variables. ``"session"``: one instance serves a
            session, its calls one after another; a fresh Python takes a few milliseconds, so this suits hooks that are asked often.

    Raises:
        ValueError: something of it cannot be said that way, or it was said already.
        TypeError: ``config`` has no JSON form.
    """
    declared = _registry.current()
    if declared.is_described and id != declared.id:
        raise ValueError("extension() was called twice; a component holds one extension")
    if id and not re.fullmatch(r"[a-z0-9-]{1,48}", id):
        raise ValueError(f'the id "{id}" may hold a-z, 0-9 and -, at most 48 letters')
    if lifetime not in ("call", "session"):
        raise ValueError(f'the lifetime "{lifetime}" is neither "call" nor "session"')
    wrong: Any = next((one for one in requests if not isinstance(one, Request)), None)
    if wrong is not None:
        raise ValueError(f"{wrong!r} is no Request; make it with Request.read_directory and its like")
    declared.id, declared.version, declared.summary = id, version, summary
    declared.requests = list(requests)
    declared.lifetime = lifetime
    declared.is_described = True
    if config is None:
        declared.config_schema = None
    elif isinstance(config, dict):
        declared.config_schema = config
    else:
        declared.config_schema = shape_of(config).schema
