"""What REDIS_URL may say, and the names of keys that follow from it."""

from uuid import uuid4

import pytest
from arq.constants import in_progress_key_prefix, job_key_prefix, result_key_prefix, retry_key_prefix
from redis.asyncio import ConnectionPool, SSLConnection
from redis.crc import key_slot

from agentic_rag.adapters.redis.pools import pool_of
from agentic_rag.jobs.job import JobRef, QueueName
from agentic_rag.jobs.message import QueueLayout, dead_letter_key
from agentic_rag.jobs.redis_address import CLUSTER_TAG, ClusterAddress, SentinelAddress, key_prefix, parse_redis
from agentic_rag.settings import SettingsInvalid, load_settings
from agentic_rag.tenancy.principals import WorkspaceRef

REF = JobRef(WorkspaceRef(uuid4(), uuid4()), uuid4(), fence=7)


@pytest.mark.parametrize(
    "text", ["redis://h:6379/0", "rediss://u:p@h/1?ssl_cert_reqs=none", "unix:///run/redis.sock", "h:6379"]
)
def test_one_server_is_left_to_the_driver(text: str) -> None:
    assert parse_redis(text) is None


def test_sentinels_are_taken_apart() -> None:
    text = "redis+sentinel://rag:p%40%2Css@one:26380,two,[::1]:7/3?service=queue&sentinel_password=s%26t"

    assert parse_redis(text) == SentinelAddress(
        hosts=(("one", 26380), ("two", 26379), ("::1", 7)),
        service="queue",
        database=3,
        username="rag",
        password="p@,ss",
        sentinel_password="s&t",
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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("redis+cluster:///", "expected hosts with their ports"),
        ("redis+cluster://one:0", "expected hosts with their ports"),
        ("redis+cluster://one,,two", "expected hosts with their ports"),
        ("redis+cluster://one/1", "a Redis Cluster has database 0 alone"),
        ("redis+cluster://one/queue", "a Redis Cluster has database 0 alone"),
        ("redis+cluster://one?service=q", "its options are ssl_"),
        ("http://one:6379", "expected redis://"),
    ],
)
def test_a_wrong_address_of_a_cluster_is_refused_with_the_reason(text: str, said: str) -> None:
    with pytest.raises(SettingsInvalid) as caught:
        load_settings({"REDIS_URL": text})

    assert said in caught.value.problems[0]
    assert "redis+cluster://USER:PASSWORD@HOST:6379,HOST:6379" in caught.value.problems[0]


@pytest.mark.parametrize("scheme", ["redis", "redis+cluster"])
def test_a_problem_of_an_address_does_not_tell_its_password(scheme: str) -> None:
    with pytest.raises(SettingsInvalid) as caught:
        load_settings({"REDIS_URL": f"{scheme}://rag:sekret℀@one:6379"})

    assert "sekret" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["redis+cluster://one?ssl_ca_certs=a", "redis+sentinel://one/0?service=q&ssl_ca_certs=a"]
)
def test_options_of_tls_need_an_address_that_speaks_it(text: str) -> None:
    with pytest.raises(SettingsInvalid, match="need rediss"):
        load_settings({"REDIS_URL": text})


@pytest.mark.parametrize(
    ("query", "is_checked"), [("", True), ("ssl_check_hostname=false", False), ("ssl_cert_reqs=none", False)]
)
@pytest.mark.parametrize("address", ["rediss://one/0?", "rediss+cluster://one?", "rediss+sentinel://one/0?service=q&"])
def test_a_certificate_has_to_name_the_host(address: str, query: str, *, is_checked: bool) -> None:
    connection = pool_of(ConnectionPool, address + query).make_connection()

    assert isinstance(connection, SSLConnection)
    assert connection.ssl_context.get().check_hostname is is_checked


def test_nodes_of_a_cluster_are_taken_apart() -> None:
    assert parse_redis("redis+cluster://rag:p%40ss@one:7000,two,[::1]:7/0") == ClusterAddress(
        hosts=(("one", 7000), ("two", 6379), ("::1", 7)), username="rag", password="p@ss"
    )
    encrypted = parse_redis("rediss+cluster://one?ssl_ca_certs=%2Fetc%2Fca.pem")
    assert encrypted == ClusterAddress(
        hosts=(("one", 6379),), is_encrypted=True, tls_query="ssl_ca_certs=%2Fetc%2Fca.pem"
    )


@pytest.mark.parametrize("url", ["redis://one/0", "redis+sentinel://one/0?service=q"])
def test_outside_a_cluster_the_names_of_keys_are_those_of_earlier_versions(url: str) -> None:
    layout = QueueLayout(key_prefix(url, "agentic-rag"))

    assert layout.key(QueueName.BULK) == "agentic-rag:bulk"
    assert layout.delivery_id(QueueName.BULK, REF) == f"{REF.job_id}:7"


@pytest.mark.parametrize("partitions", [1, 8])
def test_in_a_cluster_all_keys_of_the_queue_are_in_one_slot(partitions: int) -> None:
    layout = QueueLayout(key_prefix("redis+cluster://one", "agentic-rag"), partitions)
    entry = layout.delivery_id(QueueName.BULK, REF)
    keys = [
        layout.key(QueueName.BULK),
        layout.key(QueueName.INTERACTIVE),
        dead_letter_key(layout.prefix),
        *[prefix + entry for prefix in (job_key_prefix, in_progress_key_prefix, retry_key_prefix, result_key_prefix)],
    ]

    assert {key_slot(key.encode()) for key in keys} == {key_slot(CLUSTER_TAG.encode())}


def test_a_name_with_a_tag_of_its_own_stays_in_the_slot() -> None:
    assert key_slot(key_prefix("redis+cluster://one", "{mine}").encode()) == key_slot(CLUSTER_TAG.encode())
