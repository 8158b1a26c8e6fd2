"""Fixtures of every test: the LAN, the programs and the time limit of the interoperability tests."""

import importlib.util
import pathlib

_file = pathlib.Path(__file__).parents[1] / "Interoperability" / "conftest.py"
_specification = importlib.util.spec_from_file_location("interoperability", _file)
_shared = importlib.util.module_from_spec(_specification)
_specification.loader.exec_module(_shared)
lan, plug, controller, programs = _shared.lan, _shared.plug, _shared.controller, _shared.programs
time_limit, own_memory = _shared.time_limit, _shared.own_memory
pytest_runtest_makereport = _shared.pytest_runtest_makereport
