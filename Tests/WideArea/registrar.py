"""The scripted registrar on a host of the LAN."""

import pathlib
import sys

from name_server import NameServer

PROGRAM = pathlib.Path(__file__).with_name("registrar_program.py")


class Registrar(NameServer):
    """A registrar of the Service Registration Protocol (RFC 9665) of a zone, which is also its name server."""

    zone = "home.example.org"
    access = 'method = "srp"'

    def __init__(self, host, folder=None, address=None):
        """`address` is that of the host, if it is not its usual one. Nothing is stored in `folder`."""
        self.host = host
        self.address = address or host.ipv4
        self.running = host.start(sys.executable, PROGRAM, self.address, self.zone, name="registrar")
        self.running.seen_object(lambda line: line.get("ready"), 15, "that it is ready")
