"""Notifications to browsers by Web Push, through a push service with https whose messages another implementation decrypts."""

import re
import time

import pytest

from deadlines import eventually
from harness.push import Browser, PushService, claims_of
from harness.served import Served

RULES = """\
- rule: Tea
  when: { plug: Kettle, button: single }
  limit: { firings: 100, per: 1 min }
  then:
    - notify: { title: "Tee für <b>dich</b>", text: "Wasser kocht & pfeift" }
"""


@pytest.fixture
def house(lan, plug, controller, tmp_path):
    """Returns a function that starts a push service with these answers, and a daemon that accepts it: house(answers...)."""
    def start(*answers):
        host = lan.host()
        plug(lan.host(), "Kettle", simulate="kettle")
        rules = tmp_path / "rules.yaml"
        rules.write_text(RULES)
        service = PushService(host, tmp_path, *answers)
        served = Served(
            controller(host), tmp_path / "daemon", "--no-dashboard", *service.options, rules=rules).follows(1)
        served.controller.through(served.socket)
        return served, service

    return start


def subscribe(served, browser):
    answer = served.ask("POST", "/api/v1/push/subscriptions", browser.subscription)
    assert answer.status == 200, answer
    return answer.json["id"]


def subscribed(served):
    return [one["id"] for one in served.get("/api/v1/push")["subscriptions"]]


def fire(served):
    return served.controller.does("rules", "fire", "Tea", "--json").objects[0]["id"]


def gets(browser, count, within=20):
    return eventually(
        lambda: len(found := browser.got) >= count and found, within, lambda: f"{count} messages; there are {browser.got}")


def keeps_secrets(lan, *browsers):
    told = "\n".join(text for name, text in lan.transcripts if not name.startswith("push"))
    for browser in browsers:
        for secret in (browser.path, browser.subscription["auth"], browser.subscription["p256dh"]):
            assert secret not in told, told
    assert "vapid" not in told, told


def test_browsers_decrypt_the_notifications_of_a_rule(house, lan):
    """Each subscribed browser gets the notification once, encrypted for it and signed with the daemon's key, also after a restart."""
    served, service = house(201)
    phone, tablet = Browser(service, "phone"), Browser(service, "tablet")
    ids = [subscribe(served, browser) for browser in (phone, tablet)]
    assert subscribed(served) == ids and subscribe(served, phone) == ids[0]
    fire(served)
    [message], [other] = gets(phone, 1), gets(tablet, 1)
    assert message == other and set(message) == {"title", "body", "path", "tag"}
    assert (message["title"], message["body"]) == ("Tee für <b>dich</b>", "Wasser kocht & pfeift")
    assert message["path"] == "/#rules" and re.fullmatch("[0-9a-f]{32}", message["tag"])

    public = served.get("/api/v1/push")["key"]
    for told in service.messages:
        claims = claims_of(told, public)
        assert claims["aud"] == service.origin and claims["sub"] == "mailto:house@example.org"
        assert 0 < claims["exp"] - time.time() <= 86_400
        head = told["headers"]
        assert (head["ttl"], head["urgency"], head["topic"]) == ("86400", "high", message["tag"])
    # All messages have the same length, and each has its own key and salt.
    assert len({len(told["body"]) for told in service.messages}) == 1
    assert len({told["body"][:100] for told in service.messages}) == 2

    folder = served.folder / "daemon" / "dashboard"
    for name in ("push-key", "push-subscriptions.json"):
        assert (folder / name).stat().st_mode & 0o777 == 0o600
    served.kill()
    served.start()
    served.follows(1)
    assert served.get("/api/v1/push")["key"] == public and subscribed(served) == ids
    assert served.ask("DELETE", f"/api/v1/push/subscriptions/{ids[1]}").status == 204
    fire(served)
    assert gets(phone, 2)[1]["body"] == "Wasser kocht & pfeift"
    assert len(tablet.got) == 1
    keeps_secrets(lan, phone, tablet)


def test_a_subscription_that_the_push_service_ended_is_removed(house, lan):
    """An answer of 410 removes the subscription, and no further message is sent."""
    served, service = house(410)
    phone = Browser(service, "phone")
    subscribe(served, phone)
    fire(served)
    gets(phone, 1)
    eventually(lambda: subscribed(served) == [], 10, "that the subscription is removed")
    fire(served)
    # The next subscription gets the next notification, so the first one would have got it too.
    tablet = Browser(service, "tablet")
    subscribe(served, tablet)
    fire(served)
    gets(tablet, 1)
    assert len(phone.got) == 1
    keeps_secrets(lan, phone, tablet)


@pytest.mark.time_limit(120)
def test_a_busy_push_service_is_asked_again_and_others_are_not_delayed(house, lan):
    """After 429, the message is sent again after the time that the service requests. A redirect is not followed, and a refusal is final."""
    served, service = house(429, 201, 302, 400, 201)
    phone = Browser(service, "phone")
    subscribe(served, phone)
    began = time.monotonic()
    fire(served)
    first, second = gets(phone, 2, within=40)
    assert first == second and time.monotonic() - began >= 6
    for count in (3, 4, 5):
        fire(served)
        gets(phone, count)
    # The notifications after the redirect and after the refusal have arrived, so these were not repeated before.
    assert [told["answer"] for told in service.messages] == [429, 201, 302, 400, 201]
    assert not any(told["path"] == "/redirected" for told in service.messages)
    served.running.seen(lambda line: "status 400" in line.text, 10, "the reason of the refusal")
    assert service.origin in served.running.transcript()
    keeps_secrets(lan, phone)


def test_local_addresses_are_refused(house, lan):
    """A subscription may not make the daemon send requests to a host of the local network, unless the owner listed it."""
    served, service = house(201)
    port = service.origin.rpartition(":")[2]
    for place in ("https://127.0.0.1:" + port, "https://localhost", "https://localhost:1", "https://printer.local", "http://push.example.org",
                  "https://[::1]:" + port, "https://push.example.org:8443", service.origin + "@127.0.0.1"):
        phone = Browser(service, "phone")
        answer = served.ask("POST", "/api/v1/push/subscriptions", {**phone.subscription, "endpoint": place + phone.path})
        assert answer.status == 422 and phone.path not in answer.body.decode(), answer
    assert subscribed(served) == []
    assert service.messages == []


def test_options_of_push_services_are_checked(lan, controller):
    """Options that do not name a push service, its authorities or a contact are refused with a hint."""
    person = controller(lan.host())
    for words, why in ((["--push-service", "http://push.example.org"], "is not a push service"),
                       (["--push-authority", "ca.pem"], "requires --push-service"), (["--push-contact", "me"], "is not a contact")):
        refused = person.finish("daemon", *words)
        assert refused.status == 64 and why in refused.errors, refused
