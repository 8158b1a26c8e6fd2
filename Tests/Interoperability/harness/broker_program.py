"""A broken broker; runs inside a host of the LAN.

broker_program.py silent PORT           accepts connections and sends nothing
broker_program.py closing PORT          closes each connection after its first bytes
broker_program.py rubbish PORT          answers with bytes that are not MQTT
broker_program.py late PORT SECONDS TO  forwards to the port TO and back, delayed by SECONDS in each direction
"""

import queue
import socket
import sys
import threading
import time


def main():
    manner, port, *more = sys.argv[1:]
    listener = socket.create_server(("0.0.0.0", int(port)))
    print("ready", flush=True)
    held = []
    while True:
        connection, _ = listener.accept()
        if manner == "silent":
            held.append(connection)
        elif manner == "late":
            pass_on(connection, float(more[0]), int(more[1]))
        else:
            connection.recv(4096)
            if manner == "rubbish":
                connection.sendall(bytes(range(256)))
            connection.close()


def pass_on(connection, seconds, port):
    broker = socket.create_connection(("127.0.0.1", port))
    for source, sink in ((connection, broker), (broker, connection)):
        waiting = queue.Queue()
        threading.Thread(target=read, args=(source, waiting, seconds), daemon=True).start()
        threading.Thread(target=write, args=(waiting, sink), daemon=True).start()


def read(source, waiting, seconds):
    while True:
        try:
            data = source.recv(65536)
        except OSError:
            data = b""
        waiting.put((time.monotonic() + seconds, data))
        if not data:
            return


def write(waiting, sink):
    while True:
        due, data = waiting.get()
        time.sleep(max(0, due - time.monotonic()))
        try:
            if not data:
                sink.shutdown(socket.SHUT_WR)
                return
            sink.sendall(data)
        except OSError:
            return


main()
