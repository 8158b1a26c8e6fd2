"""An ntfy server with scripted answers. It prints each message as a line of JSON.

Usage: ntfy_program.py STATUS...: one status per message, the last one for all further messages; `hang` sends no answer."""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

answers = sys.argv[1:]


class Topic(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        told = {"path": self.path, "headers": {name.lower(): value for name, value in self.headers.items()},
                "body": body.decode(), "answer": answer}
        # A line is one write, because other threads print at the same time.
        print(json.dumps(told) + "\n", end="", flush=True)
        if answer == "hang":
            time.sleep(600)
        self.send_response(int(answer))
        self.end_headers()
        # The answer repeats the secrets of the request, like the answers of some servers.
        self.wfile.write(f"{self.headers.get('Authorization')} {self.path}\n".encode())

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Topic)
print(json.dumps({"port": server.server_port}), flush=True)
server.serve_forever()
