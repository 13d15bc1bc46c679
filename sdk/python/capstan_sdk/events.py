"""Events of the extension's own in the turn's stream. Always available; each counts as a line of the log."""

from __future__ import annotations

import json
from typing import Any

from . import _host
from ._tools import plain


def emit(label: str, data: Any) -> None:
    """Emits data under a label (``[a-z0-9-]{1,48}``). Its JSON holds at most 64 KiB. Raises ``TypeError`` where it has no JSON form."""
    _host.current().emit(label, json.dumps(data, ensure_ascii=False, default=plain))
