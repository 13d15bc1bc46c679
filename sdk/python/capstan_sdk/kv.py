"""Persistent storage of this extension alone. Needs :meth:`Request.key_value <capstan_sdk.Request.key_value>`; every function raises
:class:`~capstan_sdk.types.HostError` where it is not granted or the host failed.

>>> from capstan_sdk import kv, testing
>>> with testing.Host():
...     kv.put("seen", [1, 2])
...     kv.load("seen")
[1, 2]
"""

from __future__ import annotations

import json
from typing import Any, List, Optional

from . import _host
from ._tools import plain


def get(key: str) -> Optional[bytes]:
    """The bytes under a key of 1 to 256 bytes; ``None`` where there are none."""
    return _host.current().stored(key)


def set(key: str, value: bytes) -> None:
    """Keeps bytes. Key and value count against the granted bytes."""
    _host.current().store(key, value)


def remove(key: str) -> None:
    """Forgets a key. A key that does not exist is no error."""
    _host.current().forget(key)


def keys(prefix: str = "") -> List[str]:
    """The keys that start with ``prefix``, in the order of their bytes."""
    return _host.current().stored_keys(prefix)


def load(key: str, default: Any = None) -> Any:
    """What :func:`put` stored under a key. Raises ``ValueError`` where the bytes are no JSON."""
    stored = get(key)
    return default if stored is None else json.loads(stored)


def put(key: str, value: Any) -> None:
    """Stores a value as JSON. Raises ``TypeError`` where it has no JSON form."""
    set(key, json.dumps(value, ensure_ascii=False, default=plain).encode())
