"""A web server that stores each posted body as a line of the given file. It answers the first request with each Idempotency-Key by closing
the connection, and each repetition of the request with status 204."""

import http.server
import json
import sys

answered = set()


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with open(sys.argv[1], "a") as file:
            file.write(json.dumps(body) + "\n")
        identity = self.headers["Idempotency-Key"]
        if identity not in answered:
            answered.add(identity)
            self.close_connection = True
            return
        self.send_response(204)
        self.end_headers()


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
print(f"http://127.0.0.1:{server.server_port}/cycles", flush=True)
server.serve_forever()
