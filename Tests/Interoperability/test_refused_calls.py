"""The system call filter in the real process: code that runs inside plugd cannot use rights that plugd does not need."""

import pathlib
import platform
import re

import pytest

from harness.injected_calls import Intruder

SOURCE = pathlib.Path(__file__).parents[2] / "Firmware" / "CFirmwareProcess" / "privileges.c"
NOTHING, NOBODY = -1, 0x7FFFFFFF
# System call numbers of x86-64 with harmless arguments. Without the filter, the kernel would return a result other than EPERM,
# except for the family "refused twice": there the kernel also returns EPERM, because plugd lacks the capabilities.
FAMILIES = {
    "programs": {"execve": (59,), "execveat": (322,), "fork": (57,), "vfork": (58,)},
    "processes": {
        "ptrace": (101, 0x7FFF, NOBODY), "process_vm_readv": (310, NOBODY), "process_vm_writev": (311, NOBODY),
        "kcmp": (312, NOBODY, NOBODY, 99), "pidfd_getfd": (438, NOTHING)},
    "users": {
        "setreuid": (113, NOTHING, NOTHING), "setregid": (114, NOTHING, NOTHING), "setresuid": (117, NOTHING, NOTHING, NOTHING),
        "setresgid": (119, NOTHING, NOTHING, NOTHING), "setuid": (105, 0), "setgid": (106, 0), "setfsuid": (122, NOTHING),
        "setfsgid": (123, NOTHING), "capset": (126,), "setgroups": (116, NOTHING)},
    "views": {
        "unshare": (272, 0), "setns": (308, NOTHING), "chroot": (161,), "mount": (165,), "umount2": (166, 0, 0x1000),
        "open_tree": (428, NOTHING, 0, NOBODY), "fsconfig": (431, NOTHING), "mount_setattr": (442, NOTHING, 0, NOBODY), "mknod": (133,),
        "mknodat": (259,)},
    "kernel": {
        "perf_event_open": (298,), "userfaultfd": (323, NOBODY), "keyctl": (250, NOBODY), "add_key": (248,), "request_key": (249,),
        "quotactl": (179, NOBODY), "clock_settime": (227, NOBODY), "adjtimex": (159,), "clock_adjtime": (305,), "settimeofday": (164, 8),
        "io_uring_setup": (425,), "io_uring_enter": (426, NOTHING), "io_uring_register": (427, NOTHING)},
    "refused twice": {
        "pivot_root": (155,), "move_mount": (429, NOTHING, 0, NOTHING), "fsopen": (430,), "fsmount": (432, NOTHING), "fspick": (433,),
        "open_by_handle_at": (304, NOTHING), "init_module": (175,), "finit_module": (313, NOTHING), "delete_module": (176,),
        "kexec_load": (246,), "kexec_file_load": (320,), "bpf": (321, NOBODY), "reboot": (169,), "swapon": (167,), "swapoff": (168,),
        "syslog": (103, NOBODY), "acct": (163,), "sethostname": (170,), "setdomainname": (171,), "ioperm": (173,), "iopl": (172, 3)},
}
CLONE, CLONE3 = 56, 435
# The kernel rejects each of these flags with EINVAL, so no process or namespace is created if the filter fails.
THREAD, BROKEN = 0x10000, 0x800  # CLONE_THREAD without CLONE_SIGHAND, CLONE_SIGHAND without CLONE_VM
NAMESPACES = {
    "user": 0x10000000, "network": 0x40000000, "mount": 0x20000, "process": 0x20000000, "host": 0x4000000, "message": 0x8000000,
    "group": 0x2000000}

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="registers and numbers of x86-64")


def test_each_rule_of_the_filter_is_tried():
    """The tested calls are exactly those of the filter's source."""
    [listed] = re.findall(r"refused_calls\[\] = \{(.*?)\n\};", SOURCE.read_text(), re.DOTALL)
    tried = {name for calls in FAMILIES.values() for name in calls}
    assert set(re.findall(r"SCMP_SYS\((\w+)\)", listed)) == tried


def test_nothing_leads_out_of_the_process(lan, plug, controller):
    """Every refused call returns EPERM in the running plug, threads are allowed, and the plug still works."""
    lamp = plug(lan.host(), "Lamp")
    lamp.running.seen(lambda line: "announced as" in line.text, 10, "the announcement")
    wrong = {}
    with Intruder(lamp.running.process.pid) as intruder:
        assert intruder.call(39) == lamp.running.process.pid, "getpid was refused"
        for family, calls in FAMILIES.items():
            for name, call in calls.items():
                if (answer := intruder.call(*call)) != "EPERM":
                    wrong[f"{family}: {name}"] = answer
        flags = {"a process": BROKEN} | {f"a {name} namespace": flag | THREAD for name, flag in NAMESPACES.items()}
        flags["a user namespace, which would give all capabilities"] = NAMESPACES["user"] | NAMESPACES["network"] | 17  # SIGCHLD
        for name, value in flags.items():
            if (answer := intruder.call(CLONE, value)) != "EPERM":
                wrong[f"clone: {name}"] = answer
        assert intruder.call(CLONE, THREAD) == "EINVAL", "the filter refused clone for a thread"
        # After ENOSYS the C library calls clone instead. The filter can check the flags of clone, but not those of clone3.
        assert intruder.call(CLONE3) == "ENOSYS"
    assert not wrong, wrong
    # The plug still works, and can create threads.
    controller(lan.host()).does("toggle", "Lamp")
