"""Requests that a hostile client would send, as bytes of HTTP/1.1 or as parts of them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import quote

JSON = {"content-type": "application/json"}
TYPENAME = "{ __typename }"


@dataclass(frozen=True)
class Hostile:
    """One request."""

    name: str
    body: bytes = b""
    method: str = "POST"
    path: str = "/graphql"
    headers: dict[str, str] = field(default_factory=lambda: dict(JSON))


def hostile_requests() -> list[Hostile]:
    return [*_shapes(), *_encodings(), *_sizes(), *_documents(), *_introspection(), *_methods(), *_paths(), *_facades()]


def _document(name: str, text: str, **more: object) -> Hostile:
    return Hostile(name, json.dumps({"query": text, **more}).encode())


def _shapes() -> Iterator[Hostile]:
    for shape in ("null", "true", "17", '"text"', "[]", "{}", "[[]]", "[1]", '{"query": null}', '{"query": 7}'):
        yield Hostile(f"JSON {shape}", shape.encode())
    for key, value in (("variables", "[]"), ("variables", '"x"'), ("operationName", "7"), ("extensions", "[]")):
        yield Hostile(f"{key} {value}", f'{{"query": "{TYPENAME}", "{key}": {value}}}'.encode())
    yield Hostile("query of arrays", b'{"query": ["{ __typename }"]}')
    yield Hostile("batch", json.dumps([{"query": TYPENAME}] * 100).encode())
    yield Hostile("duplicate keys", b'{"query": "{ x }", "query": "{ __typename }"}')
    yield Hostile("huge number", b'{"query": "{ __typename }", "variables": {"a": ' + b"9" * 5000 + b"}}")
    yield Hostile("prototype", b'{"query": "{ __typename }", "__proto__": {"admin": true}}')
    yield Hostile("NaN", b'{"query": "{ __typename }", "variables": {"a": NaN}}')
    yield Hostile("cut off", b'{"query": "{ __type')
    yield Hostile("empty body", b"")


def _encodings() -> Iterator[Hostile]:
    body = json.dumps({"query": TYPENAME}).encode()
    yield Hostile("bad UTF-8", b'{"query": "{ \xff\xfe }"}')
    yield Hostile("lone surrogate", b'{"query": "{ workspaces(first: 1) { nodes { name } } } # \\ud800"}')
    yield Hostile("NUL in the document", b'{"query": "{ \\u0000 __typename }"}')
    yield Hostile("UTF-16", json.dumps({"query": TYPENAME}).encode("utf-16"))
    yield Hostile("UTF-16 declared", body, headers={"content-type": "application/json; charset=utf-16"})
    yield Hostile("byte order mark", b"\xef\xbb\xbf" + body)
    yield Hostile("gzip", gzip.compress(body), headers={**JSON, "content-encoding": "gzip"})
    yield Hostile("gzip bomb", gzip.compress(bytes(5_000_000)), headers={**JSON, "content-encoding": "gzip"})
    yield Hostile("gzip not declared", gzip.compress(body))
    yield Hostile("form", b"query=%7B__typename%7D", headers={"content-type": "application/x-www-form-urlencoded"})
    yield Hostile("text", body, headers={"content-type": "text/plain"})
    yield Hostile("no type", body, headers={})
    yield Hostile("multipart without preflight", b"--x--", headers={"content-type": "multipart/form-data; boundary=x"})
    yield Hostile(
        "multipart that breaks off",
        b"--x\r\nContent-Disposition: form-data; name=operations\r\n\r\n{",
        headers={"content-type": "multipart/form-data; boundary=x", "graphql-require-preflight": "1"},
    )
    yield Hostile("accepts nothing we have", body, headers={**JSON, "accept": "image/png"})
    yield Hostile("odd quality", body, headers={**JSON, "accept": "application/json;q=abc, */*;q=-1"})


def _sizes() -> Iterator[Hostile]:
    yield Hostile("2 MB of body", b'{"query": "' + b" " * 2_000_000 + b'"}')
    yield _document("60,000 characters of document", "{ " + "__typename " * 5400 + "}")
    yield _document("65,000 spaces", " " * 65_000 + TYPENAME)
    yield _document("a long string", '{ workspace(id: "' + "a" * 60_000 + '") { id } }')
    yield _document("a long comment", TYPENAME + "#" + "x" * 60_000)
    yield _document("10,000 variables", TYPENAME, variables={f"v{n}": n for n in range(10_000)})
    yield _document("a long operation name", TYPENAME, operationName="a" * 50_000)


def _nested(opening: str, closing: str, levels: int) -> str:
    return opening * levels + closing * levels


def _documents() -> Iterator[Hostile]:
    yield Hostile("JSON 100,000 deep", b"[" * 100_000 + b"]" * 100_000)
    yield Hostile("JSON objects deep", b'{"a":' * 20_000 + b"1" + b"}" * 20_000)
    yield _document("selections 5,000 deep", _nested("{a", "}", 5000))
    yield _document("lists 5,000 deep", "{ a(b: " + _nested("[", "]", 5000) + ") }")
    yield _document("objects deep", "{ a(b: " + "{a:" * 3000 + "1" + "}" * 3000 + ") }")
    yield _document("types deep", "query(" + "$a: " + _nested("[", "]", 3000) + ") { a }")
    yield _document("9 levels of fields", "{ a { a { a { a { a { a { a { a { a } } } } } } } } }")
    yield _document("100 aliases", "{ " + " ".join(f"a{n}: __typename" for n in range(100)) + " }")
    yield _document("6 root fields", "{ " + "__typename " * 6 + "}")
    yield _document("1,000 directives", "{ __typename " + "@skip(if: false) " * 1000 + "}")
    yield _document("unknown directives", "{ __typename " + "@a " * 30 + "}")
    yield _document("12 fragments", TYPENAME + "".join(f"fragment F{n} on Query {{ a }} " for n in range(12)))
    for levels in (10, 30, 60):
        spreads = "".join(f"fragment F{n} on Query {{ ...F{n + 1} ...F{n + 1} }} " for n in range(levels))
        yield _document(
            f"{levels} chained fragments", f"{{ ...F0 }} {spreads} fragment F{levels} on Query {{ __typename }}"
        )
    yield _document("fragments in a circle", "{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }")
    yield _document("a fragment of itself", "{ ...A } fragment A on Query { ...A }")
    yield _document("two operations, none named", "query A { __typename } query B { __typename }")
    yield _document("an operation that is not there", "query A { __typename }", operationName="B")
    yield _document("a subscription", "subscription { __typename }")
    yield _document("two answers", '{ __typename } mutation { a: ragAnswer(input: {question: "x"}) { answer } }')
    yield _document("a type definition", "type Query { a: Int }")
    yield _document("not GraphQL", "SELECT * FROM rag_documents; --")
    yield _document("an unterminated string", '{ a(b: "')
    yield _document("an integer over 32 bits", "{ workspaces(first: 99999999999999999999) { nodes { id } } }")
    yield _document("a wrong id", '{ workspace(id: "\' OR 1=1 --") { id } }')
    yield _document("an id of zero bytes", '{ workspace(id: "\\u0000") { id } }')
    yield _document("overlapping fields", "{ " + "a: workspaces(first: 1) { nodes { id } } " * 12 + "}")


def _introspection() -> Iterator[Hostile]:
    deep = "{ name ofType " * 40 + "{ name }" + " }" * 40
    lists = "{ fields { type " * 4 + "{ name }" + " } }" * 4
    yield _document("deep introspection", "{ __schema { types " + deep + " } }")
    yield _document("nested lists of introspection", "{ __schema { types " + lists + " } }")
    cycle = "{ fields { type " * 6 + "{ name }" + "} }" * 6
    yield _document("introspection by a cycle", '{ __type(name: "Query") ' + cycle + "}")


def _methods() -> Iterator[Hostile]:
    mutation = quote('mutation { createWorkspace(input: {name: "x"}) { workspace { id } } }')
    yield Hostile("mutation by GET", method="GET", path=f"/graphql?query={mutation}", headers={})
    yield Hostile("GET without a query", method="GET", headers={})
    yield Hostile("GET with bad variables", method="GET", path="/graphql?query={__typename}&variables={", headers={})
    yield Hostile("GET twice the query", method="GET", path="/graphql?query={a}&query={__typename}", headers={})
    yield Hostile("long GET", method="GET", path="/graphql?query=" + "a" * 30_000, headers={})
    for method in ("PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE"):
        yield Hostile(method, method=method, headers={})
    yield Hostile("method override", b"{}", headers={**JSON, "x-http-method-override": "DELETE"})


def _paths() -> Iterator[Hostile]:
    odd = ("/graphql/", "/graphql/../metrics", "/%2e%2e/etc/passwd", "//evil.example/", "/v1/workspaces/%00/documents")
    for path in odd:
        yield Hostile(f"GET {path}", method="GET", path=path, headers={})
    body = json.dumps({"query": TYPENAME}).encode()
    yield Hostile("host header", body, headers={**JSON, "host": "evil.example"})
    yield Hostile("token of 100 kB", headers={"authorization": "Bearer " + "a" * 100_000})
    yield Hostile("odd trace", body, headers={**JSON, "traceparent": "00-zz-\x7f-01"})


def _facades() -> Iterator[Hostile]:
    """The REST façades: ids, pages, forms and bodies as nobody should send them."""
    guidelines, organisation = "/api/projects/p/guidelines", "/organization/00000000-0000-4000-8000-000000000001"
    agent = f"{organisation}/agents/a/documents"
    form = {"content-type": "multipart/form-data; boundary=edge"}
    for reference in ("%00", "%ff%fe", "%E2%80%AE", "..%2f..%2fetc", "a" * 10_000, "'; DROP TABLE rag_documents; --"):
        path = f"/organization/{quote(reference, safe='%')}/agents/{quote(reference, safe='%')}/documents"
        yield Hostile(f"agent of {reference[:20]}", method="GET", path=path, headers={})
        yield Hostile(
            f"project {reference[:20]}",
            method="GET",
            path=f"/api/projects/{quote(reference, safe='%')}/guidelines/inline",
        )
    for query in ("first=-1", "first=%00", "first=9e99", "after=%00", "after=%F0%9F%92%A3", "first=1&first=2"):
        yield Hostile(f"page {query}", method="GET", path=f"{agent}?{query}", headers={})
    for key in ("upload", "%00", "9" * 5_000, "{00000000-0000-0000-0000-000000000000}"):
        yield Hostile(f"delete {key[:20]}", method="DELETE", path=f"{agent}/{key}", headers={})
        yield Hostile(f"delete guideline {key[:20]}", method="DELETE", path=f"{guidelines}/{key}", headers={})
    part = b'--edge\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\nText.\r\n--edge--\r\n'
    for name in (b"../../etc/passwd", b"a\x00b.md", b"", b"\xff\xfe.md", b"a" * 5_000 + b".md", b"con.md"):
        yield Hostile(f"file named {name[:12]!r}", part % name, path=agent, headers=form)
    yield Hostile("form without an end", b"--edge\r\nno header", path=agent, headers=form)
    yield Hostile("form without a boundary", b"--edge--", path=agent, headers={"content-type": "multipart/form-data"})
    yield Hostile(
        "key of control characters", part % b"a.md", path=agent, headers={**form, "idempotency-key": "\x7f\x80"}
    )
    for body in (
        b"[" * 100_000,
        b'{"inlineGuidelines": "\\ud800"}',
        b'{"inlineGuidelines": "\\u0000"}',
        b"\xff",
        b"null",
    ):
        yield Hostile(f"plain text {body[:24]!r}", body, method="PUT", path=f"{guidelines}/inline")
