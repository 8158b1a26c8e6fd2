"""Tests of `plugd check` with the broken configuration files of PlugConfigurationTests and with the packaged profiles."""

import pathlib
import subprocess

import pytest

BROKEN = pathlib.Path(__file__).parents[1] / "PlugConfigurationTests" / "Broken"
PROFILES = pathlib.Path(__file__).parents[2] / "Firmware" / "Packaging" / "profiles"


def check(programs, file):
    return subprocess.run(
        [programs / "plugd", "check", "--config", file.name, "--state", "/nowhere"], cwd=file.parent, capture_output=True, text=True,
        timeout=20)


@pytest.mark.parametrize("file", sorted(BROKEN.glob("*.toml")), ids=lambda file: file.stem)
def test_a_broken_file_is_refused_with_the_words_that_are_kept(programs, file):
    """A file with errors is refused with the messages in the .txt file of the same name."""
    done = check(programs, file)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", file.with_suffix(".txt").read_text())


@pytest.mark.parametrize("file", sorted(PROFILES.glob("*.toml")), ids=lambda file: file.stem)
def test_a_profile_is_taken_and_its_parts_are_looked_for(programs, file):
    """`plugd check` accepts a profile and reports on each of its parts, which the test machine lacks."""
    done = check(programs, file)
    assert done.returncode == 1 and "refused" not in done.stderr, done
    for part in ("relay", "button", "light", "meter"):
        assert any(part in line for line in done.stdout.splitlines()), done.stdout
