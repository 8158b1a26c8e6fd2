"""The sandbox of scripts: native code inside it, as after an escape from Lua, cannot leave it."""

import os
import pathlib
import signal
import subprocess

import pytest

from harness.script_host import ScriptHost

SOURCES = pathlib.Path(__file__).parents[2] / "Controller" / "ScriptHost"

FORBIDDEN = [
    "open", "create", "getdents", "socket", "unix-socket", "send", "fork", "thread", "execve", "ptrace", "process_vm_readv", "kill",
    "prctl", "write-2", "read-7", "dup", "mmap-code", "mmap-file", "mprotect", "setrlimit", "alarm", "sigaction", "setuid", "nanosleep",
    "settime", "io_uring",
]
# The ways to start the program: as root, as a user, as a user in a hardened service, and as root of a user namespace.
AS = {
    "root": [],
    "user": ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups"],
    "service": ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"],
    "namespace": ["unshare", "--user", "--map-root-user"],
}


@pytest.fixture(scope="module")
def attempt(tmp_path_factory):
    folder = pathlib.Path("/run") / "cage"
    folder.mkdir(exist_ok=True)
    program = folder / "cage_attempt"
    source = pathlib.Path(__file__).parent / "harness" / "cage_attempt.c"
    subprocess.run(
        ["cc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{SOURCES}", "-o", program, source, SOURCES / "cage.c", "-lseccomp"],
        check=True)

    def run(what, who="root"):
        return subprocess.run([*AS[who], program, what], capture_output=True, text=True, timeout=30)

    return run


@pytest.mark.parametrize("what", FORBIDDEN)
def test_forbidden_call_kills(attempt, what):
    """Each forbidden call kills the process with SIGSYS."""
    result = attempt(what)
    assert result.stdout == "closed\n", result
    assert result.returncode == -signal.SIGSYS


@pytest.mark.parametrize("who", AS)
def test_cage_closes_for_everybody(attempt, who):
    """The sandbox stops `open` and `fork` for each way to start the program."""
    for what in ("open", "fork"):
        result = attempt(what, who)
        assert (result.stdout, result.returncode) == ("closed\n", -signal.SIGSYS), result


@pytest.mark.parametrize("who", AS)
def test_what_lua_needs_is_allowed(attempt, who):
    """The calls that Lua needs are allowed."""
    result = attempt("memory", who)
    assert (result.stdout, result.returncode) == ("closed\nOUT\n", 0), result


def test_computing_without_an_end_is_ended_by_the_kernel(attempt):
    """The kernel ends endless computation."""
    assert attempt("compute").returncode == -signal.SIGPROF


def test_memory_has_a_second_wall(attempt):
    """The kernel limits memory, in addition to Lua's own limit."""
    result = attempt("fill")
    assert (result.stdout, result.returncode) == ("closed\n", 0), result


# MARK: - The program itself

@pytest.fixture(params=AS)
def host(request, programs):
    with ScriptHost(programs / "plugctl-script", before=AS[request.param]) as host:
        host.load('on("A", "button", "long", function() end)')
        yield host


def test_process_has_nothing(host):
    """The script host has no capabilities, only descriptors 0 to 2, and limits of zero for files and processes."""
    assert host.descriptors() == [0, 1, 2]
    assert host.status("Seccomp") == "2", "no seccomp filter is installed"
    assert host.status("NoNewPrivs") == "1"
    assert {host.status(key) for key in ("CapPrm", "CapEff", "CapInh", "CapAmb")} == {"0" * 16}
    assert "0" not in host.status("Uid").split() or host.process.args[0] == "unshare", "root did not change to an unprivileged user"
    limits = pathlib.Path(f"/proc/{host.process.pid}/limits").read_text(encoding="ascii")
    for name in ("Max file size", "Max core file size", "Max processes", "Max open files"):
        assert limits.split(name, 1)[1].split()[:2] == ["0", "0"], limits


def test_root_loses_the_capabilities_that_it_could_get_back(programs):
    """A root process also drops its bounding set and groups."""
    with ScriptHost(programs / "plugctl-script") as host:
        host.load("")
        assert host.status("CapBnd") == "0" * 16
        assert host.status("Groups") == ""


def test_descriptors_that_were_left_open_are_closed(programs):
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    before = ["sh", "-c", 'exec "$0" "$@" 7</etc/passwd 9>/dev/null']
    with ScriptHost(programs / "plugctl-script", before=before) as host:
        host.load("")
        assert host.descriptors() == [0, 1, 2]
    os.close(reader)
    os.close(writer)
