"""The composition root: settings in, a wired container out. Nothing else knows every adapter."""

from agentic_rag.adapters.server_token import opens_servers
from agentic_rag.adapters.sources.directory import DirectorySource
from agentic_rag.adapters.system.collector import limit_arenas, loop_factory, settle_collector
from agentic_rag.adapters.vault.envelope import fresh_master as new_master_key
from agentic_rag.bootstrap.container import Container, build_container
from agentic_rag.bootstrap.programs import (
    local_space,
    obtain_model,
    open_bucket_folder,
    open_chat_model,
    open_directory,
    reads_units,
    route_library_logs,
)

__all__ = [
    "Container",
    "DirectorySource",
    "build_container",
    "limit_arenas",
    "local_space",
    "loop_factory",
    "new_master_key",
    "obtain_model",
    "open_bucket_folder",
    "open_chat_model",
    "open_directory",
    "opens_servers",
    "reads_units",
    "route_library_logs",
    "settle_collector",
]
