"""A push service with https and scripted answers. It prints each message as a line of JSON.

Usage: push_program.py CERTIFICATE KEY STATUS...: one status per message, the last one for all further messages. A redirect leads to
the same service."""

import base64
import json
import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

certificate, key, *answers = sys.argv[1:]


class Service(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = int(answers.pop(0) if len(answers) > 1 else answers[0])
        told = {"path": self.path, "headers": {name.lower(): value for name, value in self.headers.items()},
                "body": base64.b64encode(body).decode(), "answer": answer}
        # A line is one write, because other threads print at the same time.
        print(json.dumps(told) + "\n", end="", flush=True)
        text = f"{self.path} {self.headers['Authorization']}\n".encode()
        self.send_response(answer)
        self.send_header("Content-Length", str(len(text)))
        if answer == 429:
            self.send_header("Retry-After", "6")
        if 300 <= answer < 400:
            self.send_header("Location", "/redirected")
        self.end_headers()
        # The answer repeats the secrets of the request, like the answers of some servers.
        self.wfile.write(text)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(json.dumps({"port": server.server_port}), flush=True)
server.serve_forever()
