"""Functions that wait for, or return, the state of a sleeping computer as a plug or a client sees it."""

import sys

from deadlines import eventually
from harness.zeroconf_peer import ZeroconfBrowser

CONNECT = "import socket, sys; print(socket.create_connection((sys.argv[1], int(sys.argv[2])), float(sys.argv[3])).recv(16).decode().strip())"


def connected(host, address, port, within=20):
    """Opens a TCP connection, and returns the text that the server sends; None without a connection."""
    done = host.finish(sys.executable, "-c", CONNECT, address, port, within, within=within + 10)
    return done.output.strip() if done.status == 0 else None


def sleepers(lamp):
    return {one["host"].rstrip("."): one for one in lamp.status()["sleep_proxy"].get("sleepers", [])}


def asleep(lamp, computer, within=20):
    """Waits until the plug answers for the computer."""
    eventually(
        lambda: sleepers(lamp).get(f"{computer.name}.local", {}).get("state") == "asleep", within,
        lambda: f"{computer.name} asleep: {lamp.status()['sleep_proxy']}\n{lamp.running.transcript()}")


def media(client, within=15):
    """Resolves the service by python-zeroconf on a host that has not seen it before."""
    return ZeroconfBrowser(client, service_type="_media._tcp").resolved("Media", within)
