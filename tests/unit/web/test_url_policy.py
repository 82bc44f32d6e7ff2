import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.web.url_policy import (
    REFUSED_V4,
    AddressRefused,
    Scheme,
    Target,
    check_address,
    parse_host_list,
    parse_target,
    resolve_redirect,
    shares_domain,
)


def is_public(text: str) -> bool:
    try:
        check_address(ipaddress.ip_address(text))
    except AddressRefused:
        return False
    return True


@given(st.text())
def test_any_text_is_either_refused_or_read_in_one_way(text: str) -> None:
    try:
        target = parse_target(f"http://{text}/")
    except AddressRefused:
        return
    assert parse_target(target.url) == target


@given(st.ip_addresses(v=4))
def test_an_address_inside_a_refused_network_is_refused_however_the_url_is_written(
    address: ipaddress.IPv4Address,
) -> None:
    inside = any(address in network for network in REFUSED_V4)

    assert is_public(str(address)) is not inside
    # As one number, or as three: inet_aton would read both.
    for spelled in (str(int(address)), hex(int(address)), f"{int(address) >> 24}.{int(address) & 0xFFFFFF}"):
        with pytest.raises(AddressRefused):
            parse_target(f"http://{spelled}/")


@given(st.ip_addresses(v=4), st.sampled_from(["::ffff:{}", "64:ff9b::{}", "::{}", "fe80::5efe:{}", "2a00::5efe:{}"]))
def test_ipv6_that_carries_an_ipv4_address_is_refused(address: ipaddress.IPv4Address, form: str) -> None:
    assert not is_public(form.format(address))


def test_edges_of_networks_are_where_the_registry_puts_them() -> None:
    assert [is_public(one) for one in ("9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0")] == [
        True,
        False,
        False,
        True,
    ]
    assert is_public("2606:4700:4700::1111")
    assert not is_public("fd00::1")


@pytest.mark.parametrize(
    "address",
    [
        "0.1.2.3",
        "10.1.2.3",
        "100.64.0.1",
        "127.0.0.1",
        "168.63.129.16",
        "169.254.169.254",
        "172.31.255.255",
        "192.0.0.8",
        "192.168.0.1",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
    ],
)
def test_addresses_inside_networks_and_of_platforms_are_refused(address: str) -> None:
    assert not is_public(address)
    with pytest.raises(AddressRefused):
        parse_target(f"http://{address}/latest/meta-data/")


@pytest.mark.parametrize("port", [22, 25, 79, 81, 6379, 8080, 8443, 65535])
def test_only_the_ports_of_http_and_https_are_asked(port: int) -> None:
    with pytest.raises(AddressRefused, match="port"):
        parse_target(f"http://example.com:{port}/")


def test_host_and_port_come_out_in_one_spelling() -> None:
    assert parse_target("HTTPS://Bücher.Example.:443/ab?c=é#@127.0.0.1") == Target(
        Scheme.HTTPS, "xn--bcher-kva.example", 443, "/ab?c=%C3%A9"
    )
    assert parse_target("http://example.com:443/").authority == "example.com:443"
    assert parse_target("https://[2606:4700::1]/").authority == "[2606:4700::1]"


def test_a_redirect_is_read_like_a_named_address() -> None:
    origin = parse_target("https://example.com/a/b")

    assert resolve_redirect(origin, "../c").url == "https://example.com/c"
    refused = (
        "http://example.com/",
        "//127.0.0.1/",
        "file:///etc/passwd",
        "",
        "https://u:p@example.com/",
        "//[x",
        "//[x]",
    )
    for location in refused:
        with pytest.raises(AddressRefused):
            resolve_redirect(origin, location)


def test_hosts_above_and_beneath_one_another_are_kindred_and_look_alikes_are_not() -> None:
    assert shares_domain("www.example.org", "example.org")
    assert not shares_domain("badexample.org", "example.org")


def test_a_list_of_hosts_knows_hosts_everything_beneath_one_and_every_host() -> None:
    some = parse_host_list("docs.example.org, *.example.com")

    assert [
        some.allows(host) for host in ("docs.example.org", "x.docs.example.org", "a.b.example.com", "example.com")
    ] == [
        True,
        False,
        True,
        False,
    ]
    assert parse_host_list("*").allows("anything.example")
    assert not parse_host_list("").allows("anything.example")
    with pytest.raises(ValueError, match="no public host"):
        parse_host_list("localhost")
