"""Makes system calls inside a running process, like an attacker who has taken over the process. With ptrace, a thread of the process
executes its own `syscall` instruction with other registers. The original registers are restored at the end. x86-64 only."""

import contextlib
import ctypes
import errno
import os
import signal

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
PEEKTEXT, SINGLESTEP, GETREGS, SETREGS, DETACH, SEIZE, INTERRUPT = 1, 9, 12, 13, 17, 0x4206, 0x4207
SYSCALL = b"\x0f\x05"


class Registers(ctypes.Structure):
    """The structure user_regs_struct of <sys/user.h>."""

    _fields_ = [(name, ctypes.c_ulonglong) for name in (
        "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base ds es fs gs").split()]


def ptrace(request, thread, address=0, data=0):
    ctypes.set_errno(0)
    result = libc.ptrace(request, thread, address, data)
    if ctypes.get_errno():
        raise OSError(ctypes.get_errno(), f"ptrace {request:#x} of {thread}")
    return result


class Intruder:
    """Controls the first thread of a process. The thread must be waiting in a system call."""

    def __init__(self, process_id):
        self.thread = process_id

    def __enter__(self):
        ptrace(SEIZE, self.thread)
        ptrace(INTERRUPT, self.thread)
        self._stopped()
        self.registers = self._read()
        word = ptrace(PEEKTEXT, self.thread, self.registers.rip - 2) & 0xFFFF
        assert word.to_bytes(2, "little") == SYSCALL, f"the thread is at {word:#x}, not after a system call"
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            self._write(self.registers)
            ptrace(DETACH, self.thread)

    def call(self, number, *arguments):
        """Makes the system call with this number. Returns its result, or the name of the errno if it failed."""
        registers = Registers.from_buffer_copy(self.registers)
        values = [*arguments, 0, 0, 0, 0, 0, 0]
        for name, value in zip(("rdi", "rsi", "rdx", "r10", "r8", "r9"), values):
            setattr(registers, name, value & (1 << 64) - 1)
        registers.rip -= len(SYSCALL)
        # Prevents the restart of the interrupted system call.
        registers.rax, registers.orig_rax = number, (1 << 64) - 1
        self._write(registers)
        ptrace(SINGLESTEP, self.thread)
        self._stopped()
        result = ctypes.c_longlong(self._read().rax).value
        return errno.errorcode.get(-result, str(result)) if result < 0 else result

    def _stopped(self):
        _, status = os.waitpid(self.thread, 0x40000000)  # __WALL
        assert os.WIFSTOPPED(status) and os.WSTOPSIG(status) == signal.SIGTRAP, f"status {status:#x}"

    def _read(self):
        registers = Registers()
        ptrace(GETREGS, self.thread, 0, ctypes.addressof(registers))
        return registers

    def _write(self, registers):
        ptrace(SETREGS, self.thread, 0, ctypes.addressof(registers))
