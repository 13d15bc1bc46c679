"""Type hints to schemas and values."""

import enum
import unittest
from dataclasses import dataclass, field
from typing import Annotated, Any, Dict, List, Literal, Optional, Set, Tuple, TypedDict, Union

from capstan_sdk import Limits
from capstan_sdk._shapes import Strictness, documented, shape_of


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    """A place.

    Args:
        x: To the right.
    """

    x: int
    y: Annotated[int, "Upwards."] = 0
    tags: List[str] = field(default_factory=list)


class Options(TypedDict, total=False):
    deep: bool


@dataclass
class Tree:
    children: "List[Tree]"


class Schemas(unittest.TestCase):
    def test_plain_types(self) -> None:
        for hint, schema in [
            (str, {"type": "string"}),
            (int, {"type": "integer"}),
            (float, {"type": "number"}),
            (bool, {"type": "boolean"}),
            (Any, {}),
            (List[int], {"type": "array", "items": {"type": "integer"}}),
            (Set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
            (Dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
            (Optional[str], {"type": "string"}),
            (Union[str, int], {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
            (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
            (Literal[1, "b"], {"enum": [1, "b"]}),
            (Color, {"type": "string", "enum": ["red", "blue"]}),
            (Annotated[str, "A name."], {"type": "string", "description": "A name."}),
            (Annotated[int, Limits(minimum=1)], {"type": "integer", "minimum": 1}),
            (Annotated[List[int], Limits(max_length=2)], {"type": "array", "items": {"type": "integer"}, "maxItems": 2}),
        ]:
            with self.subTest(hint=hint):
                self.assertEqual(shape_of(hint).schema, schema)

    def test_dataclasses_and_typed_dicts_are_closed_objects(self) -> None:
        schema = shape_of(Point).schema
        self.assertEqual(schema["description"], "A place.")
        self.assertEqual(schema["required"], ["x"])
        self.assertEqual(schema["properties"]["x"], {"type": "integer", "description": "To the right."})
        self.assertEqual(schema["properties"]["y"], {"type": "integer", "description": "Upwards.", "default": 0})
        self.assertEqual(schema["properties"]["tags"]["default"], [])
        self.assertIs(schema["additionalProperties"], False)
        self.assertEqual(
            shape_of(Options).schema,
            {"type": "object", "properties": {"deep": {"type": "boolean"}}, "additionalProperties": False},
        )

    def test_types_without_a_json_form_are_refused_by_name(self) -> None:
        for hint, word in [(complex, "complex"), (Dict[int, str], "keys"), (Tree, "contains itself"), (object(), "object")]:
            with self.subTest(hint=hint), self.assertRaisesRegex(TypeError, word):
                shape_of(hint)


class Values(unittest.TestCase):
    def read(self, hint: Any, value: Any) -> Any:
        return shape_of(hint).read_named(value, "it")

    def test_values_become_what_the_hints_say(self) -> None:
        self.assertEqual(self.read(Point, {"x": 1, "tags": ["a"]}), Point(1, 0, ["a"]))
        self.assertEqual(self.read(Options, {"deep": True}), {"deep": True})
        self.assertEqual(self.read(Color, "red"), Color.RED)
        self.assertEqual(self.read(Set[int], [1, 2]), {1, 2})
        self.assertEqual(self.read(Tuple[int, str], [1, "a"]), (1, "a"))
        self.assertEqual(self.read(Tuple[int, ...], [1, 2, 3]), (1, 2, 3))
        self.assertIsNone(self.read(Optional[int], None))
        self.assertEqual(self.read(Union[int, List[int]], [1]), [1])
        # JSON has one kind of number.
        self.assertIsInstance(self.read(int, 3.0), int)
        self.assertIsInstance(self.read(float, 3), float)

    def test_an_error_says_where_and_what(self) -> None:
        for hint, value, text in [
            (int, "3", 'it: expected a whole number, got "3"'),
            (int, True, "it: expected a whole number, got true"),
            (int, 3.5, "it: expected a whole number, got 3.5"),
            (int, float("nan"), "it: expected a whole number, got nan"),
            (bool, 1, "it: expected true or false, got 1"),
            (List[Point], [{"x": 1}, {"x": None}], "it at `[1].x`: expected a whole number, got null"),
            (Point, {"y": 1}, "it: `x` is missing"),
            (Point, {"x": 1, "z": 2}, "it: `z` is not known; there is `x`, `y`, `tags`"),
            (Dict[str, int], {"a": "b"}, 'it at `a`: expected a whole number, got "b"'),
            (Literal["a", "b"], "c", 'it: "c" is none of "a", "b"'),
            (Literal[1], True, "it: true is none of 1"),
            (Union[int, str], None, "it: null is none of int or str"),
            (Annotated[int, Limits(minimum=1, maximum=3)], 4, "it: 4 is more than 3"),
            (Annotated[str, Limits(pattern="^a")], "b", 'it: "b" does not match ^a'),
            (Annotated[str, Limits(min_length=1)], "", 'it: "" is shorter than 1'),
        ]:
            with self.subTest(hint=hint, value=value):
                with self.assertRaises(ValueError) as raised:
                    self.read(hint, value)
                self.assertEqual(str(raised.exception), text)

    def test_an_open_shape_passes_over_what_it_does_not_know(self) -> None:
        self.assertEqual(shape_of(Point, Strictness.OPEN).read({"x": 1, "z": 2}, ""), Point(1))


class Docstrings(unittest.TestCase):
    def test_sections_are_not_part_of_the_description(self) -> None:
        def function() -> None:
            """Does this
            and that.

            - one
            - two

            Args:
                a: The first,
                    on two lines.
                b (int): The second.

            Returns:
                Nothing.
            """

        told = documented(function)
        self.assertEqual(told.description, "Does this and that.\n\n- one\n- two")
        self.assertEqual(told.parameters, {"a": "The first, on two lines.", "b": "The second."})


if __name__ == "__main__":
    unittest.main()
