"""A value is left for one reader; what nobody takes is not kept for ever."""

from __future__ import annotations

import sys
import threading

from agentic_rag.kernel.one_shot_cache import OneShotCache


def test_a_value_is_taken_once() -> None:
    handed_on = OneShotCache[int](most=2, longest=10)
    handed_on.put("a text", 1)

    assert (handed_on.take("a text"), handed_on.take("a text"), handed_on.take("another")) == (1, None, None)


def test_the_last_that_nobody_took_wait() -> None:
    handed_on = OneShotCache[int](most=2, longest=10)
    for number in range(5):
        handed_on.put(f"text {number}", number)

    assert len(handed_on) == 2
    assert [handed_on.take(f"text {number}") for number in range(5)] == [None, None, None, 3, 4]


def test_a_long_text_is_not_kept() -> None:
    handed_on = OneShotCache[int](most=2, longest=10)
    handed_on.put("a text that is long", 1)

    assert len(handed_on) == 0


def test_one_thread_leaves_while_another_takes() -> None:
    handed_on = OneShotCache[int](most=2, longest=10)
    broken: list[BaseException] = []
    done = threading.Event()

    def take() -> None:
        while not done.is_set():
            for number in range(50):
                handed_on.take(f"text {number}")

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    taker = threading.Thread(target=take)
    taker.start()
    try:
        for _ in range(2_000):
            for number in range(50):
                handed_on.put(f"text {number}", number)
    except (KeyError, RuntimeError) as error:
        broken.append(error)
    finally:
        sys.setswitchinterval(before)
        done.set()
        taker.join()

    assert broken == []
