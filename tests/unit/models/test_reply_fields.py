"""Which part of a model's reply is its JSON object."""

import pytest

from agentic_rag.models.chat.reply_fields import parse_fields
from agentic_rag.models.chat.request import ReplyInvalid

OBJECT = '{"passage": "It says `{x}`."}'
FIELDS = {"passage": "It says `{x}`."}


@pytest.mark.parametrize(
    "reply",
    [
        OBJECT,
        f"```json\n{OBJECT}\n```",
        f"```\n{OBJECT}\n```\nI hope this helps.",
        f"Here is the answer:\n\n```JSON\n{OBJECT}\n```",
        f'<think>First {{"passage": "no"}}.\nThen more.</think>\n{OBJECT}',
        f'<think>\n```json\n{{"passage": "no"}}\n```\n</think>\n\n```json\n{OBJECT}\n```',
        f'The server ate the opening tag. {{"passage": "no"}}\n</think>\n{OBJECT}',
        f"Here it is:\n{OBJECT}\nDone.",
        f"{OBJECT}\n{OBJECT}",
        '\ufeff{"passage": "It says `{x}`."}',
    ],
)
def test_the_first_object_after_the_thoughts_is_read(reply: str) -> None:
    assert parse_fields(reply, "passage") == FIELDS


def test_what_stands_inside_the_object_is_no_mark_of_its_place() -> None:
    reply = '{"passage": "a </think> and ```json {} ``` inside"}'

    assert parse_fields(reply, "passage") == {"passage": "a </think> and ```json {} ``` inside"}


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "no json",
        "null",
        f"[{OBJECT}]",
        f"[\n{OBJECT}\n]",
        f"<think>{OBJECT}",
        f"<think>It is\n{OBJECT}",
        f"```json\n{OBJECT[:-2]}\n```",
        f"```json\n[{OBJECT}]\n```",
        f"<think>{OBJECT}</think>",
        '{"passage": 1, "more": 2}',
    ],
)
def test_a_reply_without_an_object_of_its_own_is_refused(reply: str) -> None:
    with pytest.raises(ReplyInvalid):
        parse_fields(reply, "passage")
