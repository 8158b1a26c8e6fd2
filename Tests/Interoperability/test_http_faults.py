"""Malformed, slow and hostile HTTP requests to the daemon."""

import os
import random
import socket
import time

import pytest

from deadlines import eventually
from harness.served import PORT, Served

SEED = int(os.environ.get("SMARTPLUG_SEED", "1"))
GOOD_HOST = f"127.0.0.1:{PORT}"


@pytest.fixture
def served(lan, plug, controller, tmp_path):
    plug(lan.host(), "Lamp")
    served = Served(controller(lan.host()), tmp_path / "daemon").follows(1)
    eventually(lambda: b"HTTP" in exchange(served, request()), 10, "the dashboard")
    return served


def request(method="GET", target="/api/v1/plugs", host=GOOD_HOST, headers=(), body=b""):
    lines = [f"{method} {target} HTTP/1.1", *([f"Host: {host}"] if host is not None else []), *headers]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode("utf-8", "surrogateescape") + body


def exchange(served, sent, patience=20):
    """Sends bytes and returns everything received until the daemon closes the connection."""
    connection = served.connection()
    connection.settimeout(patience)
    received = b""
    try:
        connection.sendall(sent)
        while len(received) < 1 << 20:
            more = connection.recv(1 << 16)
            if not more:
                break
            received += more
    except (ConnectionError, BrokenPipeError):
        pass
    finally:
        connection.close()
    return received


def status(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else None


TRAVERSALS = [
    "/../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/app.js/../../etc/passwd", "/.%00/x",
    "/api/v1/plugs/..%2f..%2f/relay", "/index.html%00", "/\\..\\..\\etc\\passwd", "/%c0%ae%c0%ae/etc/passwd", "/api/v1/../../health/..",
]
FOREIGN_HOSTS = ["evil.example", "evil.example:7580", "localhost.evil.example", "127.0.0.1.nip.io:7580", "", "a" * 3000, "[::1", "local host"]


def bad_requests(chance):
    """Yields an endless series of (fault, bytes, allowed statuses). The status None means that the daemon may close the
    connection without an answer."""
    json_type = ["Content-Type: application/json"]
    while True:
        kind = chance.randrange(12)
        if kind == 0:
            yield "traversal", request(target=chance.choice(TRAVERSALS)), {400, 404, 405}
        elif kind == 1:
            yield "foreign host", request(host=chance.choice(FOREIGN_HOSTS)), {400, 403, 431}
        elif kind == 2:
            body = b'{"on":true,"x":"' + b"a" * chance.choice([5_000, 100_000]) + b'"}'
            yield "oversized body", request("POST", "/api/v1/plugs/Lamp/relay", headers=json_type, body=body), {413, None}
        elif kind == 3:
            yield "oversized head", request(headers=[f"X-{n}: {'b' * 4000}" for n in range(30)]), {400, 431, None}
        elif kind == 4:
            body = chance.choice([b"{", b"[]", b"null", b'{"on":1}', b'{"on":"yes"}', b'{"on":true,"more":1}', b"\xff\xfe", b"{}" * 9])
            yield "wrong types", request("POST", "/api/v1/plugs/Lamp/relay", headers=json_type, body=body), {400, 422}
        elif kind == 5:
            wrong = chance.choice(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""])
            yield "wrong content type", request(
                "POST", "/api/v1/plugs/Lamp/relay", headers=[f"Content-Type: {wrong}"], body=b'{"on":true}'), {415}
        elif kind == 6:
            origin = chance.choice(["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1", "file://"])
            yield "wrong origin", request(
                "POST", "/api/v1/plugs/Lamp/relay", headers=[*json_type, f"Origin: {origin}"], body=b'{"on":true}'), {403}
        elif kind == 7:
            yield "wrong method", request(chance.choice(["PUT", "PATCH", "TRACE", "OPTIONS", "DELETE"]), headers=json_type), {405, 501}
        elif kind == 8:
            query = chance.choice(["from=yesterday", "columns=0", "columns=1e9", "to=9999999999", "x=1", "from=2026-13-45T00:00:00Z"])
            yield "wrong query", request(target=f"/api/v1/plugs/Lamp/power?{query}"), {400, 422}
        elif kind == 9:
            yield "noise", bytes(chance.randrange(256) for _ in range(chance.randrange(1, 400))) + b"\r\n\r\n", {400, None}
        elif kind == 10:
            headers = chance.choice([
                ["Transfer-Encoding: chunked", "Content-Length: 4"], ["Content-Length: -1"], ["Content-Length: 4", "Content-Length: 5"],
                ["Content-Length: 99999999999999999999"], ["Transfer-Encoding: gzip, chunked, x"], [": empty", "\x00: y"]])
            yield "torn framing", request("POST", "/api/v1/pairings", headers=[*json_type, *headers]) + b"4\r\nab", {400, 413, 501, None}
        else:
            yield "long target", request(target="/api/v1/plugs/" + "%41" * 4000), {400, 404, 414, 431, None}


@pytest.mark.time_limit(240)
def test_ten_thousand_bad_requests_change_nothing(served):
    """Each malformed request gets a status that is correct for its fault. The requests do not change the plug, and add less than 8 MB to
    the daemon's memory."""
    chance = random.Random(SEED)
    bad = bad_requests(chance)
    before, memory = served.plug("Lamp"), served.running.memory
    for number in range(10_000):
        wrong, sent, right = next(bad)
        answer = exchange_quickly(served, sent)
        assert status(answer) in right, f"number {number}, {wrong}: {answer[:300]!r} to {sent[:300]!r}"
        assert b"root:" not in answer
    after = served.plug("Lamp")
    assert (after["on"], after["state"]) == (before["on"], "connected")
    assert served.running.memory < memory + 8_000, f"{memory} kB before, {served.running.memory} kB after"


def exchange_quickly(served, sent):
    """Returns the beginning of the answer; ends the sending side, so that the daemon does not wait for more bytes."""
    connection = served.connection()
    connection.settimeout(5)
    try:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        return connection.recv(1 << 14)
    except (ConnectionError, BrokenPipeError):
        return b""
    finally:
        connection.close()


@pytest.mark.time_limit(120)
def test_slow_requests_are_cut_and_hold_up_nobody(served):
    """The daemon closes the connections of slow requests after a timeout, and they do not delay other requests."""
    slow = [served.connection() for _ in range(40)]
    began = time.monotonic()
    for number, connection in enumerate(slow):
        connection.sendall(b"GET /api/v1/plugs HTTP/1.1\r\nHost: 127" if number % 2 else request(
            "POST", "/api/v1/pairings", headers=["Content-Type: application/json", "Content-Length: 100"])[:-2])
    cut = set()
    while len(cut) < len(slow):
        assert time.monotonic() - began < 60, f"{len(slow) - len(cut)} are still open"
        for connection in set(slow) - cut:
            connection.setblocking(False)
            try:
                # One byte per second prevents the idle timeout.
                if not connection.recv(1 << 14):
                    cut.add(connection)
                else:
                    continue
            except BlockingIOError:
                try:
                    connection.send(b"0")
                except OSError:
                    cut.add(connection)
            except OSError:
                cut.add(connection)
        assert served.ask_tcp("GET", "/api/v1/plugs").status == 200
        time.sleep(1)


def test_answers_say_what_a_browser_must_not_do(served):
    """Every response has the security headers."""
    for path in ("/", "/api/v1/plugs", "/nowhere", "/metrics"):
        headers = served.ask_tcp("GET", path).headers
        assert "default-src 'none'" in headers["content-security-policy"], path
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers


def test_guessing_a_password_is_slow_and_the_right_one_still_opens(lan, plug, controller, tmp_path):
    """After many wrong passwords logins are throttled, and the correct password still works later."""
    lamp = plug(lan.host(), "Lamp")
    host = lan.host()
    person = controller(host)
    told = host.start("sh", "-c", f"echo 'correct horse battery' | {person.program} daemon password", name="password")
    assert told.ended(within=10) == 0, told.transcript()
    served = Served(person, tmp_path / "daemon", "--listen", f"{host.ipv4}:{PORT}").follows(1)
    del lamp

    def ask(method, path, body=b"", headers=()):
        import ssl
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        wrapped = context.wrap_socket(served.connection(host.ipv4))
        wrapped.sendall(request(method, path, f"{host.ipv4}:{PORT}", ["Content-Type: application/json", *headers], body))
        received = b""
        while more := wrapped.recv(1 << 16):
            received += more
        wrapped.close()
        return received

    eventually(lambda: status(ask("GET", "/")) == 200, 10, lambda: f"the page:\n{served.running.transcript()}")
    assert status(ask("GET", "/api/v1/plugs")) == 401
    tried = [status(ask("POST", "/api/v1/session", b'{"password":"wrong %d"}' % number)) for number in range(12)]
    assert set(tried) == {401, 429} or set(tried) == {403, 429}, tried
    assert tried.count(429) >= 8, tried

    def opened():
        answer = ask("POST", "/api/v1/session", b'{"password":"correct horse battery"}')
        return status(answer) == 204 and answer

    answer = eventually(opened, 35, "the login with the correct password").decode()
    cookie = next(line.split(": ", 1)[1].split(";")[0] for line in answer.split("\r\n") if line.lower().startswith("set-cookie"))
    assert "HttpOnly" in answer and "SameSite=Strict" in answer and "Secure" in answer
    assert status(ask("GET", "/api/v1/plugs", headers=[f"Cookie: {cookie}"])) == 200
    assert status(ask("GET", "/api/v1/plugs", headers=[f"Cookie: {cookie[:-2]}xx"])) == 401
    assert b"correct horse" not in served.running.transcript().encode()
