"""Options read a word that begins with a dash as their value, such as a negative number, and do not report a missing value."""

import subprocess

import pytest


@pytest.mark.parametrize("place", ["-33.87,151.21", "-33.87, -70.65", "52.52,-13.4"])
def test_a_place_in_the_south_or_west_is_accepted(programs, tmp_path, place):
    """A location with negative coordinates is accepted."""
    rules = tmp_path / "rules.yaml"
    rules.write_text("- rule: Evening\n  when: { sun: sunset }\n  then:\n    - turn on: Lamp\n")
    words = ["rules", "check", "--offline", "--location", place, rules]
    told = subprocess.run([programs / "plugctl", *words], capture_output=True, text=True, timeout=30)
    assert "Missing value" not in told.stderr and "not a valid latitude" not in told.stderr, told


@pytest.mark.parametrize("words", [
    ("watch", "--dead-band", "-5W"), ("watch", "--for", "-5s"), ("audit", "Lamp", "--limit", "-1"), ("off", "Lamp", "--wait", "-1s"),
    ("dim", "Lamp", "5%", "--over", "-1s"), ("chart", "Lamp", "--last", "-1d"),
])
def test_a_negative_value_is_refused_as_such(programs, words):
    """An invalid negative value is refused as a value, not as a missing one."""
    told = subprocess.run([programs / "plugctl", *words], capture_output=True, text=True, timeout=30)
    assert told.returncode == 64 and "Missing value" not in told.stderr, told


@pytest.mark.parametrize("words, status, error", [
    (("dim", "Lamp", "-5%"), 64, "the level is -5%, but it must be between 0% and 100%"),
    (("togle", "Lamp"), 64, "did you mean `plugctl toggle`?"),
    (("browse", "--interface", "nowhere0", "--for", "1s"), 1, 'the network interface "nowhere0" does not exist'),
    (("on", "Lamp", "--interface", "nowhere0"), 1, 'the network interface "nowhere0" does not exist'),
    (("daemon", "--rules", "/nowhere/rules.yaml"), 1, "the rules /nowhere/rules.yaml do not exist"),
])
def test_a_wrong_argument_is_named(programs, tmp_path, words, status, error):
    """The error names a wrong level, subcommand, interface or file."""
    told = subprocess.run(
        [programs / "plugctl", *words], capture_output=True, text=True, timeout=30, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})
    assert told.returncode == status and error in told.stderr, told
