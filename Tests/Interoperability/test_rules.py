"""Rules on one host, for plugs on other hosts."""

from deadlines import eventually

MOVIE_NIGHT = """\
- rule: Movie night
  when:
    plug: Television
    active power: { rises above: 40 W }
  then:
    - turn off: Ceiling Light
    - turn on: Amplifier
- rule: Second switch
  when: { plug: Amplifier, button: double }
  then:
    - toggle: Ceiling Light
"""


def daemon(lan, controller, tmp_path, plugs):
    rules = tmp_path / "rules.yaml"
    rules.write_text(MOVIE_NIGHT)
    lines = controller(lan.host()).daemon(rules)
    lines.seen_object(lambda told: told.get("plugs") == plugs, 10, f"following {plugs} plugs")
    return lines


def is_done(plug):
    return lambda told: (told["event"], told.get("plug"), told.get("outcome")) == ("command", plug, "done")


def relay(plug):
    return plug.status()["relay"]


def test_a_rise_switches_plugs_on_other_hosts(lan, plug, controller, tmp_path):
    """A rise of the television's power switches two plugs on other hosts."""
    television = plug(lan.host(), "Television", simulate="television")
    light, amplifier = plug(lan.host(), "Ceiling Light"), plug(lan.host(), "Amplifier", simulate="amplifier")
    lines = daemon(lan, controller, tmp_path, plugs=3)
    person = controller(lan.host())
    person.does("on", "Television", "Ceiling Light")
    person.does("off", "Amplifier")
    assert television.load("on").status == 0
    firing = lines.seen_object(lambda told: told["event"] == "firing", 15, "the firing").json
    assert (firing["rule"], firing["plug"]) == ("Movie night", "Television")
    for name in ("Ceiling Light", "Amplifier"):
        lines.seen_object(is_done(name), 5, f"the answer of {name}")
    assert (relay(light), relay(amplifier)) == ("off", "on")


def test_a_press_counts_again_after_its_plug_was_killed(lan, plug, controller, tmp_path):
    """After a kill and a restart of a plug, its double press fires the rule."""
    host = lan.host()
    light, amplifier = plug(lan.host(), "Ceiling Light"), plug(host, "Amplifier", simulate="amplifier")
    lines = daemon(lan, controller, tmp_path, plugs=2)
    amplifier.running.process.kill()
    amplifier.running.ended(within=5)
    amplifier = plug(host, "Amplifier", simulate="amplifier", state=amplifier.state)
    eventually(
        lambda: sum(bool(line.json) and line.json["event"] == "following" for line in list(lines.lines)) == 3, 10,
        lambda: f"the plug followed again:\n{lines.transcript()}")
    before = relay(light)
    assert amplifier.press("--double").status == 0
    lines.seen_object(is_done("Ceiling Light"), 5, "the light's answer")
    assert relay(light) != before
    assert not [line for line in list(lines.lines) if line.json and line.json["event"] == "gap"]
