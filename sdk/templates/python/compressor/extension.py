"""A compressor: it is shown the conversation before each model call and says what is to be done so that it fits. It computes its
answer from the conversation alone, so it is called without any grant."""

from typing import List

from capstan_sdk import Action, Compaction, Message, Power, Request, Summarize, compressor, extension

# Messages at the end that stay as they are.
KEPT = 6

extension(
    summary="Has old messages summarized before the window is full.",
    requests=[Request.power(Power.COMPRESS, "to shorten conversations that grow too long")],
)


@compressor("three-quarters")
def shorten(messages: List[Message], context: Compaction) -> Action:
    """Has the older messages summarized once less than a quarter of the window is left."""
    room = max(context.window_tokens - context.reserve_tokens, 0)
    if context.window_tokens == 0 or context.used_tokens < room * 3 // 4 or len(messages) <= KEPT:
        return None
    instructions = "Keep decisions, names of files, and what is still to be done."
    if context.instructions:
        instructions += f" {context.instructions}"
    # The host moves the cut where it would separate a call from its result.
    return Summarize(len(messages) - KEPT, instructions)
