"""Fixtures: the programs under test, and separate state and configuration directories for each test."""

import importlib.util
import pathlib

_file = pathlib.Path(__file__).parents[1] / "Interoperability" / "conftest.py"
_specification = importlib.util.spec_from_file_location("interoperability", _file)
_shared = importlib.util.module_from_spec(_specification)
_specification.loader.exec_module(_shared)
programs, time_limit, own_memory = _shared.programs, _shared.time_limit, _shared.own_memory
