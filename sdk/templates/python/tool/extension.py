"""A tool for the model. The docstring and the notes on the parameters are what it reads; the types are schema and validation."""

from typing import Annotated

from capstan_sdk import ToolError, extension, tool

extension(summary="Counts words.")


@tool
def count_words(
    text: Annotated[str, "The text."],
    lines: Annotated[bool, "Count lines as well."] = False,
) -> str:
    """Counts the words and lines of a text."""
    if not text:
        raise ToolError("`text` is empty: give the text to count")
    words = f"{len(text.split())} words"
    return f"{words}, {len(text.splitlines())} lines" if lines else words
