"""Runs READERS readers of the daemon's event stream, and SILENT clients that request the stream and never read. Prints for each relay event
the median and the maximum delay of the readers in milliseconds.

stream_readers.py PORT READERS SILENT
"""

import json
import selectors
import socket
import statistics
import sys
import time
from datetime import datetime

REQUEST = b"GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n"


def connected(port, receives=None):
    stream = socket.socket()
    if receives:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives)
    stream.connect(("127.0.0.1", port))
    stream.sendall(REQUEST % port)
    return stream


class Reader:
    def __init__(self, port):
        self.socket = connected(port)
        self.text = b""

    def take(self, told):
        received = self.socket.recv(1 << 18)
        assert received, "the daemon ended the stream of a client that reads it"
        now = time.time() * 1000
        self.text += received
        *messages, self.text = self.text.split(b"\n\n")
        for message in messages:
            if b"event: event" not in message:
                continue
            # Lines of the chunked encoding are skipped.
            data = next(line for line in message.split(b"\n") if line.startswith(b"data: "))
            event = json.loads(data[6:])
            if event["event"] == "relay":
                at = datetime.fromisoformat(event["at"].replace("Z", "+00:00")).timestamp() * 1000
                told(event["plug"], event["seq"], now - at)


def main(port, readers, silent):
    kept = [connected(port, 4096) for _ in range(silent)]
    selector = selectors.DefaultSelector()
    for _ in range(readers):
        reader = Reader(port)
        selector.register(reader.socket, selectors.EVENT_READ, reader)
    heard = {}

    def told(plug, sequence, late):
        times = heard.setdefault((plug, sequence), [])
        times.append(late)
        if len(times) == readers:
            print(json.dumps({"event": "heard", "late": statistics.median(times), "slowest": max(times)}), flush=True)

    print(json.dumps({"event": "reading", "silent": len(kept)}), flush=True)
    while True:
        for key, _ in selector.select():
            key.data.take(told)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
