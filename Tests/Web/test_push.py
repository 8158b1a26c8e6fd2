"""The switch for notifications on this device, and the service worker that shows them. The browser has no push service here, so the
subscription is replaced, and the message comes from the browser's debugger."""

import json

from playwright.sync_api import expect

from deadlines import eventually
from house import ADDRESS

SUBSCRIPTION = {
    "endpoint": "https://push.example.org/send/secret",
    "keys": {"p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "auth": "BTBZMqHH6r4Tts7J_aSIgg"}}
# Stores the subscription for as long as the page is open.
REPLACED = """(fields) => {
    let subscription = null;
    const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0)).buffer;
    PushManager.prototype.getSubscription = async () => subscription;
    PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => subscription = {
        options: { userVisibleOnly, applicationServerKey: bytes(applicationServerKey) },
        toJSON: () => ({ ...fields, expirationTime: null }), unsubscribe: async () => { subscription = null; return true; } };
}"""
SUBSCRIBED = "async () => (await (await fetch('/api/v1/push')).json()).subscriptions.length"
SHOWN = """async () => (await (await navigator.serviceWorker.ready).getNotifications())
    .map(({ title, body, tag, data }) => ({ title, body, tag, path: data }))"""


def switch(page):
    return page.page.get_by_role("switch", name="Notifications on this device")


def test_notifications_are_turned_on_and_off(page):
    """The switch subscribes the browser at the daemon and ends the subscription; refused permission is explained."""
    expect(switch(page)).to_have_attribute("aria-checked", "false")
    page.page.evaluate(REPLACED, SUBSCRIPTION)
    page.page.evaluate("Notification.requestPermission = async () => 'denied'")
    switch(page).click()
    expect(page.page.get_by_text("The browser does not allow notifications of this page.")).to_be_visible()
    page.page.evaluate("Notification.requestPermission = async () => 'granted'")
    switch(page).click()
    expect(switch(page)).to_have_attribute("aria-checked", "true")
    expect(page.page.get_by_text("The browser does not allow notifications of this page.")).to_be_hidden()
    assert page.page.evaluate(SUBSCRIBED) == 1
    switch(page).click()
    expect(switch(page)).to_have_attribute("aria-checked", "false")
    assert page.page.evaluate(SUBSCRIBED) == 0


def test_the_service_worker_shows_a_message(page):
    """A message of a push service becomes a notification, and a repeated message replaces it."""
    page.page.evaluate("async () => { await navigator.serviceWorker.ready; }")
    page.page.context.grant_permissions(["notifications"], origin=ADDRESS)
    debugger = page.page.context.new_cdp_session(page.page)
    found = []
    debugger.on("ServiceWorker.workerRegistrationUpdated", lambda told: found.extend(told["registrations"]))
    debugger.send("ServiceWorker.enable")
    for _ in range(50):
        if found:
            break
        page.page.wait_for_timeout(100)
    message = {"title": "Laundry", "body": "It is done", "path": "/#rules", "tag": "09" * 16}
    for _ in range(2):
        debugger.send("ServiceWorker.deliverPushMessage", {
            "origin": ADDRESS, "registrationId": found[-1]["registrationId"], "data": json.dumps(message)})
    eventually(lambda: page.page.evaluate(SHOWN) == [message], 10, lambda: f"the notification: {page.page.evaluate(SHOWN)}")
