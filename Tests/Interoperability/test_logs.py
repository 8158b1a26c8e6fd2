"""A plug's log over a session has detailed levels only while a controller follows the log, and never contains a secret."""

LINE = "the button is down"


def test_a_press_is_a_debug_line_for_who_follows_and_the_level_falls_back(lan, plug, controller):
    """A debug line is sent to a follower of level debug, and the level falls back when the follower disconnects."""
    lamp = plug(lan.host(), "Lamp")
    person = controller(lan.host())
    following = person.start("logs", "Lamp", "--level", "debug", "--for", "6s")
    following.seen(lambda line: "controller connected" in line.text or "follows the log" in line.text, 5, "the first line")
    assert lamp.press().status == 0
    following.seen(lambda line: " debug " in line.text and line.text.endswith(f"PlugService: {LINE}"), 4, "the press")
    assert following.ended(within=8) == 0, following.transcript()
    told = following.transcript()
    assert 'announced as "Lamp"' in told, f"an earlier line is missing:\n{told}"
    lamp.running.seen(lambda line: "no client follows the log" in line.text, 5, "the return to the configured level")
    # The second press is not logged at level debug, so the stored lines contain only the first press.
    assert lamp.press().status == 0
    later = person.does("logs", "Lamp", "--level", "debug", "--for", "2s", "--json").objects
    assert sum(record.get("message") == LINE for record in later) == 1, later
    assert all(record["event"] == "line" and record["plug"] == "Lamp" and record["at"][:2] == "20" for record in later)
    assert LINE not in lamp.running.transcript(), "the plug's own output contains a line that is more detailed than its configured level"


def test_a_third_is_refused_and_nobody_reads_the_setup_code(lan, plug, controller):
    """A third follower is refused with a hint, and the setup code never appears in the log."""
    lamp = plug(lan.host(), "Lamp")
    host = lan.host()
    person = controller(host)
    both = [person.start("logs", "Lamp", "--level", "trace") for _ in range(2)]
    for following in both:
        following.seen(lambda line: "PlugService" in line.text, 10, "a line")
    refused = person.finish("logs", "Lamp")
    assert refused.status == 1 and "2 sessions already follow this plug's log" in refused.errors, refused
    assert "hint:" in refused.errors and not refused.output, refused
    person.does("toggle", "Lamp")
    both[0].seen(lambda line: " trace " in line.text, 5, "a line of level trace")
    code = lamp.setup_code().read_text().split()[0]
    for following in both:
        following.terminate()
        assert following.ended(within=5) == 0
        told = following.transcript()
        assert "relay o" in told and code not in told and code.replace("-", "") not in told
