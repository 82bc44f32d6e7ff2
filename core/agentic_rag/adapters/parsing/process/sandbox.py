"""What the operating system refuses a process for good: files, network, other processes.

Every wall works without privileges and is asked for where the kernel has it; `raise_walls` says which stand. The
numbers come from Linux's uapi headers (`linux/landlock.h`, `linux/seccomp.h`, `asm/unistd.h` of each architecture).
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import sys
from collections.abc import Callable, Sequence

_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2
_CLONE_NEWNET = 0x4000_0000
_LANDLOCK_CREATE_RULESET, _LANDLOCK_RESTRICT_SELF = 444, 446
_LANDLOCK_VERSION = 1
_LANDLOCK_FILES = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many access rights to files each Landlock version knows (bits from 0); later versions know as many as 5."""
_LANDLOCK_TCP = 0b11
_LANDLOCK_TCP_SINCE, _LANDLOCK_SCOPES_SINCE = 4, 6
_LANDLOCK_SCOPES = 0b11
"""Abstract Unix sockets and signals outside the process's own domain."""

_RETURN, _JUMP_IF_EQUAL, _LOAD_WORD = 0x06, 0x15, 0x20
_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF_0000, 0x0005_0000, 0x8000_0000
_EPERM = 1
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
"""Offsets in `struct seccomp_data`; both architectures are little-endian."""

_X86_64 = (
    "read=0 write=1 close=3 fstat=5 poll=7 lseek=8 mmap=9 mprotect=10 munmap=11 brk=12 rt_sigaction=13 "
    "rt_sigprocmask=14 rt_sigreturn=15 ioctl=16 readv=19 writev=20 sched_yield=24 mremap=25 madvise=28 nanosleep=35 "
    "getpid=39 exit=60 gettimeofday=96 getrlimit=97 getrusage=98 sigaltstack=131 setrlimit=160 gettid=186 futex=202 "
    "restart_syscall=219 clock_gettime=228 clock_getres=229 clock_nanosleep=230 exit_group=231 tgkill=234 ppoll=271 "
    "set_robust_list=273 prlimit64=302 getrandom=318 membarrier=324 rseq=334"
)
_AARCH64 = (
    "ioctl=29 close=57 lseek=62 read=63 write=64 readv=65 writev=66 ppoll=73 fstat=80 exit=93 exit_group=94 futex=98 "
    "set_robust_list=99 nanosleep=101 clock_gettime=113 clock_getres=114 clock_nanosleep=115 sched_yield=124 "
    "restart_syscall=128 tgkill=131 sigaltstack=132 rt_sigaction=134 rt_sigprocmask=135 rt_sigreturn=139 "
    "getrlimit=163 setrlimit=164 getrusage=165 gettimeofday=169 getpid=172 gettid=178 brk=214 munmap=215 mremap=216 "
    "mmap=222 mprotect=226 madvise=233 prlimit64=261 getrandom=278 membarrier=283 rseq=293"
)
_ARCHITECTURES = {"x86_64": (0xC000_003E, _X86_64), "aarch64": (0xC000_00B7, _AARCH64)}
"""AUDIT_ARCH value and the system calls that memory, time, signals and pipes already open need."""


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_ushort), ("yes", ctypes.c_ubyte), ("no", ctypes.c_ubyte), ("k", ctypes.c_uint))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.POINTER(_Instruction)))


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


def raise_walls() -> tuple[str, ...]:
    """Refuse this process, for good, whatever opens a file, a socket or a process. Gives the walls that stand.

    `limits`: no further file descriptor, no byte written to a file, no core dump (every POSIX system).
    `network`: a network namespace without a device (Linux, with the privilege only).
    `landlock`: no path, no TCP, no signal to others (Linux 5.13 and later).
    `seccomp`: only the system calls listed above (Linux on x86-64 and ARM64).
    """
    linux: tuple[tuple[str, Callable[[ctypes.CDLL], bool]], ...] = (
        ("network", _leave_network),
        ("landlock", _enter_landlock),
        ("seccomp", _filter_calls),
    )
    standing: list[str] = []
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        # Without this the kernel takes neither wall from a process that has no privilege.
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        standing += [name for name, build in linux[:2] if build(libc)]
        _limit()
        standing += ["limits", *(name for name, build in linux[2:] if build(libc))]
    else:
        _limit()
        standing.append("limits")
    return tuple(standing)


def missing_walls(standing: Sequence[str]) -> tuple[str, ...]:
    """The walls that need no privilege and do not stand; `network` is one more where landlock and seccomp are."""
    return tuple(name for name in ("limits", "landlock", "seccomp") if name not in standing)


def _limit() -> None:
    for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(limit, (0, 0))


def _leave_network(libc: ctypes.CDLL) -> bool:
    return libc.unshare(_CLONE_NEWNET) == 0


def _enter_landlock(libc: ctypes.CDLL) -> bool:
    version = libc.syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _LANDLOCK_VERSION)
    if version < 1:
        return False
    rules = _Ruleset(
        files=(1 << _LANDLOCK_FILES.get(version, _LANDLOCK_FILES[5])) - 1,
        network=_LANDLOCK_TCP if version >= _LANDLOCK_TCP_SINCE else 0,
        scoped=_LANDLOCK_SCOPES if version >= _LANDLOCK_SCOPES_SINCE else 0,
    )
    ruleset = libc.syscall(_LANDLOCK_CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(ctypes.sizeof(rules)), 0)
    if ruleset < 0:
        return False
    try:
        return libc.syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0) == 0
    finally:
        os.close(ruleset)


def _filter_calls(libc: ctypes.CDLL) -> bool:
    known = _ARCHITECTURES.get(platform.machine())
    if known is None:
        return False
    architecture, listed = known
    numbers = {name: int(number) for name, number in (call.split("=") for call in listed.split())}
    # abort() signals its own process, and limits are set on "this process" (0); never on another one.
    own = {numbers.pop("tgkill"): os.getpid(), numbers.pop("prlimit64"): 0}
    wanted = [
        (_LOAD_WORD, 0, 0, _ARCHITECTURE_AT),
        (_JUMP_IF_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD_WORD, 0, 0, _NUMBER_AT),
    ]
    for number in numbers.values():
        wanted += [(_JUMP_IF_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    for number, first in own.items():
        wanted += [
            (_JUMP_IF_EQUAL, 0, 4, number),
            (_LOAD_WORD, 0, 0, _FIRST_ARGUMENT_AT),
            (_JUMP_IF_EQUAL, 0, 1, first),
            (_RETURN, 0, 0, _ALLOW),
            (_RETURN, 0, 0, _ERRNO | _EPERM),
        ]
    wanted.append((_RETURN, 0, 0, _ERRNO | _EPERM))
    instructions = (_Instruction * len(wanted))(*(_Instruction(*one) for one in wanted))
    program = _Program(len(wanted), instructions)
    return libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) == 0
