"""Lines that set a value, and what they stand under."""

import pytest

from agentic_rag.language.programming import name_set, names_above, opens_settings

COMPOSE = """services:
  postgres:
    image: pgvector/pgvector:0.8-pg17
    ports: ["127.0.0.1:5432:5432"]

  redis:
    image: valkey/valkey:9.1-alpine
    command:
      - valkey-server
volumes:
  data: {}
"""
PROJECT = """name = "top"

[tool.ruff]
line-length = 120
src = ["core", "server"]

[tool.ruff.lint]
select = ["E"]
"""


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("image: valkey/valkey:9.1-alpine", "image"),
        ("    restart: unless-stopped", "restart"),
        ('  "port": 8080,', "port"),
        ("BASE_FEE_MAX_CHANGE_DENOMINATOR = 8", "BASE_FEE_MAX_CHANGE_DENOMINATOR"),
        ("AGENTIC_RAG_PORT=8080", "AGENTIC_RAG_PORT"),
        ("export HOME=/srv/rag", "HOME"),
        ("const limit = 30;", "limit"),
        ("INITIAL_FORK_BLOCK_NUMBER = 10 # TBD", "INITIAL_FORK_BLOCK_NUMBER"),
    ],
)
def test_a_name_with_a_plain_value_is_a_setting(line: str, name: str) -> None:
    assert name_set(line, 0) == name


@pytest.mark.parametrize(
    "line",
    [
        "gas_used = self.execute(transaction)",
        "    access_list = transaction.access_list,",
        "target = limit // ELASTICITY_MULTIPLIER",
        "if price == 8:",
        "The fee = the price of the ticket",
        "services:",
        "The image runs as user 10001.",
        "see https://example.org",
        "note:this is glued",
    ],
)
def test_calls_sums_prose_and_names_alone_set_nothing(line: str) -> None:
    assert name_set(line, 0) is None


def test_a_name_without_a_value_and_a_section_open_settings() -> None:
    assert all(opens_settings(line, 0) for line in ("services:", "  redis:", "[tool.ruff]", '"server": {'))
    assert not any(opens_settings(line, 0) for line in ("image: valkey", "The rules are as follows:", "[1] See page 4"))


def test_a_setting_stands_under_the_names_further_out() -> None:
    assert names_above(COMPOSE, COMPOSE.index("pgvector/")) == ("services", "postgres")
    assert names_above(COMPOSE, COMPOSE.index("valkey/")) == ("services", "redis")
    assert names_above(PROJECT, PROJECT.index("line-length")) == ("tool.ruff",)
    assert names_above(PROJECT, PROJECT.index("select")) == ("tool.ruff.lint",)
    assert names_above(PROJECT, PROJECT.index("name")) == ()
    assert names_above("The crane lifts 8 tonnes.", 4) == ()


SERVERS = """[[servers]]
name = "alpha"
ip = "10.0.0.1"

[[servers]]
ip = "10.0.0.2"
name = "beta"
"""
ITEMS = """services:
  - name: web
    image: nginx:1.25
  - image: postgres:16
    name: db
"""
DEPLOYED = """kind: Deployment
metadata:
  name: web
spec:
  replicas: 3
---
kind: Deployment
metadata:
  name: db
spec:
  replicas: 1
"""
CLASSES = """class Web:
    timeout = 30

class Db:
    timeout = 5
"""
FORM = """Name: Ann Lee
Grade: A

Name: Bob Ray
Grade: B
"""


@pytest.mark.parametrize(
    ("text", "setting", "names"),
    [
        (SERVERS, '"10.0.0.1"', ("servers", "alpha")),
        (SERVERS, '"10.0.0.2"', ("servers", "beta")),
        (ITEMS, "nginx", ("services", "web")),
        (ITEMS, "postgres", ("services", "db")),
        (DEPLOYED, "replicas: 3", ("web", "spec")),
        (DEPLOYED, "replicas: 1", ("db", "spec")),
        (CLASSES, "30", ("Web",)),
        (CLASSES, "5", ("Db",)),
        (FORM, "Grade: A", ("Ann Lee",)),
        (FORM, "Grade: B", ("Bob Ray",)),
    ],
)
def test_what_names_the_settings_of_a_level_stands_above_each(text: str, setting: str, names: tuple[str, ...]) -> None:
    assert names_above(text, text.index(setting)) == names
