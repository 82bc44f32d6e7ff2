"""Plain text and source code."""

from __future__ import annotations

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.file_types import FileKind, SourceFile
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text_builder import LoadedText

PYTHON = '''"""Module."""

import os


# Says hello.
@decorated
def hello():

    return 1


class Small:
    def method(self):
        pass
'''


def read_text(text: str) -> LoadedText:
    return FileKind.TEXT.loader().load(SourceFile(text.encode(), "a.txt", ParserLimits()))


def read_code(text: str, language: str) -> LoadedText:
    name = {"python": "a.py", "go": "a.go", "yaml": "a.yaml"}[language]
    return FileKind.CODE.loader().load(SourceFile(text.encode(), name, ParserLimits()))


def spans(reading: LoadedText) -> list[str]:
    return [reading.text[block.start : block.end] for block in reading.blocks]


def test_paragraphs_lie_between_blank_lines() -> None:
    assert spans(read_text("\n one\ntwo\n \t\n\n three \n")) == ["one\ntwo", "three"]


def test_python_is_parted_at_definitions_with_their_comments() -> None:
    assert spans(read_code(PYTHON, "python")) == [
        '"""Module."""\n\nimport os',
        "# Says hello.\n@decorated\ndef hello():\n\n    return 1",
        "class Small:\n    def method(self):\n        pass",
    ]


def test_a_long_python_class_is_parted_into_methods() -> None:
    methods = "\n".join(f"    def method_{number}(self):\n        return {'1 + ' * 200}1\n" for number in range(5))

    assert len(spans(read_code(f"class Long:\n{methods}", "python"))) == 6


def test_python_that_does_not_compile_is_read_by_its_lines() -> None:
    assert spans(read_code("def a(:\n  x\n\ndef b(:\n  y\n", "python")) == ["def a(:\n  x", "def b(:\n  y"]


def test_other_languages_are_parted_at_what_looks_like_a_definition() -> None:
    source = "package main\n\n// Adds.\nfunc Add(a int) int {\n\n\treturn a\n}\n\ntype T struct {}\n"

    assert spans(read_code(source, "go")) == [
        "package main",
        "// Adds.\nfunc Add(a int) int {\n\n\treturn a\n}",
        "type T struct {}",
    ]


def test_files_without_definitions_are_parted_at_blank_lines() -> None:
    assert spans(read_code("a: 1\nb: 2\n\nc: 3\n", "yaml")) == ["a: 1\nb: 2", "c: 3"]


def test_json_is_read_with_its_letters_and_keeps_the_escapes_that_are_meant() -> None:
    written = r'{"K\u00f6ln": "\u6e2f\ud83d\ude00", "path": "C:\\u00e9", "a\u0022b": "\ud800 \u200b"}'

    loaded = load(written.encode(), "a.json", None, ParserLimits())[1]

    assert loaded.text == r'{"Köln": "港😀", "path": "C:\\u00e9", "a\u0022b": "\ud800 \u200b"}'


def test_each_line_of_json_lines_is_a_block() -> None:
    loaded = load(b'{"a": 1}\n\n{"a": "\\u00e9"}\n', "a.jsonl", None, ParserLimits())[1]

    assert [loaded.text[block.start : block.end] for block in loaded.blocks] == ['{"a": 1}', '{"a": "é"}']
