"""An unpaired or hostile peer; runs inside a host of the LAN and prints its results as JSON objects.

stranger_program.py hello ADDRESS PORT IDENTITY               sends Hello, Subscribe and a command at once, and prints all answers
stranger_program.py replay ADDRESS PORT IDENTITY CODE         pairs, and repeats the messages on a second connection
stranger_program.py middle PORT ADDRESS PLUG_PORT IDENTITY    ends TLS on both sides with its own key and forwards everything
stranger_program.py flood ADDRESS PORT SOURCE...              opens connections without sending bytes, from each source in turn, forever
"""

import itertools
import json
import os
import pathlib
import socket
import ssl
import sys
import threading
import time

from blocking import BlockingConnection
from smartplug_client.errors import Goodbye
from smartplug_client.folder import KeyFolder
from smartplug_client.pairing import Pairing, code_bytes


def tell(**told):
    print(json.dumps(told), flush=True)


def hello(address, port, identity):
    connection = BlockingConnection(address, int(port), KeyFolder(identity).identity().tls())
    connection.send(hello={"version": 1, "controller": "stranger"})
    connection.send(subscribe={"after": 0})
    connection.send(command={"request_id": os.urandom(16), "set_relay": {"on": True}})
    try:
        while True:
            kind, _ = connection.receive()
            tell(told=kind)
    except Goodbye as goodbye:
        tell(refused=goodbye.reason)
    except (EOFError, OSError):
        tell(closed=True)


def replay(address, port, folder, code):
    identity = KeyFolder(folder).identity()
    context = identity.tls()
    first = BlockingConnection(address, int(port), context)
    code = code_bytes(pathlib.Path(code).read_text().splitlines()[0])
    pairing = Pairing(code, first.plug_key, identity.public_key, "replayer")
    said = [pairing.request()]
    first.send(**said[0])
    said.append(pairing.answer(*first.receive()))
    first.send(**said[1])
    pairing.finish(*first.receive())
    first.close()
    tell(paired=True)
    second = BlockingConnection(address, int(port), context)
    try:
        for message in said:
            second.send(**message)
            kind, _ = second.receive()
            tell(told=kind)
    except Goodbye as goodbye:
        tell(refused=goodbye.reason)


def pass_on(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for stream in (source, target):
        try:
            stream.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def middle(port, address, plug_port, identity):
    identity = KeyFolder(identity).identity()
    context = identity.tls()
    outside = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    outside.set_alpn_protocols(["smartplug/1"])
    identity.load_into(outside)
    listener = socket.create_server(("", int(port)))
    tell(listening=int(port))
    while True:
        stream, _ = listener.accept()
        try:
            towards_controller = outside.wrap_socket(stream, server_side=True)
        except OSError:
            continue
        towards_plug = BlockingConnection(address, int(plug_port), context).stream
        for ends in ((towards_controller, towards_plug), (towards_plug, towards_controller)):
            threading.Thread(target=pass_on, args=ends, daemon=True).start()


def flood(address, port, *sources):
    held = []
    for number, source in enumerate(itertools.cycle(sources)):
        try:
            held.append(socket.create_connection((address, int(port)), timeout=1, source_address=(source, 0)))
        except OSError:
            pass  # The plug does not listen at the moment, or refuses the connection.
        for stream in held[:-500]:
            stream.close()
        held = held[-500:]
        if number % 100 == 99:
            tell(connections=number + 1)
        time.sleep(0.002)


{"hello": hello, "replay": replay, "middle": middle, "flood": flood}[sys.argv[1]](*sys.argv[2:])
