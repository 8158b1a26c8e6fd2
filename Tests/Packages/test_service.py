"""The firmware's service, run by the systemd of a clean system."""

import os
import re
import time

import pytest

from harness.board import CONFIGURATION

WORST_EXPOSURE = 2.0  # on the scale of systemd-analyze from 0 to 10
# Limits of an idle plugd: megabytes, and per cent of one core.
RESIDENT_LIMIT, ANONYMOUS_LIMIT, CPU_LIMIT = 28.0, 3.0, 0.5
ADDRESS_SECONDS = 30  # On an idle machine, the selection of RFC 3927 takes at most 7 s.
CAPABILITIES = 1 << 12 | 1 << 13  # CAP_NET_ADMIN, CAP_NET_RAW
FILTER = "2"


@pytest.fixture
def lamp(board):
    """A running plug with simulated parts."""
    board.simulate()
    board.does("systemctl start plugd")
    return board


def test_its_service_exposes_little(board):
    """systemd-analyze reports an exposure level of at most WORST_EXPOSURE for the service."""
    told = board.does("systemd-analyze security --offline=true --no-pager /lib/systemd/system/plugd.service")
    exposure = float(re.search(r"Overall exposure level for plugd.service: ([\d.]+)", told)[1])
    print(f"plugd.service: exposure {exposure} (at most {WORST_EXPOSURE})")
    assert exposure <= WORST_EXPOSURE


def test_systemd_understands_the_whole_service(board):
    """systemd-analyze accepts all settings of the service, except one that only later versions of systemd know."""
    told = board.tries("systemd-analyze verify --man=no plugd.service").stderr.splitlines()
    assert [line for line in told if "plugd.service" in line and "FileDescriptorStorePreserve" not in line] == []


def test_udev_understands_the_rules(board):
    """udev reports no error in the package's udev rules."""
    told = board.tries("SYSTEMD_LOG_LEVEL=debug udevadm test /class/mem/null 2>&1").stdout
    assert "60-smartplug.rules" in told
    assert [line for line in told.splitlines() if re.search(r"60-smartplug.rules:\d+", line)] == []


def test_it_waits_until_parts_are_named(board):
    """The service is enabled, but does not start without configured parts."""
    assert board.unit("UnitFileState", "ActiveState", "Result") == ("enabled", "inactive", "exec-condition")
    assert board.system.processes("plugd") == []


@pytest.fixture
def bare_board(board):
    """The board's configuration names a relay on a line that this machine does not have."""
    whole = board.does(f"cat {CONFIGURATION}")
    board.system.write(CONFIGURATION, '[relay]\nline = "GPIO17"\n')
    yield board
    board.does("systemctl stop plugd")
    board.system.write(CONFIGURATION, whole)


def test_it_starts_with_parts_that_are_not_there_and_says_so(bare_board):
    """With missing parts plugd runs and reports the faults."""
    bare_board.does("systemctl start plugd")
    assert bare_board.unit("ActiveState") == "active"
    assert any("GPIO17" in fault for fault in bare_board.status()["faults"].values())


def test_it_takes_little_when_idle(lamp):
    """Memory and processor use of an idle plugd are below the limits."""
    process = lamp.unit("MainPID")
    time.sleep(3)  # plugd first announces itself, and is then idle.

    def ticks():
        return sum(map(int, lamp.does(f"cat /proc/{process}/stat").rpartition(")")[2].split()[11:13]))

    before, seconds = ticks(), 10
    time.sleep(seconds)
    share = (ticks() - before) / os.sysconf("SC_CLK_TCK") / seconds * 100
    rollup = lamp.does(f"cat /proc/{process}/smaps_rollup")
    resident, anonymous = (int(re.search(rf"^{name}: +(\d+)", rollup, re.MULTILINE)[1]) / 1024 for name in ("Rss", "Anonymous"))
    print(f"{resident:.1f} MB resident, {anonymous:.2f} MB anonymous, {share:.2f} % of a core")
    assert resident <= RESIDENT_LIMIT and anonymous <= ANONYMOUS_LIMIT and share <= CPU_LIMIT


def test_it_is_ready_as_a_user_of_its_own_with_what_it_needs(lamp):
    """The service runs as its own user with two capabilities, a seccomp filter and the groups for devices."""
    assert lamp.unit("Type", "ActiveState", "User") == ("notify", "active", "plugd")
    status = lamp.process_status()
    uid = lamp.does("id --user plugd").strip()
    assert status["Uid"].split() == [uid] * 4 and uid != "0"
    assert [int(status[name], 16) for name in ("CapPrm", "CapEff", "CapBnd")] == [CAPABILITIES] * 3
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", FILTER)
    groups = lamp.does("id --groups --name plugd").split()
    assert {"gpio", "i2c"} <= set(groups)


def test_its_button_turns_the_relay_over(lamp):
    """`plugd press` toggles the relay."""
    before = lamp.status()["relay"]
    lamp.does("plugd press")
    after = lamp.system.waits_for("the relay", 15, lambda: (now := lamp.status()["relay"]) != before and now)
    assert {before, after} == {"on", "off"}


def test_it_gives_its_network_addresses_and_is_paired_and_switched(lamp):
    """The plug claims an address, is paired and switched, and its log contains no denied access."""
    on_network = lamp.system.on_its_network
    on_network("ip", "link", "add", "home", "type", "veth", "peer", "name", "cable")
    on_network("ip", "link", "set", "cable", "up")
    on_network("ip", "link", "set", "home", "up")
    lamp.system.waits_for("an address", ADDRESS_SECONDS, lambda: "link-local address is 169.254" in lamp.log())
    lamp.does("plugd identity --plain | plugctl pair Lamp --wait 20s --interface home")
    lamp.does("plugctl off Lamp --interface home && plugctl on Lamp --interface home")
    assert lamp.status()["relay"] == "on"
    assert [line for line in lamp.log().splitlines() if re.search("denied|not permitted|[Rr]ead-only", line)] == []


def test_it_is_started_again_as_it_was_when_it_is_killed(lamp):
    """After a kill plugd is restarted with the same id and relay state."""
    if lamp.status()["relay"] == "off":
        lamp.does("plugd press")
    before, restarts = lamp.status(), int(lamp.unit("NRestarts"))
    lamp.does("systemctl kill --signal=KILL plugd")
    lamp.system.waits_for("the next plugd", 15, lambda: int(lamp.unit("NRestarts")) == restarts + 1)
    after = lamp.system.waits_for("its answer", 15, lamp.status)
    assert (after["id"], after["relay"]) == (before["id"], "on")
    assert after["nextSequence"] >= before["nextSequence"]


def test_one_that_hangs_is_ended_and_started_again(lamp):
    """A plugd that hangs is killed by the watchdog and restarted."""
    impatience = "/etc/systemd/system/plugd.service.d/watchdog.conf"
    lamp.system.write(impatience, "[Service]\nWatchdogSec=2s\n")
    lamp.does("systemctl daemon-reload && systemctl restart plugd")
    process = lamp.unit("MainPID")
    lamp.does(f"kill -STOP {process}")
    lamp.system.waits_for("a new plugd", 30, lambda: lamp.unit("MainPID") not in (process, "0"))
    assert "Watchdog timeout" in lamp.does("journalctl --unit=plugd --no-pager")
    lamp.does(f"rm {impatience} && systemctl daemon-reload && systemctl restart plugd")


def test_an_upgrade_restarts_it_and_leaves_the_relay(lamp):
    """An upgrade restarts plugd and keeps the id and the relay's state."""
    before, process = lamp.status(), lamp.unit("MainPID")
    lamp.install()
    assert lamp.unit("ActiveState") == "active"
    assert lamp.unit("MainPID") != process
    assert (lamp.status()["id"], lamp.status()["relay"]) == (before["id"], before["relay"])


def test_removed_it_leaves_no_process_and_keeps_its_state(lamp):
    """Removing the package ends plugd and keeps its state for a new installation."""
    code = lamp.does("plugd identity --plain")
    identifier = lamp.status()["id"]
    lamp.does("dpkg --remove smartplug-firmware smartplug-controller")
    assert lamp.system.processes("plugd") == []
    assert lamp.tries("systemctl is-active plugd").stdout.strip() == "inactive"
    assert "/var/lib/plugd/setup-code" in lamp.system.files()
    lamp.install()
    lamp.simulate()
    lamp.does("systemctl start plugd")
    assert (lamp.does("plugd identity --plain"), lamp.status()["id"]) == (code, identifier)


def test_purged_it_leaves_nothing(lamp):
    """Purging the packages removes all files, users and processes."""
    lamp.does("rm -rf /etc/systemd/system/plugd.service.d /root/*.deb /root/.local")
    lamp.does("dpkg --purge smartplug-firmware smartplug-controller")
    assert lamp.system.processes("plugd") == []
    assert left(lamp) == []
    assert not re.search(r"\bplugd\b", lamp.does("cat /etc/passwd /etc/group"))
    assert lamp.tries("test -e /run/plugd").returncode == 1


def left(board):
    """Returns the files that did not exist before the installation. Files of dpkg and the journal, caches, and
    backups of the lists of users are not counted, because the system writes them."""
    kept = re.compile(r"/var/(lib/dpkg|log|cache)/|/etc/(passwd|group|shadow|gshadow|subuid|subgid)-|/etc/\.pwd\.lock")
    return sorted(file for file in board.system.files() - board.files_before if not kept.match(file))
