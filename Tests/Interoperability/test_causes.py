"""Each cause of a failure is produced, and `plugd check` or `plugctl doctor` names it with a hint.

Tests/HardwareInTheLoop (test_lines, test_meter) covers missing or wrong lines and chips.
"""

import shutil
import sys

import pytest

from harness.keys import controller_directory
from harness.together import cases
from harness.wall_clock import WrongClock

pytestmark = pytest.mark.time_limit(90)
NOBODY = 65534
BOARD = '[relay]\nline = "GPIO17"\n[meter]\nkind = "ade7953"\n'
HOLDER = "import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('', 5353)); print('bound', flush=True); time.sleep(60)"


# Causes on the plug, reported by plugd check.

def check(house, host, prepare, as_user=()):
    """Runs `plugd check` with its own /dev, which `prepare` fills; the state directory exists and belongs to root."""
    folder = house.folder / "board"
    folder.mkdir()
    (folder / "plugd.toml").write_text(BOARD)
    return host.finish(
        "unshare", "--mount", "--propagation", "private", "sh", "-ec",
        f'install -d -m 700 /run/state; install -m 644 {folder}/plugd.toml /run; mount -t tmpfs dev /dev; {prepare}; exec "$@"',
        "sh", *as_user, house.program("plugd"), "check", "--config", "/run/plugd.toml", "--state", "/run/state")


def told(done, *words):
    assert done.status == 1, done
    assert any(all(word in line for word in words) for line in done.output.splitlines()), (words, done)


def case_no_line(house):
    """A missing GPIO chip is reported with a hint."""
    done = check(house, house.host(), "true")
    told(done, "relay", "there is no GPIO chip", "GPIO driver loaded")


def case_no_chip(house):
    """A missing I2C bus is reported with a hint."""
    done = check(house, house.host(), "true")
    told(done, "meter", "there is no bus /dev/i2c-1", "dtparam=i2c_arm=on")


def case_no_permission(house):
    """Devices that only root may open are reported with the group that a user needs."""
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    done = check(house, house.host(), "mknod -m 600 /dev/gpiochip0 c 254 0; mknod -m 600 /dev/i2c-1 c 89 1", user)
    told(done, "relay", "/dev/gpiochip0 cannot be opened", "permission denied", "group gpio")
    told(done, "meter", "permission denied for /dev/i2c-1", "group i2c")
    told(done, "cannot open /run/state/lock", "Permission denied")
    told(done, "hint: check the owner")


# Causes on the network, reported by plugctl doctor.

def family(house, **how):
    """Starts a plug, waits for its announcement, and makes a paired controller on a second host."""
    lamp = house.plug(house.link.host(), addressing="observe")
    person = house.controller(house.link.host(**how))
    lamp.running.seen(lambda line: "announced as" in line.text, 10, "the announcement")
    return lamp, person


def named(person, level, subject, about, words, *options):
    """Expects that the doctor reports the finding with a hint."""
    done = person.doctor("--wait", "2s", *options)
    found = [told for told in done.objects if (told["level"], told["subject"]) == (level, subject) and about in told["about"]]
    assert any(words in told["what"] and told.get("next") for told in found), done
    assert done.status == (1 if any(told["level"] == "problem" for told in done.objects) else 0), done
    return found[0]


def case_no_address(house):
    """An interface without an address is a problem."""
    lamp, person = family(house, ipv4=False, ipv6=False)
    named(person, "problem", "interface", "eth0", "it has no address to send from")


def case_no_multicast_by_a_flag(house):
    """An interface without the multicast flag is a problem."""
    _, person = family(house)
    person.host.run("ip", "link", "set", "eth0", "multicast", "off")
    named(person, "problem", "interface", "eth0", "multicast is disabled")


def firewall(host, rule):
    host.run("nft", "add table inet wall; add chain inet wall in { type filter hook input priority 0; }; "
             f"add chain inet wall out {{ type filter hook output priority 0; }}; add rule inet wall {rule}")


def case_no_multicast_by_a_firewall_here(house):
    """A local firewall that drops port 5353 is a problem."""
    _, person = family(house)
    firewall(person.host, "in udp dport 5353 drop")
    found = named(person, "problem", "multicast", "eth0", "this host does not receive its own packets")
    assert "firewall" in found["why"] and "5353" in found["next"], found


def case_no_multicast_on_the_way(house):
    """If the network drops multicast, like a wireless network with client isolation, the doctor reports that no packets of other hosts
    arrive."""
    lamp, person = family(house, ipv6=False)
    for host in (lamp.host, person.host):
        host.run("sysctl", "-qw", "net.ipv6.conf.eth0.disable_ipv6=1")
        # A host still receives its own packets.
        firewall(host, f"in iifname eth0 ip daddr 224.0.0.251 ip saddr != {host.ipv4} drop")
    found = named(person, "warning", "multicast", "eth0", "no packets from other hosts")
    assert "isolation" in found["next"], found
    named(person, "problem", "plug", "Lamp", "it is paired but not announced")


def case_wrong_time(house):
    """A wrong clock is a problem."""
    _, person = family(house)
    person.under(WrongClock.of_1970(house.folder).words)
    found = named(person, "problem", "clock", "", "it shows 1970-01-01T00:0")
    assert "set-ntp" in found["next"], found


def case_not_paired(house):
    """A plug that is announced, but was never paired with this controller, is reported with the command that pairs it."""
    lamp, person = family(house)
    shutil.rmtree(controller_directory(house.folder))
    found = named(person, "ok", "service", "Lamp", "not paired with this controller")
    assert 'plugctl pair "Lamp"' in found["next"], found
    named(person, "ok", "controller", "", "no plug is paired yet")


def case_not_paired_any_more(house):
    """A plug that has lost its list of controllers, while this controller still has the plug's key, is reported as no longer paired."""
    lamp, person = family(house)
    lamp.running.terminate()
    lamp.running.ended(10)
    (lamp.state / "controllers").unlink()
    house.plug(lamp.host, addressing="observe", state=lamp.state).running.seen(
        lambda line: "announced as" in line.text, 10, "the announcement")
    found = named(person, "problem", "plug", "Lamp", "the plug is no longer paired with this controller")
    assert "plugctl pair" in found["next"], found


def case_port_blocked_at_the_plug(house):
    """A firewall at the plug that drops connections is a problem."""
    lamp, person = family(house)
    firewall(lamp.host, "in tcp dport 4711 drop")
    found = named(person, "problem", "plug", "Lamp", "no connection within 2 s")
    assert "firewall" in found["next"], found


def case_port_blocked_with_a_refusal(house):
    """A firewall at the plug that resets connections is a problem."""
    lamp, person = family(house)
    firewall(lamp.host, "in tcp dport 4711 reject with tcp reset")
    found = named(person, "problem", "plug", "Lamp", "cannot connect")
    assert "firewall" in found["next"], found


def case_port_kept_by_another_program(house):
    """A program that uses port 5353 exclusively is named."""
    _, person = family(house)
    holder = person.host.start(sys.executable, "-c", HOLDER)
    holder.seen(lambda line: line.text == "bound", 5, "that it opened the port")
    found = named(person, "problem", "multicast", "eth0, IPv4", "cannot open port 5353")
    assert f"(process {holder.process.pid})" in found["why"], found


@pytest.mark.parametrize("case", cases(globals()))
def test_the_cause_is_named(verdicts, case):
    """Reports the verdict of one case."""
    verdicts.of(case)
