"""What source code defines, by the grammar of its language: nested, decorated, and beside strings that hold code."""

from __future__ import annotations

import pytest

from agentic_rag.adapters.parsing.syntax.grammars import GRAMMARS, read_definitions
from agentic_rag.language.programming import WITH_GRAMMAR
from agentic_rag.language.symbols import Symbol, symbol_at

PYTHON = '''\
LIMIT = """
def not_code():
    pass
"""


class Pump:
    """A pump. class Fake: told in words."""

    @property
    def pressure(self) -> int:
        def half():
            return "é" * 2

        return half() * LIMIT


if LIMIT:
    async def start(pump):
            pump.speed = 1
'''
JAVASCRIPT = """\
const start = async (speed) => {
  return run(speed);
};
module.exports.stop = function () { halt(); };
const table = {
  "open": () => unlock(),
  close() { lock(); },
};
class Pump { static text() { return `function fake() { inside }`; } }
speed = 3;
"""
TSX = """\
@Injectable()
export class Pump {
  @Get("/speed")
  find(): number { return this.speed; }
  private show = () => { return <b>on</b>; };
}
namespace Plant { export interface Valve { close(): void } }
type Speed = { value: number };
"""
GO = """\
package pump

type Pump struct {
\tSpeed int
}

type (
\tA struct{ first int }
\tB struct{ second int }
)

func (p *Pump) Start() error {
\ttext := `func fake() {
\tinside`
\treturn run(text)
}

func (s Set[T]) Add(x T) { s.put(x) }
"""
JAVA = """\
public class Pump extends Device {
  @Override
  public int pressure() { String text = "class Fake { inside"; return 1; }
  record Reading(int bar) {}
  Pump() { this.speed = 1; }
}
"""
RUST = """\
#[derive(Debug)]
pub struct Pump { speed: i32 }
impl<T> fmt::Display for Pump<T> {
    fn fmt(&self) -> R { let text = r#"fn fake() { inside"#; write(text) }
}
mod tests {
    #[test]
    fn starts() { assert!(true); }
}
"""
C = """\
static int *pressure(struct pump *p)
{
  return p->bar;
}
typedef struct { int bar; } reading_t;
struct pump { int speed; };
#define MOST(a, b) \\
  ((a) > (b) ? (a) : (b))
int limit = 3;
"""
CPP = """\
namespace plant {
template <typename T>
class Pump {
public:
  int start() { return 1; }
  bool operator==(const Pump& other) { return same; }
};
int& Pump::stop(int x) { return x; }
}
"""
CSHARP = """\
namespace Plant {
  [Serializable]
  public class Pump {
    public int Speed { get; set; }
    void Start() { void Inner() { run(); } }
  }
}
"""
RUBY = """\
module Plant
  class Pump < Device
    def start
      <<~TEXT
        def fake
          inside
        end
      TEXT
    end
    def self.build; new; end
  end
end
"""
PHP = """\
<?php
class Pump { public function start() { return "function fake() { inside"; } }
function stop() { return <<<T
class Fake {
T;
}
"""


@pytest.mark.parametrize(
    ("name", "text", "quoted", "found"),
    [
        ("pump.py", PYTHON, "def not_code", None),
        ("pump.py", PYTHON, "class Fake", Symbol("Pump", 7, 15)),
        ("pump.py", PYTHON, "@property", Symbol("Pump.pressure", 10, 15)),
        ("pump.py", PYTHON, '"é"', Symbol("Pump.pressure.half", 12, 13)),
        ("pump.py", PYTHON, "return half()", Symbol("Pump.pressure", 10, 15)),
        ("pump.py", PYTHON, "pump.speed", Symbol("start", 19, 20)),
        ("pump.js", JAVASCRIPT, "run(speed)", Symbol("start", 1, 3)),
        ("pump.js", JAVASCRIPT, "const start", Symbol("start", 1, 3)),
        ("pump.js", JAVASCRIPT, "halt()", Symbol("stop", 4, 4)),
        ("pump.mjs", JAVASCRIPT, "unlock()", Symbol("open", 6, 6)),
        ("pump.js", JAVASCRIPT, "lock();", Symbol("close", 7, 7)),
        ("pump.jsx", JAVASCRIPT, "inside", Symbol("Pump.text", 9, 9)),
        ("pump.js", JAVASCRIPT, "speed = 3", None),
        ("pump.tsx", TSX, "@Injectable", Symbol("Pump", 1, 6)),
        ("pump.tsx", TSX, "@Get", Symbol("Pump.find", 3, 4)),
        ("pump.tsx", TSX, "<b>on", Symbol("Pump.show", 5, 5)),
        ("pump.tsx", TSX, "close()", Symbol("Plant.Valve.close", 7, 7)),
        ("pump.ts", "type Speed = { value: number };\n", "value", Symbol("Speed", 1, 1)),
        ("pump.go", GO, "type Pump", Symbol("Pump", 3, 5)),
        ("pump.go", GO, "second int", Symbol("B", 9, 9)),
        ("pump.go", GO, "inside", Symbol("Pump.Start", 12, 16)),
        ("pump.go", GO, "s.put", Symbol("Set.Add", 18, 18)),
        ("Pump.java", JAVA, "@Override", Symbol("Pump.pressure", 2, 3)),
        ("Pump.java", JAVA, "inside", Symbol("Pump.pressure", 2, 3)),
        ("Pump.java", JAVA, "int bar", Symbol("Pump.Reading", 4, 4)),
        ("Pump.java", JAVA, "this.speed", Symbol("Pump.Pump", 5, 5)),
        ("pump.rs", RUST, "#[derive", Symbol("Pump", 1, 2)),
        ("pump.rs", RUST, "inside", Symbol("Pump.fmt", 4, 4)),
        ("pump.rs", RUST, "#[test]", Symbol("tests.starts", 7, 8)),
        ("pump.c", C, "return p", Symbol("pressure", 1, 4)),
        ("pump.c", C, "int bar", Symbol("reading_t", 5, 5)),
        ("pump.c", C, "int speed", Symbol("pump", 6, 6)),
        ("pump.c", C, "? (a)", Symbol("MOST", 7, 8)),
        ("pump.c", C, "int limit", None),
        ("pump.hpp", CPP, "template", Symbol("plant.Pump", 2, 7)),
        ("pump.h", CPP, "return 1", Symbol("plant.Pump.start", 5, 5)),
        ("pump.cpp", CPP, "return same", Symbol("plant.Pump.operator==", 6, 6)),
        ("pump.cpp", CPP, "return x", Symbol("plant.Pump.stop", 8, 8)),
        ("Pump.cs", CSHARP, "[Serializable]", Symbol("Plant.Pump", 2, 6)),
        ("Pump.cs", CSHARP, "get;", Symbol("Plant.Pump.Speed", 4, 4)),
        ("Pump.cs", CSHARP, "run()", Symbol("Plant.Pump.Start.Inner", 5, 5)),
        ("pump.rb", RUBY, "inside", Symbol("Plant.Pump.start", 3, 9)),
        ("pump.rb", RUBY, "new;", Symbol("Plant.Pump.build", 10, 10)),
        ("pump.php", PHP, "inside", Symbol("Pump.start", 2, 2)),
        ("pump.php", PHP, "class Fake", Symbol("stop", 3, 6)),
    ],
)
def test_the_innermost_definition_around_a_quote_is_named_with_its_lines(
    name: str, text: str, quoted: str, found: Symbol | None
) -> None:
    definitions = read_definitions(name, text.encode())

    assert definitions is not None
    assert symbol_at(text, definitions, text.index(quoted)) == found


def test_other_files_and_what_a_grammar_makes_nothing_of_are_left_to_keywords() -> None:
    assert read_definitions("pump.lua", b"function start() end") is None
    assert read_definitions("pump.py", b"((((( ] } def") is None
    assert read_definitions("pump.py", b"") == []


def test_every_language_that_says_so_has_its_grammar() -> None:
    assert GRAMMARS.keys() == WITH_GRAMMAR
