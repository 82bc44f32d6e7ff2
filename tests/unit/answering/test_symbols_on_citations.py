"""A citation of source code names the definition that its quote stands in."""

from __future__ import annotations

from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import Corpus

from agentic_rag.answering.answer import Answer
from agentic_rag.language.symbols import Symbol

CODE = '''\
MOST = 3


class Pump:
    """A device of the plant."""

    def pressure(self):
        """The pressure of the boiler pump is 16 bar at full speed."""
        return self.speed * MOST
'''
QUESTION = "What is the pressure of the boiler pump at full speed?"


async def answered(path: str) -> tuple[Answer, list[str]]:
    corpus = Corpus()
    corpus.add(path, path, CODE, whole=True)
    world = World(corpus)
    run = await world.ask(QUESTION)
    await world.recorder.aclose()
    return run.answer, corpus.calls.names


async def test_a_quote_of_code_tells_what_it_stands_in() -> None:
    answer, _ = await answered("pump.py")

    [cited] = answer.citations
    assert "16 bar" in cited.snippet
    assert cited.symbol == Symbol("Pump.pressure", 7, 9)


async def test_other_texts_have_no_symbol_and_are_not_read_again_for_one() -> None:
    code, read_twice = await answered("pump.py")
    text, read = await answered("pump.txt")

    assert code.text == text.text
    assert [one.symbol for one in text.citations] == [None]
    assert read_twice.count("revision_spans") == read.count("revision_spans") + 1
