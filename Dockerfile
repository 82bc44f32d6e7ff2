# syntax=docker/dockerfile:1.20.0@sha256:26147acbda4f14c5add9946e2fd2ed543fc402884fd75146bd342a7f6271dc1d
# The image of server, worker, migration and every other command: docker build -t agentic-rag .
# Pinned by digest (docs/deployment.md says where the digests come from); `python -m scripts.pin_images --refresh` asks the registries anew.
ARG PYTHON=python:3.12.14-slim-bookworm@sha256:782412e85d0f0984994c290652577d4018aff08145c85b262bb63dc0c7522254

FROM ${PYTHON} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /src
RUN python -m venv /opt/agentic-rag
COPY requirements/ requirements/
# The embedded servers of the lock file are left out of the way by DATABASE_URL and REDIS_URL; the file is one for all.
RUN /opt/agentic-rag/bin/pip install --require-hashes -r requirements/installer.txt \
    && /opt/agentic-rag/bin/uv pip install --python /opt/agentic-rag/bin/python --require-hashes \
       -r requirements/build.txt -r requirements/runtime.txt -r requirements/onnx.txt
COPY pyproject.toml README.md LICENSE ./
COPY core/ core/
COPY server/ server/
COPY worker/ worker/
COPY cli/ cli/
COPY eval/ eval/
COPY migrations/ migrations/
COPY simulated_ingestion/ simulated_ingestion/
RUN /opt/agentic-rag/bin/uv pip install --python /opt/agentic-rag/bin/python --no-deps --no-build-isolation . \
    && /opt/agentic-rag/bin/python -m compileall -q /opt/agentic-rag/lib

FROM ${PYTHON}
RUN groupadd --gid 10001 rag && useradd --uid 10001 --gid rag --no-create-home --home-dir /var/lib/agentic-rag rag \
    && install -d -o rag -g rag -m 0700 /var/lib/agentic-rag
COPY --from=build /opt/agentic-rag /opt/agentic-rag
ENV PATH=/opt/agentic-rag/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    AGENTIC_RAG_HOME=/var/lib/agentic-rag AGENTIC_RAG_HOST=0.0.0.0 AGENTIC_RAG_PROFILE=production
# Everything else is read-only: run with --read-only, a volume here and a tmpfs on /tmp.
VOLUME /var/lib/agentic-rag
WORKDIR /var/lib/agentic-rag
USER 10001:10001
EXPOSE 8080 9464
# The server's; a worker answers on its port of metrics (docker-compose.yml, deploy/helm).
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8080/healthz', timeout=2)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["rag"]
CMD ["serve"]
