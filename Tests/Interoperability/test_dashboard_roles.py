"""Dashboard passwords with roles, and `plugctl` commands that list and end sessions."""

import json
import ssl
import time

import pytest

from deadlines import eventually
from harness.served import PORT, Served
from test_http_faults import request, status

OWNERS, VIEWERS = "correct horse battery", "just looking thanks"


class Guarded:
    """A lamp, and a daemon whose dashboard is reachable from the network."""

    def __init__(self, lan, plug, controller, folder):
        self.lamp = plug(lan.host(), "Lamp")
        self.host, self.folder = lan.host(), folder
        self.person = controller(self.host)
        self.set(OWNERS)
        self.set(VIEWERS, "Hallway", "--as", "viewer")
        self.served = Served(self.person, folder / "daemon", "--listen", f"{self.host.ipv4}:{PORT}").follows(1)
        self.person.through(self.served.socket)
        eventually(lambda: status(self.ask("GET", "/")) == 200, 10, "the page")

    def set(self, password, *words):
        told = self.typed(password, *words)
        assert told.status == 0, told

    def typed(self, password, *words):
        typed = self.folder / "typed"
        typed.write_text(password + "\n")
        return self.host.finish(
            "sh", "-c", 'typed=$1; shift; exec "$@" < "$typed"', "sh", typed, self.person.program, "daemon", "password", *words)

    def ask(self, method, path, body=b"", *headers):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        wrapped = context.wrap_socket(self.served.connection(self.host.ipv4))
        wrapped.sendall(request(method, path, f"{self.host.ipv4}:{PORT}", ["Content-Type: application/json", *headers], body))
        received = b""
        while more := wrapped.recv(1 << 16):
            received += more
        wrapped.close()
        return received

    def log_in(self, password):
        """Returns the Cookie header of a new session."""
        def opened():
            answer = self.ask("POST", "/api/v1/session", json.dumps({"password": password}).encode())
            return status(answer) == 204 and answer.decode()

        answer = eventually(opened, 35, "the login with the correct password")
        cookie = next(line.split(": ", 1)[1].split(";")[0] for line in answer.split("\r\n") if line.lower().startswith("set-cookie"))
        return f"Cookie: {cookie}"

    def sees_house(self, cookie):
        return status(self.ask("GET", "/api/v1/house", b"", cookie)) == 200

    def sessions(self, *words):
        return self.person.does("daemon", "sessions", "--json", *words).objects


@pytest.fixture
def guarded(lan, plug, controller, tmp_path):
    return Guarded(lan, plug, controller, tmp_path)


def test_sessions_are_shown_and_ended_and_stay_so_over_a_restart(guarded):
    """Sessions are listed without their secrets; ended sessions stay ended after a restart."""
    cookies = [guarded.log_in(OWNERS), guarded.log_in(VIEWERS), guarded.log_in(VIEWERS)]
    owner, hallway, other = told = guarded.sessions()
    assert [(one["name"], one["role"]) for one in told] == [("owner", "owner"), ("Hallway", "viewer"), ("Hallway", "viewer")]
    assert all(one["address"] == guarded.host.ipv4 and one["since"] and one["lastUsed"] and one["device"] for one in told)
    assert not any(value in json.dumps(told) for value in [cookie.split("=")[1] for cookie in cookies])
    assert f"{hallway['id']}  Hallway, viewer" in guarded.person.does("daemon", "sessions").output

    assert guarded.sessions("--end", hallway["id"]) == [hallway]
    assert [guarded.sees_house(cookie) for cookie in cookies] == [True, False, True]
    again = guarded.person.finish("daemon", "sessions", "--end", hallway["id"])
    assert again.status == 1 and "no session has this id" in again.errors and "hint:" in again.errors

    # Logins are stored once per second, so a daemon that is killed earlier may forget the newest one.
    time.sleep(1.5)
    guarded.served.kill()
    guarded.served.start()
    guarded.served.follows(1)
    eventually(lambda: status(guarded.ask("GET", "/")) == 200, 10, "the page")
    assert [guarded.sees_house(cookie) for cookie in cookies] == [True, False, True]
    assert status(guarded.ask("DELETE", "/api/v1/session", b"", cookies[0])) == 204
    assert [one["id"] for one in guarded.sessions("--end-all")] == [other["id"]]
    assert [guarded.sees_house(cookie) for cookie in cookies] == [False, False, False]
    assert guarded.person.does("daemon", "sessions").output.strip() == "no sessions are open"
    kept = (guarded.folder / "daemon" / "daemon" / "dashboard" / "sessions").read_text()
    assert json.loads(kept) == []
    assert not any(cookie.split("=")[1] in guarded.served.running.transcript() for cookie in cookies)


def test_a_viewers_password_only_looks(guarded):
    """A viewer may read, but not switch plugs or list sessions."""
    viewer = guarded.log_in(VIEWERS)
    before = guarded.lamp.status()["relay"]
    refused = guarded.ask("POST", "/api/v1/plugs/Lamp/relay", b'{"on":true}', viewer)
    assert status(refused) == 403
    assert b"a viewer may not turn plugs on or off; an owner of the dashboard may allow it" in refused
    assert status(guarded.ask("GET", "/api/v1/sessions", b"", viewer)) == 403
    assert guarded.lamp.status()["relay"] == before
    owner = guarded.log_in(OWNERS)
    assert status(guarded.ask("POST", "/api/v1/plugs/Lamp/relay", b'{"on":true}', owner)) == 200


def test_passwords_are_set_listed_and_removed(guarded):
    """Passwords with roles and end dates are set, listed and removed; invalid combinations are refused."""
    def listed():
        return {one["name"]: one for one in guarded.person.does("daemon", "password", "--list", "--json").objects}

    guarded.set("a guest's four words", "Visitor", "--as", "guest", "--for", "2d")
    assert {name: one["role"] for name, one in listed().items()} == {"owner": "owner", "Hallway": "viewer", "Visitor": "guest"}
    assert listed()["Visitor"]["until"] and not listed()["Visitor"]["ended"] and "until" not in listed()["Hallway"]
    for password, words, why in (
            (OWNERS, ["Anna", "--as", "user"], "owner already has this password"),
            ("not an owner's", ["owner", "--as", "viewer"], "no other password has the owner role")):
        refused = guarded.typed(password, *words)
        assert refused.status == 1 and why in refused.errors and "hint:" in refused.errors, refused
    for words in (["--as", "guest"], ["--for", "2d"], ["--as", "king"], ["--list", "--remove"], ["--remove", "--as", "user"]):
        assert guarded.typed("a password that is long", *words).status == 64, words
    assert "last password with the owner role" in guarded.person.finish("daemon", "password", "--remove", "owner").errors
    viewer = guarded.log_in(VIEWERS)
    guarded.person.does("daemon", "password", "--remove", "Hallway")
    eventually(lambda: not guarded.sees_house(viewer), 10, "the end of the session of a removed password")
    assert set(listed()) == {"owner", "Visitor"}
    secrets = (guarded.folder / "configuration" / "smartplug" / "dashboard-password")
    assert secrets.stat().st_mode & 0o777 == 0o600
    assert not any(password in secrets.read_text() for password in (OWNERS, VIEWERS, "a guest's four words"))
