"""The extension's table of the user's configuration. Always available."""

from __future__ import annotations

import json
from typing import Any, Dict, Type, TypeVar, overload

from . import _host
from ._shapes import shape_of

T = TypeVar("T")


@overload
def get() -> Dict[str, Any]: ...
@overload
def get(kind: Type[T], /) -> T: ...
def get(kind: Any = None, /) -> Any:
    """The table, as a dict or as a type of yours: a dataclass or a TypedDict, the same that stands in ``extension(config=…)``. Where the
    user wrote nothing it is empty, so give the members defaults.

    Raises ``ValueError`` where the table does not fit the type.
    """
    table: Dict[str, Any] = json.loads(_host.current().config())
    if kind is None:
        return table
    return shape_of(kind).read_named(table, "the configuration")
