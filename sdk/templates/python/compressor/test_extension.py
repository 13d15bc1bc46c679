import unittest

import extension  # noqa: F401
from capstan_sdk import Message, Summarize, testing


class Shortening(unittest.TestCase):
    def test_a_conversation_is_left_alone_until_the_window_fills(self) -> None:
        messages = [Message.user(f"message {number}") for number in range(10)]
        window = {"window_tokens": 8000, "reserve_tokens": 1000}
        self.assertIsNone(testing.compress("three-quarters", messages, used_tokens=2000, **window))
        action = testing.compress("three-quarters", messages, used_tokens=6000, **window)
        assert isinstance(action, Summarize)
        self.assertEqual(action.first_kept, 4)


if __name__ == "__main__":
    unittest.main()
