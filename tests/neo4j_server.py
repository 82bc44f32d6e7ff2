"""A real Neo4j 5.26 Community for tests: in a container where Docker runs, else from Maven Central under JDK 17."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import neo4j
import neo4j.exceptions
import pytest

from agentic_rag.embedded.loopback import HOST, free_port
from agentic_rag.embedded.os_user import OsUser
from agentic_rag.embedded.process import Launch, StopStep, WatchedProcess

GIVEN_URI = "AGENTIC_RAG_TEST_NEO4J_URI"
"""bolt://[user:password@]host:port of a server to use instead; its graphs are told apart by workspace."""
GIVEN_CACHE = "AGENTIC_RAG_TEST_CACHE"

POM = Path(__file__).with_name("neo4j_pom.xml")
IMAGE = "neo4j:5.26-community"
HEAP = "512m"
"""-Xms and -Xmx; in a container the variable NEO4J_server_memory_heap_max__size says the same."""
PAGE_CACHE = "64m"
MONITOR = "100ms"
"""How soon a transaction past its time-out is noticed; 2 s by default."""
USER = "neo4j"
FIRST_PASSWORD = "neo4j"
START_SECONDS = 90.0
JAVA_VERSION = 17

UNVERIFIED = ("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote")
"""To verify the bytecode of its jars anew is a quarter of the processor time of its start."""
_OPENED_PACKAGES = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
_STOPS = (StopStep(signal.SIGTERM, 30.0),)

_CONFIGURATION = """\
server.default_listen_address={host}
server.default_advertised_address={host}
server.bolt.listen_address={host}:{port}
server.bolt.advertised_address={host}:{port}
server.http.enabled=false
server.https.enabled=false
dbms.security.auth_enabled={auth}
dbms.usage_report.enabled=false
db.transaction.monitor.check.interval={monitor}
server.memory.pagecache.size={page_cache}
"""


class Neo4jServer:
    """One server process with a home of its own. It can be stopped and started again on the same port and data.

    Without a `password` it asks nobody who they are.
    """

    def __init__(self, home: Path, password: str | None = None) -> None:
        self._home = home
        self.password = password
        self._port = free_port()
        self._process: WatchedProcess | None = None

    @property
    def uri(self) -> str:
        """The Bolt address."""
        return f"bolt://{HOST}:{self._port}"

    @property
    def pid(self) -> int:
        """Of the JVM, while it runs."""
        if self._process is None:
            raise AssertionError("the Neo4j of this test does not run")
        return self._process.pid

    def start(self) -> str:
        """Start it, or leave a running one alone; its address once it answers queries. Skips without JDK or Maven."""
        if self._process is not None and self._process.running:
            return self.uri
        jars = server_jars()
        self._configure()
        log = self._home / "console.log"
        with log.open("ab") as life:
            launch = Launch((*self._command(jars),), _STOPS)
            self._process = WatchedProcess.start(launch, OsUser(None, None), log, life.fileno())
        self._wait(log)
        return self.uri

    def stop(self) -> None:
        """Stop it in an orderly fashion; its data stay."""
        if self._process is not None:
            self._process.stop()
            self._process = None

    def kill(self) -> None:
        """End it as a crash would."""
        os.kill(self.pid, signal.SIGKILL)
        self.stop()

    def _command(self, jars: Path) -> list[str]:
        opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED_PACKAGES]
        # The first compiler alone: a server of minutes does not live to see what the second one gains.
        memory = [f"-Xms{HEAP}", f"-Xmx{HEAP}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *UNVERIFIED]
        entry = ["-cp", f"{jars}/*", "org.neo4j.server.CommunityEntryPoint"]
        home = [f"--home-dir={self._home}", f"--config-dir={self._home / 'conf'}", "--console-mode"]
        return [str(_program("java")), *memory, *opened, *entry, *home]

    def _configure(self) -> None:
        (self._home / "conf").mkdir(parents=True, exist_ok=True)
        auth = "false" if self.password is None else "true"
        text = _CONFIGURATION.format(host=HOST, port=self._port, auth=auth, page_cache=PAGE_CACHE, monitor=MONITOR)
        (self._home / "conf" / "neo4j.conf").write_text(text)

    def _wait(self, log: Path) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not answers(self.uri, self.password):
            if self._process is None or not self._process.running or time.monotonic() > deadline:
                self.stop()
                raise AssertionError(f"Neo4j did not start:\n{log.read_text()[-4000:]}")
            time.sleep(0.1)


class Neo4jContainer:
    """The same from an image."""

    def __init__(self) -> None:
        self._container: Any = None
        self.uri = ""

    def start(self) -> str:
        """Start the container; its address once it answers queries."""
        from testcontainers.core.container import DockerContainer

        if self._container is None:
            container = DockerContainer(IMAGE).with_exposed_ports(7687)
            container.with_env("NEO4J_AUTH", "none").with_env("NEO4J_dbms_usage__report_enabled", "false")
            container.with_env("NEO4J_server_memory_heap_max__size", HEAP)
            container.with_env("NEO4J_db_transaction_monitor_check_interval", MONITOR)
            self._container = container.start()
            self.uri = f"bolt://{HOST}:{container.get_exposed_port(7687)}"
        deadline = time.monotonic() + START_SECONDS
        while not answers(self.uri, None):
            if time.monotonic() > deadline:
                raise AssertionError("the Neo4j container did not answer")
            time.sleep(0.1)
        return self.uri

    def stop(self) -> None:
        """Stop and remove the container."""
        if self._container is not None:
            self._container.stop()
            self._container = None


def session_server(home: Path) -> Neo4jServer | Neo4jContainer:
    """The server a session shares when none was given: a container where Docker runs, else our own process."""
    return Neo4jContainer() if _docker_answers() else Neo4jServer(home)


def answers(uri: str, password: str | None) -> bool:
    """Whether a query is answered; sets the password of a server that has only its first one."""
    try:
        with (
            neo4j.GraphDatabase.driver(uri, auth=(USER, password or FIRST_PASSWORD), connection_timeout=2) as driver,
            driver.session() as session,
        ):
            session.run("RETURN 1").consume()
    except neo4j.exceptions.AuthError:
        return password is not None and _set_password(uri, password)
    except (neo4j.exceptions.DriverError, neo4j.exceptions.Neo4jError):
        return False
    return True


def _set_password(uri: str, password: str) -> bool:
    with (
        contextlib.suppress(neo4j.exceptions.DriverError, neo4j.exceptions.Neo4jError),
        neo4j.GraphDatabase.driver(uri, auth=(USER, FIRST_PASSWORD)) as driver,
        driver.session(database="system") as session,
    ):
        change = "ALTER CURRENT USER SET PASSWORD FROM $old TO $new"
        session.run(change, {"old": FIRST_PASSWORD, "new": password}).consume()
    return False


def server_jars() -> Path:
    """The folder of the server's jars, fetched once into the user's cache. Skips as a missing component."""
    java = _program("java")
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', told)
    if found is None or int(found[1]) < JAVA_VERSION:
        pytest.skip(f"component: Neo4j 5.26 needs JDK {JAVA_VERSION} (scripts/install-system-packages)")
    cache = _cache()
    cache.mkdir(parents=True, exist_ok=True)
    jars = cache / "lib"
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not jars.exists():
            _fetch(jars)
    return jars


def _fetch(jars: Path) -> None:
    """Have Maven copy the server and all it needs; where Maven looks is the machine's own affair."""
    with tempfile.TemporaryDirectory(dir=jars.parent) as scratch:
        project = Path(scratch)
        shutil.copy(POM, project / "pom.xml")
        goal = ["dependency:copy-dependencies", f"-DoutputDirectory={project / 'lib'}", "-DincludeScope=runtime"]
        done = subprocess.run(
            [_program("mvn"), "-B", "-q", *goal], cwd=project, capture_output=True, text=True, check=False, timeout=900
        )
        if done.returncode:
            raise AssertionError(f"Maven could not fetch Neo4j:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        (project / "lib").rename(jars)


def _cache() -> Path:
    root = os.environ.get(GIVEN_CACHE) or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    version = re.search(r"<version>(\d+\.\d+\.\d+)</version>", POM.read_text())
    if version is None:
        raise AssertionError("the pom names no version")
    return Path(root) / "agentic-rag-tests" / f"neo4j-{version[1]}"


def _program(name: str) -> Path:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"component: no {name} on PATH (scripts/install-system-packages)")
    return Path(found)


def _docker_answers() -> bool:
    docker = shutil.which("docker")
    if docker is None:
        return False
    try:
        done = subprocess.run([docker, "info"], capture_output=True, check=False, timeout=10)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0
