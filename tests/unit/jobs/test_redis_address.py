"""What REDIS_URL may say."""

import pytest

from agentic_rag.jobs.redis_address import CLUSTER_REFUSED, SentinelAddress, parse_redis
from agentic_rag.settings import SettingsInvalid, load_settings


@pytest.mark.parametrize(
    "text", ["redis://h:6379/0", "rediss://u:p@h/1?ssl_cert_reqs=none", "unix:///run/redis.sock", "h:6379"]
)
def test_one_server_is_left_to_the_driver(text: str) -> None:
    assert parse_redis(text) is None


def test_sentinels_are_taken_apart() -> None:
    text = "redis+sentinel://rag:p%40%2Css@one:26380,two,[::1]:7/3?service=queue&sentinel_password=s%26t"

    assert parse_redis(text) == SentinelAddress(
        (("one", 26380), ("two", 26379), ("::1", 7)), "queue", 3, "rag", "p@,ss", "", "s&t"
    )


def test_options_of_tls_are_kept_for_the_driver() -> None:
    address = parse_redis("rediss+sentinel://one/?service=queue&ssl_ca_certs=%2Fetc%2Fca.pem&ssl_cert_reqs=required")

    assert address is not None
    assert (address.is_encrypted, address.database) == (True, 0)
    assert address.tls_query == "ssl_ca_certs=%2Fetc%2Fca.pem&ssl_cert_reqs=required"


def test_no_password_is_printed() -> None:
    assert "hunter" not in repr(parse_redis("redis+sentinel://:hunter1@one/0?service=q&sentinel_password=hunter2"))


@pytest.mark.parametrize(
    "text",
    [
        "redis+sentinel://one:26379/0",
        "redis+sentinel://one:26379/0?service=",
        "redis+sentinel:///0?service=q",
        "redis+sentinel://one:port/0?service=q",
        "redis+sentinel://one:0/0?service=q",
        "redis+sentinel://one,,two/0?service=q",
        "redis+sentinel://::1/0?service=q",
        "redis+sentinel://one/queue?service=q",
        "redis+sentinel://one/0?service=q&servcie=q",
        "redis+sentinels://one/0?service=q",
        "http://one:6379",
    ],
)
def test_a_wrong_address_is_refused_with_the_form_that_is_meant(text: str) -> None:
    with pytest.raises(SettingsInvalid, match=r"REDIS_URL=.*redis\+sentinel://USER:PASSWORD@HOST"):
        load_settings({"REDIS_URL": text})


@pytest.mark.parametrize("scheme", ["redis+cluster", "rediss+cluster"])
def test_a_cluster_is_refused_with_the_reason(scheme: str) -> None:
    with pytest.raises(SettingsInvalid) as caught:
        load_settings({"REDIS_URL": f"{scheme}://one:6379"})

    assert CLUSTER_REFUSED in caught.value.problems[0]
