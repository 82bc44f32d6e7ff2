"""Decides which network addresses a user, a document or a redirect may make the process request.

Each address is parsed once, by this grammar only: input that two parsers could read differently is refused, not
repaired. Every address a name resolves to is checked against an explicit list of prefixes; `ipaddress.is_global` omits
some (NAT64, 6to4 and site-local pass in Python 3.11).
"""

from __future__ import annotations

import enum
import ipaddress
import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import quote, urljoin

MAX_URL_CHARACTERS = 2048
MAX_NAME_CHARACTERS = 253
MAX_LABEL_CHARACTERS = 63
"""RFC 1035 §2.3.4."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Scheme(enum.Enum):
    """The URL schemes; the value is the spelling in a URL."""

    HTTP = "http"
    HTTPS = "https"

    @property
    def port(self) -> int:
        """The default port."""
        return 80 if self is Scheme.HTTP else 443


ALLOWED_PORTS = frozenset(scheme.port for scheme in Scheme)

REFUSED_V4 = tuple(
    map(
        ipaddress.IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "168.63.129.16/32",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.31.196.0/24",
            "192.52.193.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "192.175.48.0/24",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4",
        ),
    )
)
"""IANA's IPv4 special-purpose registry, multicast and reserved space, and Azure's platform address, which is public."""

GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
"""The only part of IPv6 allocated for use on the Internet (RFC 4291 §2.4)."""

REFUSED_V6 = tuple(
    map(
        ipaddress.IPv6Network,
        ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"),
    )
)
"""Reserved ranges inside `GLOBAL_V6`: protocol assignments (Teredo, ORCHID, benchmarking), documentation, 6to4, AS112.
"""

_ISATAP = (0x0000_5EFE, 0x0200_5EFE)
"""Upper half of an interface identifier that carries an IPv4 address (RFC 5214 §6.1)."""

REFUSED_SUFFIXES = frozenset(
    {
        "localhost",
        "localdomain",
        "local",
        "internal",
        "intranet",
        "private",
        "corp",
        "home",
        "lan",
        "svc",
        "arpa",
        "invalid",
        "onion",
    }
)
"""Top-level labels that resolve only inside a network, or not at all (RFC 6761, RFC 6762, RFC 9476, conventions)."""

_URL = re.compile(r"(?P<scheme>https?)://(?P<authority>[^/?#]+)(?P<path>[^?#]*)(?P<query>\?[^#]*)?(?:#.*)?", re.I)
_PORT = re.compile(r"[0-9]{1,5}")
_ASCII_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_DECIMAL_OCTET = re.compile(r"0|[1-9][0-9]{0,2}")
_SAME_SCRIPT = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK", "HANGUL": "CJK", "BOPOMOFO": "CJK"}
_READ_DIFFERENTLY = frozenset("ßς\u200c\u200d")
"""Letters that IDNA 2003 and IDNA 2008 encode differently."""


class AddressRefused(ValueError):
    """The address must not be requested. The message gives the reason and does not repeat the address."""


@dataclass(frozen=True, slots=True)
class Target:
    """A parsed URL: the host to resolve, the port to connect to and the path to request."""

    scheme: Scheme
    host: str
    """Lower case, ASCII, without a trailing dot; an IPv6 literal without its brackets."""
    port: int
    request: str
    """Path and query, percent-encoded."""

    @property
    def literal(self) -> Address | None:
        """The IP address if the host is one, else None."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None

    @property
    def authority(self) -> str:
        """Host and port as written in the URL and in the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == self.scheme.port else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The normalised URL."""
        return f"{self.scheme.value}://{self.authority}{self.request}"


def parse_target(url: str) -> Target:
    """Parses and checks a URL. Errors: `AddressRefused`."""
    if not url:
        raise AddressRefused("it is empty")
    if len(url) > MAX_URL_CHARACTERS:
        raise AddressRefused(f"it has more than {MAX_URL_CHARACTERS} characters")
    if any(_is_forbidden_character(character) for character in url):
        raise AddressRefused("it holds a space, a backslash, or a control or invisible character")
    match = _URL.fullmatch(url)
    if match is None:
        raise AddressRefused("it is not written as http://HOST/… or https://HOST/…")
    scheme = Scheme(match["scheme"].lower())
    host, port = _host_and_port(match["authority"], scheme)
    path = quote(match["path"] or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(match["query"] or "", safe="?/%:@!$&'()*+,;=~-._[]")
    return Target(scheme, host, port, path + query)


def resolve_redirect(origin: Target, location: str) -> Target:
    """The target of a redirect. Errors: `AddressRefused`, also for a redirect from HTTPS to HTTP."""
    if not location or any(_is_forbidden_character(character) for character in location):
        raise AddressRefused("the redirect names an address that is empty or holds odd characters")
    try:
        joined = urljoin(origin.url, location)
    except ValueError as error:  # Brackets that hold no IPv6 address.
        raise AddressRefused("the redirect names an address that cannot be read") from error
    target = parse_target(joined)
    if origin.scheme is Scheme.HTTPS and target.scheme is Scheme.HTTP:
        raise AddressRefused("the redirect leaves HTTPS")
    return target


def shares_domain(host: str, other: str) -> bool:
    """Whether two hosts are equal or one is a subdomain of the other, as `www.example.org` of `example.org`."""
    return host == other or host.endswith(f".{other}") or other.endswith(f".{host}")


def is_loopback(host: str) -> bool:
    """Whether a host as written is this machine, whatever a name server says."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_address(address: Address) -> None:
    """Errors: `AddressRefused` for every address that is not clearly on the public Internet."""
    if isinstance(address, ipaddress.IPv4Address):
        if any(address in network for network in REFUSED_V4):
            raise AddressRefused("it leads to an address that is not public")
        return
    if address.scope_id is not None or address not in GLOBAL_V6:
        raise AddressRefused("it leads to an address that is not public")
    if any(address in network for network in REFUSED_V6) or (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP:
        raise AddressRefused("it leads to an address that is not public")


def check_own_address(address: Address) -> None:
    """Errors: `AddressRefused` for an address at which no server of the operator's can be: a link's own (where clouds
    keep the credentials of a machine), several at once, or none.
    """
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if address.is_link_local or address.is_multicast or address.is_unspecified or str(address) == "168.63.129.16":
        raise AddressRefused("it leads to an address at which no search engine can be")


@dataclass(frozen=True, slots=True)
class HostList:
    """Hosts that may be requested: `example.org` is that host, `*.example.org` every subdomain, `*` every host."""

    patterns: tuple[str, ...]

    def allows(self, host: str) -> bool:
        """Whether the host is listed."""
        return any(
            pattern in ("*", host) or (pattern.startswith("*.") and host.endswith(pattern[1:]))
            for pattern in self.patterns
        )


def parse_host_list(text: str) -> HostList:
    """Parses a list of hosts separated by commas or white space. Errors: `ValueError` names a bad pattern."""
    patterns: list[str] = []
    for word in text.replace(",", " ").split():
        if word == "*":
            patterns.append(word)
            continue
        wildcard = "*." if word.startswith("*.") else ""
        try:
            patterns.append(wildcard + _host(word.removeprefix("*.")))
        except AddressRefused as wrong:
            raise ValueError(f"{word!r} is no public host: {wrong}") from wrong
    return HostList(tuple(dict.fromkeys(patterns)))


def _is_forbidden_character(character: str) -> bool:
    return character in "\\\x7f" or character <= " " or unicodedata.category(character)[0] in "CZ"


def _host_and_port(authority: str, scheme: Scheme) -> tuple[str, int]:
    if "@" in authority:
        raise AddressRefused("it carries a user name")
    if "%" in authority:
        raise AddressRefused("its host is percent-encoded")
    if authority.startswith("["):
        literal, bracket, rest = authority[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise AddressRefused("its brackets do not close")
        return _ipv6(literal), _port(rest[1:], scheme) if rest else scheme.port
    host, colon, port = authority.partition(":")
    return _host(host), _port(port, scheme) if colon else scheme.port


def _port(text: str, scheme: Scheme) -> int:
    if _PORT.fullmatch(text) is None or int(text) not in ALLOWED_PORTS:
        raise AddressRefused(f"its port is none of {', '.join(map(str, sorted(ALLOWED_PORTS)))}")
    return int(text)


def _ipv6(text: str) -> str:
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError as wrong:
        raise AddressRefused("its host is no IPv6 address") from wrong
    check_address(address)
    return str(address)


def _host(text: str) -> str:
    """A name or a dotted quad, in lower case and ASCII. Errors: `AddressRefused`."""
    name = text.lower()
    last = name.rstrip(".").rpartition(".")[2]
    if _NUMBER.fullmatch(last):
        return _ipv4(name)
    labels = [_label(label) for label in name.removesuffix(".").split(".")]
    encoded = ".".join(labels)
    if len(labels) < 2:
        raise AddressRefused("its host is a single word")
    if len(encoded) > MAX_NAME_CHARACTERS:
        raise AddressRefused("its host is too long")
    if labels[-1] in REFUSED_SUFFIXES:
        raise AddressRefused("its host is a name inside a network")
    return encoded


def _ipv4(text: str) -> str:
    """Four decimal numbers and nothing else: inet_aton reads 127.1, 0x7f.1 and 0177.0.0.1 as loopback."""
    parts = text.split(".")
    if len(parts) != 4 or not all(_DECIMAL_OCTET.fullmatch(part) for part in parts):
        raise AddressRefused("its host is a number that is no IPv4 address in four decimal parts")
    try:
        address = ipaddress.IPv4Address(text)
    except ValueError as wrong:
        raise AddressRefused("its host is no IPv4 address") from wrong
    check_address(address)
    return str(address)


def _label(label: str) -> str:
    encoded = label if label.isascii() else _punycode(label)
    if _ASCII_LABEL.fullmatch(encoded) is None or len(encoded) > MAX_LABEL_CHARACTERS:
        raise AddressRefused("its host has a part that is empty, too long or made of odd characters")
    if label.isascii() and label.startswith("xn--"):
        _check_punycode(label)
    return encoded


def _punycode(label: str) -> str:
    if unicodedata.normalize("NFKC", label) != label or any(one in _READ_DIFFERENTLY for one in label):
        raise AddressRefused("its host can be written in more than one way")
    if len({_script(one) for one in label if one.isalpha()}) > 1:
        raise AddressRefused("its host mixes scripts")
    try:
        return label.encode("idna").decode("ascii").lower()
    except UnicodeError as wrong:
        raise AddressRefused("its host is no internationalised name") from wrong


def _check_punycode(label: str) -> None:
    try:
        plain = label.removeprefix("xn--").encode("ascii").decode("punycode")
    except UnicodeError as wrong:
        raise AddressRefused("its host is no internationalised name") from wrong
    if plain.isascii() or plain.lower() != plain or _punycode(plain) != label:
        raise AddressRefused("its host is no internationalised name")


def _script(letter: str) -> str:
    first = unicodedata.name(letter, "UNKNOWN").partition(" ")[0]
    return _SAME_SCRIPT.get(first, first)
