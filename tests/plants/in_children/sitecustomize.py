"""Python imports this first where its folder is on the path: plants the lie that the environment names."""

import importlib
import os

if chosen := os.environ.get("TEST_PLANT"):
    table, _, name = chosen.partition(":")
    importlib.import_module(f"tests.plants.{table}").MUTANTS[name].plant(setattr)
