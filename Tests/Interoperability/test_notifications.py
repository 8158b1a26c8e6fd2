"""Notifications of rules to all receivers: a desktop on a real message bus, an ntfy server, mail, a command."""

import email
import email.header
import email.policy
import email.utils
import pathlib

import pytest

from deadlines import eventually
from harness.receivers import Desktop, Ntfy, Program, event_of, settings, token
from harness.served import Served, Stream

SECRET = "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2"
TOPIC = "our-house-7f3a"
RULES = """\
- rule: Tea
  when: { plug: Kettle, button: single }
  limit: { firings: 100, per: 1 min }
  then:
    - notify: { title: "Tee für <b>dich</b>", text: "Wasser kocht & pfeift\\nbcc: x@example.org" }
- rule: Coffee
  when: { plug: Kettle, button: double }
  then:
    - turn on: Kettle
"""


def ntfy_table(server, tmp_path, more=""):
    return f'[phone]\nkind = "ntfy"\nserver = "{server.address}"\ntopic = "{TOPIC}"\ntoken_file = "{tmp_path}/ntfy-token"\n{more}\n'


def command_table(program, more=""):
    return f'[lamp]\nkind = "command"\ncommand = "{program.path} --blink \'two words\'"\n{more}\n'


@pytest.fixture
def house(lan, plug, controller, tmp_path):
    """Returns a function that starts a daemon with one plug on a host, after the settings were written: house(host, desktop)."""
    def start(host, desktop=None):
        plug(lan.host(), "Kettle", simulate="kettle")
        rules = tmp_path / "rules.yaml"
        rules.write_text(RULES)
        person = controller(host)
        if desktop:
            person.under(["env", f"DBUS_SESSION_BUS_ADDRESS={desktop.address}"])
        served = Served(person, tmp_path / "daemon", "--no-dashboard", rules=rules).follows(1)
        served.controller.through(served.socket)
        return served

    return start


def fire(served, rule="Tea"):
    return served.controller.does("rules", "fire", rule, "--json").objects[0]["id"]


def outcomes(served):
    told = [line.json for line in list(served.running.lines) if isinstance(line.json, dict)]
    return [one for one in told if one["event"] == "effect" and one["effect"] == "notify"]


def ended(served, count, within=10):
    return eventually(
        lambda: len(found := outcomes(served)) >= count and found, within,
        lambda: f"{count} notifications that ended:\n{served.running.transcript()}")


def keeps_secrets(lan):
    told = "\n".join(text for name, text in lan.transcripts if not name.startswith("ntfy"))
    assert SECRET not in told and TOPIC not in told, told


def test_everybody_gets_a_test_and_says_how(lan, controller, tmp_path):
    """`plugctl notify` sends to all four receivers with their settings, and prints no secret."""
    host = lan.host()
    desktop, phone = Desktop(host, tmp_path, "body", "body-markup"), Ntfy(host, 200)
    mail, lamp = Program(tmp_path, "sendmail"), Program(tmp_path, "blink")
    token(tmp_path, SECRET + "\n")
    settings(
        tmp_path, '[desk]\nkind = "desktop"\nurgency = "critical"\n'
        + ntfy_table(phone, tmp_path, 'priority = "high"\ntags = "tea,café"') + command_table(lamp)
        + f'[letters]\nkind = "mail"\nsendmail = "{mail.path}"\nto = "you@example.org, me@example.org"\nfrom = "plugs@example.org"\n')
    person = controller(host)
    person.under(["env", f"DBUS_SESSION_BUS_ADDRESS={desktop.address}"])
    done = person.does("notify", "Wasser <kocht> & pfeift", "--title", "Tee für dich\nBcc: x@example.org", "--json")
    assert {one["receiver"]: (one["kind"], one["outcome"]) for one in done.objects} == {
        "desk": ("desktop", "done"), "phone": ("ntfy", "done"), "lamp": ("command", "done"), "letters": ("mail", "done")}

    [shown] = desktop.shown
    assert (shown["application"], shown["urgency"], shown["replaces"], shown["actions"]) == ("smartplug", 2, 0, 0)
    assert (shown["summary"], shown["body"]) == ("Tee für dich Bcc: x@example.org", "Wasser &lt;kocht&gt; &amp; pfeift")

    [message] = phone.messages
    assert (message["path"], message["body"]) == (f"/{TOPIC}", "Wasser <kocht> & pfeift")
    head = message["headers"]
    assert (head["authorization"], head["priority"]) == (f"Bearer {SECRET}", "high")
    assert decoded(head["title"]) == "Tee für dich Bcc: x@example.org" and decoded(head["tags"]) == "tea,café"

    [(words, text)] = mail.given
    assert words == b"-t -i"
    check_mail(text, "Tee für dich Bcc: x@example.org", "Wasser <kocht> & pfeift")

    [(words, _)] = lamp.given
    assert words == b"--blink two words"
    told = event_of(lamp.given[0])
    assert (told["title"], told["text"]) == ("Tee für dich\nBcc: x@example.org", "Wasser <kocht> & pfeift"), told
    assert told["rule"] == "plugctl notify" and len(told["id"]) == 32
    keeps_secrets(lan)


def decoded(field):
    """Decodes a header of encoded words (RFC 2047)."""
    return str(email.header.make_header(email.header.decode_header(field)))


def check_mail(text, subject, body):
    """Expects that the message is valid, and has this subject and body."""
    message = email.message_from_bytes(text, policy=email.policy.default)
    assert not message.defects and not any(message[name].defects for name in message.keys()), text
    assert message["subject"] == subject
    assert [address.addr_spec for address in message["to"].addresses] == ["you@example.org", "me@example.org"]
    assert message["from"].addresses[0].addr_spec == "plugs@example.org" and message["bcc"] is None
    assert message.get_content_type() == "text/plain" and message.get_content_charset() == "utf-8"
    assert message.get_content().startswith(body + "\n\n-- \n"), message.get_content()
    assert abs(message["date"].datetime.timestamp() - email.utils.localtime().timestamp()) < 60
    assert message["auto-submitted"] == "auto-generated" and message["message-id"].count("@") == 1
    assert text.isascii() and b"\r" not in text and max(map(len, text.split(b"\n"))) <= 78


def test_whoever_fails_is_told_with_what_to_try(lan, controller, tmp_path):
    """Each failed receiver is reported with its reason and a hint."""
    host = lan.host()
    desktop, phone = Desktop(host, tmp_path, "body", manner="--refuse"), Ntfy(host, 403)
    mail, lamp = Program(tmp_path, "sendmail"), Program(tmp_path, "blink")
    mail.fails(75)
    file = token(tmp_path, SECRET)
    settings(
        tmp_path, '[desk]\nkind = "desktop"\n' + ntfy_table(phone, tmp_path) + command_table(lamp)
        + f'[letters]\nkind = "mail"\nsendmail = "{mail.path}"\nto = "you@example.org"\n')
    person = controller(host)
    person.under(["env", f"DBUS_SESSION_BUS_ADDRESS={desktop.address}"])
    told = person.finish("notify", "Hello")
    assert told.status == 2 and told.output == "lamp: done", told
    for words in ("desk: notify-send ended with status 1: ", "the screen is locked", f"phone: {phone.address}: status 403", "hint: set token_file",
                  "ended with status 75: not now"):
        assert words in told.errors, told
    file.chmod(0o640)
    told = person.finish("notify", "Hello")
    assert "phone: refusing to read the secret" in told.errors and "chmod 600" in told.errors, told
    assert len(phone.messages) == 1
    # No user is logged in.
    settings(tmp_path, '[desk]\nkind = "desktop"\n')
    alone = controller(host)
    alone.under(["env", "-u", "DBUS_SESSION_BUS_ADDRESS", "-u", "XDG_RUNTIME_DIR"])
    told = alone.finish("notify", "Hello")
    assert told.status == 1 and "notify-send ended with status 1" in told.errors and "hint: log in as this user" in told.errors, told
    settings(tmp_path, "# no receivers\n")
    told = person.finish("notify", "Hello")
    assert told.status == 1 and "no receivers are configured" in told.errors and "hint: " in told.errors, told
    keeps_secrets(lan)


def test_a_desktop_that_hangs_is_not_waited_for_for_ever(lan, controller, tmp_path):
    """A desktop that hangs is a failure after a timeout."""
    host = lan.host()
    desktop = Desktop(host, tmp_path, "body", manner="--hang")
    settings(tmp_path, '[desk]\nkind = "desktop"\n')
    person = controller(host)
    person.under(["env", f"DBUS_SESSION_BUS_ADDRESS={desktop.address}"])
    told = person.finish("notify", "a < b", within=20)
    assert told.status == 1, told
    assert "notify-send took longer than 10 s and was ended" in told.errors, told
    assert [shown["body"] for shown in desktop.shown] == ["a &lt; b"]


def test_one_that_fails_twice_is_tried_again_and_no_other_gets_it_twice(lan, house, tmp_path):
    """A receiver that fails twice is retried with the same id, and the other receivers get the notification once."""
    host = lan.host()
    desktop, phone = Desktop(host, tmp_path, "body", "body-markup"), Ntfy(host, 503, 500, 200)
    lamp = Program(tmp_path, "blink")
    token(tmp_path, SECRET)
    settings(tmp_path, '[desk]\nkind = "desktop"\n' + ntfy_table(phone, tmp_path) + command_table(lamp))
    served = house(host, desktop)
    stream = Stream(served)
    stream.seen("house")
    event = fire(served)
    # The page gets the notification without waiting for receivers.
    assert stream.seen("notification", within=5)[2]["title"] == "Tee für <b>dich</b>"
    [done] = ended(served, 1, within=20)
    assert done["outcome"] == "done", done
    assert [message["answer"] for message in phone.messages] == ["503", "500", "200"]
    assert len({message["headers"]["idempotency-key"] for message in phone.messages}) == 1
    assert len(desktop.shown) == 1 and len(lamp.given) == 1
    assert desktop.shown[0]["summary"] == "Tee für <b>dich</b>" and "&amp; pfeift" in desktop.shown[0]["body"]
    told = event_of(lamp.given[0])
    assert told["rule"] == "Tea" and told["text"].startswith("Wasser kocht & pfeift\n") and len(event) == 32
    stream.close()
    keeps_secrets(lan)


def test_one_that_hangs_holds_up_nobody_and_what_is_too_much_is_told(lan, house, tmp_path):
    """A receiver that hangs does not delay others; notifications above the limit per minute are reported as
    dropped."""
    host = lan.host()
    phone, lamp = Ntfy(host, "hang"), Program(tmp_path, "blink")
    token(tmp_path, SECRET)
    settings(tmp_path, ntfy_table(phone, tmp_path, "per_minute = 2") + command_table(lamp, "per_minute = 5"))
    served = house(host)
    for _ in range(6):
        fire(served)
    # The lamp gets all notifications that its limit permits, before the phone has answered once.
    eventually(lambda: len(lamp.given) == 5, 8, lambda: f"five notifications:\n{served.running.transcript()}")
    assert len(phone.messages) == 1
    why = [one["why"] for one in ended(served, 4)]
    assert all("phone: dropped: more than 2 within a minute" in words for words in why), why
    assert sum("lamp: dropped: more than 5 within a minute" in words for words in why) == 1, why
    # Rules continue.
    fire(served, "Coffee")
    served.running.seen_object(lambda told: told["event"] == "command" and told["outcome"] == "done", 5, "a command")


def test_what_was_cut_short_by_a_kill_comes_again(lan, house, tmp_path):
    """A notification that was interrupted by a kill is sent again with the same id."""
    host = lan.host()
    lamp = Program(tmp_path, "blink")
    settings(tmp_path, command_table(lamp))
    lamp.fails(1)
    served = house(host)
    fire(served)
    eventually(lambda: len(lamp.given) >= 1, 5, "the first attempt")
    served.kill()
    lamp.fails(None)
    served.start()
    [done] = ended(served, 1)
    assert done["outcome"] == "done", done
    ids = {event_of(given)["id"] for given in lamp.given}
    assert len(ids) == 1 and len(lamp.given) >= 2


def test_broken_settings_are_told_and_the_rules_run(lan, house, controller, tmp_path):
    """An error in the settings is logged with its line, and the rules still run."""
    host = lan.host()
    file = settings(tmp_path, '[phone]\nkind = "ntfy"\ntopic = "x"\ntokn_file = "y"\n')
    told = controller(host).finish("notify", "Hello")
    assert told.status == 1 and f"{file}:4: [phone] tokn_file" in told.errors and "did you mean token_file?" in told.errors, told
    served = house(host)
    served.running.seen(lambda line: line.error and f"{file}:4:" in line.text, 5, "the error in the settings")
    fire(served)
    [failed] = ended(served, 1)
    assert failed["outcome"] == "failed" and f"{pathlib.Path(file)}:4" in failed["why"], failed
    fire(served, "Coffee")
    served.running.seen_object(lambda told: told["event"] == "command" and told["outcome"] == "done", 5, "a command")
