"""A citation of source code names the definition that its quote stands in."""

from __future__ import annotations

from collections.abc import Sequence

from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import Corpus

from agentic_rag.answering.answer import Answer
from agentic_rag.language.symbols import Definition, ReadDefinitions, Symbol

CODE = '''\
MOST = 3


class Pump:
    """A device of the plant."""

    def pressure(self):
        """The pressure of the boiler pump is 16 bar at full speed."""
        return self.speed * MOST
'''
QUESTION = "What is the pressure of the boiler pump at full speed?"


async def answered(
    path: str, code: str = CODE, definitions: ReadDefinitions | None = None, question: str = QUESTION
) -> tuple[Answer, list[str]]:
    corpus = Corpus()
    corpus.add(path, path, code, whole=True)
    world = World(corpus, definitions=definitions)
    run = await world.ask(question)
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


async def test_a_file_is_read_by_its_grammar_once_however_many_quotes_are_of_it() -> None:
    read: list[tuple[str, int]] = []

    async def by_grammar(file_name: str, text: str) -> Sequence[Definition]:
        read.append((file_name, len(text)))
        return (Definition("Pump", 0, len(text)),)

    code = CODE + '\n\ndef weight():\n    """The weight of the feed pump is 41 kg."""\n    return 41\n'
    both = "What is the pressure of the boiler pump, and what is the weight of the feed pump?"
    answer, _ = await answered("pump.py", code, by_grammar, both)

    assert len(answer.citations) > 1
    assert {one.symbol for one in answer.citations} == {Symbol("Pump", 1, code.count("\n") + 1)}
    assert read == [("pump.py", len(code))]


async def test_a_file_that_no_grammar_reads_is_told_by_keywords() -> None:
    async def by_no_grammar(file_name: str, text: str) -> None:
        return None

    answer, _ = await answered("pump.py", definitions=by_no_grammar)

    assert [one.symbol for one in answer.citations] == [Symbol("Pump.pressure", 7, 9)]
