"""What is asked of rows: conditions, groups, order. Data, never code: nothing that a model writes here is run."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Annotated, Any, Callable, Dict, Iterable, List, Literal, Optional, Tuple, Union

from capstan_sdk import Limits, ToolError

from .reading import Row

#: Rows that fit the conditions; more would not fit into a tool's memory.
MAX_ROWS = 200_000

Operator = Literal["=", "!=", "<", "<=", ">", ">=", "contains", "starts_with", "ends_with", "in", "empty", "not_empty"]
Value = Union[str, float, bool, None]


@dataclass
class Condition:
    """What a row must fulfil. Numbers are compared as numbers, other values as texts."""

    column: Annotated[str, "The column's name."]
    op: Annotated[Operator, "`contains` and its like ignore case; `empty` and `not_empty` take no value."]
    value: Annotated[Union[Value, List[Value]], "What it is compared with; a list with `in`."] = None


@dataclass
class Order:
    """A column to sort by."""

    column: Annotated[str, "A column of the answer."]
    descending: Annotated[bool, "The greatest first."] = False


@dataclass
class Aggregate:
    """A number over the rows of a group."""

    function: Literal["count", "sum", "mean", "min", "max", "distinct"]
    column: Annotated[Optional[str], "The column; `count` can do without."] = None

    @property
    def name(self) -> str:
        """The column of the answer."""
        return f"{self.function}({self.column})" if self.column else self.function


@dataclass
class Answer:
    """Rows in the order of the answer."""

    columns: List[str]
    rows: List[Row]
    #: Rows that were read.
    n_read: int
    #: Rows, or groups, before the limit.
    n_found: int


def ask(
    rows: Iterable[Row],
    columns: List[str],
    where: List[Condition],
    group_by: List[str],
    aggregates: List[Aggregate],
    sort: List[Order],
    limit: int,
    offset: int,
) -> Answer:
    """Runs a query. Raises `ToolError` for a column that is not there, or a sum of texts."""
    known: Dict[str, None] = {}
    conditions = [(condition, _test(condition)) for condition in where]
    kept: List[Row] = []
    n_read = 0
    for row in rows:
        n_read += 1
        known.update(dict.fromkeys(row))
        if all(test(row.get(condition.column)) for condition, test in conditions):
            kept.append(row)
            if len(kept) > MAX_ROWS:
                raise ToolError(f"more than {MAX_ROWS} rows fit; narrow them with `where`")
    used = [one.column for one in where] + group_by + [one.column for one in aggregates if one.column]
    _check(used + ([] if group_by or aggregates else columns), list(known))
    if group_by or aggregates:
        names = group_by + [one.name for one in aggregates or [Aggregate("count")]]
        found = _grouped(kept, group_by, aggregates or [Aggregate("count")])
        _check([one.column for one in sort] + columns, names)
    else:
        names, found = list(known), kept
        _check([one.column for one in sort], names)
    # The least important column first: sorting keeps the order of what is equal.
    for order in reversed(sort):
        found.sort(key=lambda row: _key(row.get(order.column)), reverse=order.descending)
        # What is empty stays last in either direction.
        found.sort(key=lambda row: _is_empty(row.get(order.column)))
    return Answer(columns or names, found[offset : offset + limit], n_read, len(found))


def number(value: Any) -> Optional[float]:
    """A value as a number, if it is one. `1,000`, `1_000`, `nan` and `inf` are texts."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?\s*", value):
        return float(value) if any(mark in value for mark in ".eE") or len(value) > 300 else int(value)
    return None


def text(value: Any) -> str:
    """A value as it is shown and compared."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def _is_empty(value: Any) -> bool:
    return value is None or value == ""


def _key(value: Any) -> Tuple[int, float, str]:
    """Numbers by size before texts by their letters."""
    as_number = number(value)
    return (1, 0.0, text(value)) if as_number is None else (0, as_number, "")


def _is_equal(value: Any, other: Any) -> bool:
    one, two = number(value), number(other)
    return text(value) == text(other) if one is None or two is None else one == two


def _test(condition: Condition) -> Callable[[Any], bool]:
    op, wanted = condition.op, condition.value
    if op == "empty":
        return _is_empty
    if op == "not_empty":
        return lambda value: not _is_empty(value)
    if op == "in":
        if not isinstance(wanted, list):
            raise ToolError(f"`in` on `{condition.column}` takes a list")
        return lambda value: any(_is_equal(value, one) for one in wanted)
    if isinstance(wanted, list) or wanted is None:
        raise ToolError(f"`{op}` on `{condition.column}` takes one value")
    if op == "=":
        return lambda value: _is_equal(value, wanted)
    if op == "!=":
        return lambda value: not _is_equal(value, wanted)
    if op in ("contains", "starts_with", "ends_with"):
        part = text(wanted).casefold()
        inside: Dict[str, Callable[[str], bool]] = {
            "contains": lambda whole: part in whole,
            "starts_with": lambda whole: whole.startswith(part),
            "ends_with": lambda whole: whole.endswith(part),
        }
        return lambda value: inside[op](text(value).casefold())
    bound = _key(wanted)
    compare: Dict[str, Callable[[Any], bool]] = {
        "<": lambda value: _key(value) < bound,
        "<=": lambda value: _key(value) <= bound,
        ">": lambda value: _key(value) > bound,
        ">=": lambda value: _key(value) >= bound,
    }
    # A text is neither more nor less than a number.
    return lambda value: not _is_empty(value) and _key(value)[0] == bound[0] and compare[op](value)


def _grouped(rows: List[Row], group_by: List[str], aggregates: List[Aggregate]) -> List[Row]:
    groups: Dict[Tuple[str, ...], List[Row]] = {} if group_by else {(): []}
    for row in rows:
        groups.setdefault(tuple(text(row.get(column)) for column in group_by), []).append(row)
    answer: List[Row] = []
    for key, members in groups.items():
        values: Row = dict(zip(group_by, key))
        for aggregate in aggregates:
            values[aggregate.name] = _over(aggregate, members)
        answer.append(values)
    return answer


def _over(aggregate: Aggregate, rows: List[Row]) -> Any:
    column = aggregate.column
    if column is None:
        if aggregate.function != "count":
            raise ToolError(f"`{aggregate.function}` needs a column")
        return len(rows)
    values = [row[column] for row in rows if not _is_empty(row.get(column))]
    if aggregate.function == "count":
        return len(values)
    if aggregate.function == "distinct":
        return len({text(value) for value in values})
    if aggregate.function in ("min", "max"):
        chosen = min(values, key=_key, default=None) if aggregate.function == "min" else max(values, key=_key, default=None)
        return chosen
    numbers: List[float] = []
    for value in values:
        as_number = number(value)
        if as_number is None:
            raise ToolError(f'`{aggregate.name}` needs numbers, and a value is "{text(value)[:40]}"; leave it out with `where`')
        numbers.append(as_number)
    if aggregate.function == "sum":
        return sum(numbers)
    return sum(numbers) / len(numbers) if numbers else None


def _check(asked: List[str], known: List[str]) -> None:
    unknown = next((column for column in asked if column not in known), None)
    if unknown is not None:
        raise ToolError(f"there is no column `{unknown}`; there is {', '.join(f'`{name}`' for name in known[:50])}")


#: How many rows an answer shows.
Limit = Annotated[int, "At most this many rows.", Limits(minimum=1, maximum=500)]
