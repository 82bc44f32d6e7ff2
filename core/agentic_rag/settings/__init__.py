"""The settings of a process: one frozen group a room, read from the environment in one place."""

from agentic_rag.settings.load import (
    Settings,
    SettingsInvalid,
    child_environment,
    hide_secrets,
    load_settings,
    mask_secrets,
    read_dotenv,
    variables,
)

__all__ = [
    "Settings",
    "SettingsInvalid",
    "child_environment",
    "hide_secrets",
    "load_settings",
    "mask_secrets",
    "read_dotenv",
    "variables",
]
