"""The console: what is served and how, its operations, where its vendored modules come from, and sign-in by a link."""

from __future__ import annotations

import hashlib
import html
import json
import re
from pathlib import Path

import pytest
from graphql import parse, validate
from starlette.applications import Starlette
from starlette.testclient import TestClient

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.spent_codes import MemorySpentCodes
from agentic_rag.kernel.errors import NotFound, Unauthenticated
from agentic_rag.tenancy.token_claims import ClaimNames
from agentic_rag_server.console import files
from agentic_rag_server.console.issuer import IssuerClient, issuer_client
from agentic_rag_server.console.sample import QUESTIONS, sample_routes
from agentic_rag_server.console.sign_in import CODE_SECONDS, SignIn, make_code, sign_in_link
from agentic_rag_server.graphql.schema import build_schema
from agentic_rag_server.parts import ServerOptions

STATIC = Path(files.__file__).with_name("static")
OWN = [path for path in sorted(STATIC.rglob("*.js")) if "vendor" not in path.parts]
SECRET = "a secret of thirty-two characters"
HTML = {"accept": "text/html,application/xhtml+xml"}


@pytest.fixture(scope="module")
def served() -> files.ConsoleFiles:
    return files.ConsoleFiles()


@pytest.fixture(scope="module")
def browser(served: files.ConsoleFiles) -> TestClient:
    app = Starlette(routes=[*sample_routes(), *served.routes()])
    app.router.redirect_slashes = False
    return TestClient(app, follow_redirects=False)


def test_a_browser_that_opens_the_server_is_led_to_the_console_and_others_are_not(browser: TestClient) -> None:
    led, other = browser.get("/", headers=HTML), browser.get("/", headers={"accept": "application/json"})

    assert (led.status_code, led.headers["location"]) == (303, "/console")
    assert other.status_code == 404


def test_the_page_runs_its_own_modules_only_and_no_other_page_frames_it(browser: TestClient) -> None:
    page = browser.get("/console")

    policy = dict(one.strip().split(" ", 1) for one in page.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=", page.text) == []


@pytest.mark.slow
def test_all_files_together_are_two_hundred_kilobytes_as_browsers_get_them(
    browser: TestClient, served: files.ConsoleFiles
) -> None:
    plain, packed = 0, 0
    for address in ("/console", *(f"/console/{served.version}/{name}" for name in served.names)):
        answer = browser.get(address)
        bare = browser.get(address, headers={"accept-encoding": "identity"})
        assert (answer.headers["content-encoding"], answer.content) == ("gzip", bare.content)
        assert "content-encoding" not in bare.headers
        assert answer.headers["vary"] == "accept-encoding"
        plain, packed = plain + int(bare.headers["content-length"]), packed + int(answer.headers["content-length"])

    assert packed < plain / 2
    assert packed <= 200_000


def test_what_the_first_screen_imports_is_fetched_side_by_side_and_nothing_else(browser: TestClient) -> None:
    preloaded = set(re.findall(r'modulepreload" href="/console/\w+/([^"]+)"', browser.get("/console").text))

    assert {"app.js", "screens/ask.js", "shared/answer.js", "vendor/lit-html/lit-html.js"} <= preloaded
    assert {name for name in preloaded if name.startswith("screens/")} == {"screens/ask.js", "screens/sign-in.js"}
    assert "shared/sources.js" not in preloaded


def issuer_of(address: str, client: str = "console") -> IssuerClient | None:
    return issuer_client(ServerOptions(issuer=address, token_audience="rag", sign_in_client=client))


def test_the_page_knows_the_issuer_of_its_server_and_may_ask_it_and_nobody_else() -> None:
    issuer = issuer_of('https://Login.Example.org:8443/realms/a?"><script>')
    page = TestClient(Starlette(routes=[*files.ConsoleFiles(issuer).routes()])).get("/console")

    assert "; connect-src 'self' https://login.example.org:8443; " in page.headers["content-security-policy"]
    assert "form-action 'none'" in page.headers["content-security-policy"]
    described = re.findall(r'<meta name="sign-in" content="([^"]*)">', page.text)
    assert json.loads(html.unescape(described[0])) == {
        "issuer": 'https://Login.Example.org:8443/realms/a?"><script>',
        "audience": "rag",
        "client": "console",
        "scope": "openid",
    }


def test_a_page_of_a_server_without_an_issuer_asks_its_own_server_only(browser: TestClient) -> None:
    page = browser.get("/console")

    assert "connect-src" not in page.headers["content-security-policy"]
    assert '<meta name="sign-in" content="">' in page.text


def test_a_page_is_another_one_when_its_issuer_is_another() -> None:
    versions = {files.ConsoleFiles(issuer_of(address)).version for address in ("", "https://a.test", "https://b.test")}

    assert len(versions) == 3


@pytest.mark.parametrize(
    "address",
    ["", "an-issuer", "http://a.test", "https://user:word@a.test", "https://a.test;img-src *", "https://a b"],
)
def test_nobody_is_led_to_an_issuer_that_has_no_safe_address(address: str) -> None:
    assert issuer_of(address) is None


def test_every_address_of_the_page_is_served_and_may_be_kept(browser: TestClient) -> None:
    named = re.findall(r'(?:src|href)="([^"]+)"', browser.get("/console").text)

    answers = [browser.get(address) for address in named]
    assert {one.status_code for one in answers} == {200}
    assert all("immutable" in one.headers["cache-control"] for one in answers)
    for address in ("/console", named[0]):
        again = browser.get(address, headers={"if-none-match": answers[0].headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_an_address_of_an_earlier_release_is_not_kept(browser: TestClient) -> None:
    answer = browser.get("/console/0123456789abcdef/app.js")

    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")


@pytest.mark.parametrize("name", ["vendor/lit-html/LICENSE", "../files.py", "%2e%2e/files.py", "nothing.js"])
def test_what_is_no_file_of_the_page_is_not_served(browser: TestClient, served: files.ConsoleFiles, name: str) -> None:
    assert browser.get(f"/console/{served.version}/{name}").status_code == 404


def test_every_import_of_a_module_names_a_file(served: files.ConsoleFiles) -> None:
    for path in sorted(STATIC.rglob("*.js")):
        for specifier in re.findall(r'(?:from|import)\s*\(?["`](\.[^"`$]+)["`]', path.read_text(encoding="utf-8")):
            named = (path.parent / specifier).resolve().relative_to(STATIC.resolve()).as_posix()
            assert named in served.names, f"{path.name} imports {specifier}"


def test_vendored_modules_are_those_of_their_packages() -> None:
    """`manifest.json` has the hashes of the packages' files; only the specifiers of imports were written anew."""
    vendor = STATIC / "vendor"
    manifest = json.loads((vendor / "manifest.json").read_text(encoding="utf-8"))

    listed = set[Path]()
    for package in manifest["packages"]:
        for name, expected in package["files"].items():
            path = vendor / package["folder"] / name
            text = path.read_text(encoding="utf-8")
            if package["folder"] == "lit-element":
                for ours, theirs in manifest["specifiers"].items():
                    text = text.replace(f'from"{ours}"', f'from"{theirs}"')
            assert hashlib.sha256(text.encode()).hexdigest() == expected, name
            listed.add(path)
        assert (vendor / package["folder"] / "LICENSE") in listed
    assert {path for path in vendor.rglob("*") if path.is_file()} == {*listed, vendor / "manifest.json"}


@pytest.mark.slow
def test_every_operation_of_the_console_is_one_of_the_schema() -> None:
    schema = build_schema()._schema
    checked = 0
    for path in (STATIC / "operations").glob("*.js"):
        for name, document in _documents(path).items():
            if re.search(r"^\s*(?:query|mutation|subscription)\b", document, re.M) is None:
                continue
            faults = validate(schema, parse(document))
            assert not faults, f"{path.name}: {name}: {faults[0]}"
            checked += 1
    assert checked >= 10


def _documents(path: Path) -> dict[str, str]:
    """The GraphQL documents that a module exports, with those that they name filled in."""
    text = path.read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for other in re.findall(r'from "\./(\w+\.js)"', text):
        found |= _documents(path.with_name(other))
    for name, document in re.findall(r"export const (\w+) = /\* GraphQL \*/ `(.*?)`;", text, re.S):
        found[name] = re.sub(r"\$\{(\w+)\}", lambda one: found[one[1]], document)
    return found


def test_nothing_of_the_console_makes_markup_of_text() -> None:
    """What documents, models and users say reaches the page as text nodes; the browser's policy says so once more."""
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|unsafeHTML|unsafeSVG|\beval\(|new Function|"
        r"\bsrcdoc\b|javascript:|\sstyle=|localStorage|\btarget=\"_blank\""
    )
    for path in OWN:
        assert forbidden.findall(path.read_text(encoding="utf-8")) == [], path.name


def test_every_file_of_the_console_is_small_enough_to_be_read() -> None:
    for path in (*OWN, *STATIC.glob("*.css")):
        most = 700 if path.suffix == ".css" else 400
        assert len(path.read_text(encoding="utf-8").splitlines()) <= most, path.name


def test_the_sample_is_listed_with_questions_and_each_file_is_had_by_its_name(browser: TestClient) -> None:
    listed = browser.get("/console/sample").json()

    assert listed["questions"] == list(QUESTIONS)
    first = browser.get(f"/console/sample/{listed['files'][0]}")
    assert first.headers["content-disposition"].startswith("attachment")
    assert first.headers["content-type"] == "application/octet-stream"
    assert browser.get("/console/sample/..%2fpyproject.toml").status_code == 404


def sign_in(now: float = 1_000_000.0, secret: str = SECRET) -> SignIn:
    return SignIn(secret, ClaimNames(), "", "", MemorySpentCodes(SystemClock()).spend, now=lambda: now)


async def test_a_code_is_taken_once() -> None:
    door = sign_in()
    code = make_code(SECRET, 1_000_000.0)

    assert (await door.exchange(code)).count(".") == 2
    with pytest.raises(Unauthenticated, match="rag console"):
        await door.exchange(code)


@pytest.mark.parametrize(
    ("secret", "made"),
    [("another secret of thirty-two chars", 1_000_000.0), (SECRET, 1_000_000.0 - CODE_SECONDS)],
    ids=["of another server", "ten minutes old"],
)
async def test_a_code_of_another_server_or_of_earlier_is_refused(secret: str, made: float) -> None:
    with pytest.raises(Unauthenticated):
        await sign_in().exchange(make_code(secret, made))


async def test_a_token_is_no_code_and_a_code_is_no_token() -> None:
    door = sign_in()
    token = await door.exchange(make_code(SECRET, 1_000_000.0))

    with pytest.raises(Unauthenticated):
        await door.exchange(token)


async def test_a_server_without_development_tokens_takes_no_code() -> None:
    with pytest.raises(NotFound):
        await sign_in(secret="").exchange(make_code(SECRET))


def test_the_link_holds_its_code_where_no_log_sees_it() -> None:
    address, fragment = sign_in_link("http://127.0.0.1:8080", SECRET).split("#")

    assert address == "http://127.0.0.1:8080/console"
    assert fragment.startswith("sign-in=")
