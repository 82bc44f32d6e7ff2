"""What a line of source code stands in: the innermost definition, by keywords and indentation."""

from __future__ import annotations

import pytest

from agentic_rag.language.symbols import Symbol, definitions_by_keyword, symbol_at

PYTHON = '''\
"""Pumps. The class of pumps is told by its name."""

LIMIT = 3


class Pump:
    """A pump.

    function of pressure and speed
    """

    def __init__(
        self,
        speed: int,
    ) -> None:
        self.speed = speed

    @property
    def pressure(self) -> int:

        return self.speed * LIMIT


def start(pump: Pump) -> None:
    pump.speed = 1
'''
GO = """\
package pump

type Pump struct {
\tSpeed int
}

func (p *Pump) Start() error {
\tif p.Speed > 3 {
\t\treturn nil
\t}
\treturn run(p)
}

var limit = 3
"""
JAVA = """\
public class Pump extends Device {
    private int speed;

    public int pressure(int limit) throws IOException {
        if (limit > 3) {
            return 3;
        }
        return speed * limit;
    }
}
"""
TYPESCRIPT = """\
export class Pump {
  async start(speed: number): Promise<void> {
    await this.run(speed);
  }
}
export function stop(): void {
  log("stop");
}
"""
C = """\
static int pressure(struct pump *p, int limit)
{
    return p->speed * limit;
}
"""


@pytest.mark.parametrize(
    ("name", "text", "quoted", "found"),
    [
        ("pump.py", PYTHON, "self.speed = speed", Symbol("Pump.__init__", 12, 16)),
        ("pump.py", PYTHON, "speed: int,", Symbol("Pump.__init__", 12, 16)),
        ("pump.py", PYTHON, "return self.speed", Symbol("Pump.pressure", 19, 21)),
        ("pump.py", PYTHON, "function of pressure", Symbol("Pump", 6, 21)),
        ("pump.py", PYTHON, "pump.speed = 1", Symbol("start", 24, 25)),
        ("pump.py", PYTHON, "LIMIT = 3", None),
        ("pump.go", GO, "Speed int", Symbol("Pump", 3, 5)),
        ("pump.go", GO, "return nil", Symbol("Start", 7, 12)),
        ("pump.go", GO, "var limit", None),
        ("Pump.java", JAVA, "return 3;", Symbol("Pump.pressure", 4, 9)),
        ("Pump.java", JAVA, "private int speed", Symbol("Pump", 1, 10)),
        ("pump.ts", TYPESCRIPT, "await this.run", Symbol("Pump.start", 2, 4)),
        ("pump.ts", TYPESCRIPT, 'log("stop")', Symbol("stop", 6, 8)),
        ("pump.c", C, "return p->speed", Symbol("pressure", 1, 4)),
        ("pump.md", PYTHON, "self.speed = speed", None),
        ("pump.yaml", "type: pump\nspeed: 3\n", "speed: 3", None),
    ],
)
def test_the_innermost_definition_around_a_quote_is_named_with_its_lines(
    name: str, text: str, quoted: str, found: Symbol | None
) -> None:
    assert symbol_at(text, definitions_by_keyword(name, text), text.index(quoted)) == found


def test_a_file_of_many_definitions_is_read_in_time_that_grows_with_its_length() -> None:
    text = "".join(f"def f{number}():\n    return {number}\n\n" for number in range(20_000))

    deep = "".join(f"{' ' * n}class C{n}:\n" for n in range(2000))

    found = symbol_at(text, definitions_by_keyword("many.py", text), text.rindex("return"))
    assert found == Symbol("f19999", 59_998, 59_999)
    assert symbol_at(deep, definitions_by_keyword("deep.py", deep), 5) == Symbol("C0", 1, 2000)
