#define _GNU_SOURCE  // For initgroups, setgroups and the flags of clone.
#include "CPrivileges.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// What an attacker who runs code inside plugd would want next. A list of what is allowed would be shorter to read and
// would break with each new C library, on a device that nobody can repair.
static const int refused_calls[] = {
    // Other programs; `clone` stands below.
    SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(fork), SCMP_SYS(vfork),
    // Other processes.
    SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(kcmp), SCMP_SYS(pidfd_getfd),
    // Other users, other views of the system.
    SCMP_SYS(setuid), SCMP_SYS(setgid), SCMP_SYS(setreuid), SCMP_SYS(setregid), SCMP_SYS(setresuid),
    SCMP_SYS(setresgid), SCMP_SYS(setfsuid), SCMP_SYS(setfsgid), SCMP_SYS(setgroups), SCMP_SYS(capset),
    SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(chroot),
    SCMP_SYS(pivot_root), SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(open_tree), SCMP_SYS(move_mount),
    SCMP_SYS(fsopen), SCMP_SYS(fsconfig), SCMP_SYS(fsmount), SCMP_SYS(fspick), SCMP_SYS(mount_setattr),
    SCMP_SYS(mknod), SCMP_SYS(mknodat),
    SCMP_SYS(open_by_handle_at),
    // The kernel itself.
    SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module), SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load), SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(keyctl),
    SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(reboot), SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(syslog),
    SCMP_SYS(acct), SCMP_SYS(quotactl), SCMP_SYS(settimeofday), SCMP_SYS(clock_settime), SCMP_SYS(adjtimex),
    SCMP_SYS(clock_adjtime), SCMP_SYS(sethostname), SCMP_SYS(setdomainname), SCMP_SYS(ioperm), SCMP_SYS(iopl),
    // New ways into the kernel, often with faults.
    SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register),
};

// What `clone` must not make: each is a namespace in which its maker has all capabilities, or can get them.
static const uint64_t refused_namespaces[] = {
    CLONE_NEWUSER, CLONE_NEWNET, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWCGROUP,
};

static int drop_capabilities(uint64_t kept, const char **step) {
    *step = "PR_CAPBSET_DROP";
    for (int capability = 0; capability <= CAP_LAST_CAP; capability++) {
        // EINVAL: this kernel is older and does not know it. EPERM: without privileges there is nothing to give up.
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EINVAL && errno != EPERM) return errno;
    }
    *step = "PR_CAP_AMBIENT_CLEAR_ALL";
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL) return errno;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};
    *step = "capget";
    if (syscall(SYS_capget, &header, sets) != 0) return errno;
    uint32_t surplus = 0;
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        // What the process does not have it cannot keep. Nothing is left for a program that it would execute.
        surplus |= sets[i].permitted & ~(uint32_t)(kept >> 32 * i);
        sets[i].permitted &= (uint32_t)(kept >> 32 * i);
        sets[i].effective = sets[i].permitted;
        sets[i].inheritable = 0;
    }
    // A service manager that gave no more than is kept may refuse the call itself.
    if (surplus == 0) return 0;
    *step = "capset";
    return syscall(SYS_capset, &header, sets) == 0 ? 0 : errno;
}

/// Threads only, in the namespaces that the process has.
static int refuse_clones(scmp_filter_ctx filter) {
    // Its flags lie in memory, which a filter cannot read. Without it the C library uses `clone`.
    int result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    if (result == 0) {
        result = seccomp_rule_add(
            filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
    }
    for (unsigned i = 0; i < sizeof refused_namespaces / sizeof *refused_namespaces && result == 0; i++) {
        const uint64_t flag = refused_namespaces[i];
        result = seccomp_rule_add(
            filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag));
    }
    return result;
}

static int refuse_calls(const char **step) {
    *step = "seccomp";
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (filter == NULL) return ENOMEM;
    int result = 0;
    for (unsigned i = 0; i < sizeof refused_calls / sizeof *refused_calls && result == 0; i++) {
        // Negative numbers are calls that this machine's architecture does not have.
        if (refused_calls[i] >= 0) result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused_calls[i], 0);
    }
    if (result == 0) result = refuse_clones(filter);
    if (result == 0) result = seccomp_load(filter);
    seccomp_release(filter);
    return -result;
}

int cprivileges_drop(uint64_t kept, const char **step) {
    // Nothing that the process makes is for others, the panel's socket least of all.
    umask(077);
    // What is refused keeps nothing else from being given up; what was refused first is told.
    const char *refused = "capabilities";
    int error = drop_capabilities(kept, &refused);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 && error == 0) {
        refused = "PR_SET_NO_NEW_PRIVS";
        error = errno;
    }
    // No core file shows the keys.
    if (setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}) != 0 && error == 0) {
        refused = "RLIMIT_CORE";
        error = errno;
    }
    const char *filter = "seccomp";
    int filter_error = refuse_calls(&filter);
    if (error == 0 && filter_error != 0) {
        refused = filter;
        error = filter_error;
    }
    *step = refused;
    return error;
}

int cprivileges_become_owner(const char *path, const char **step) {
    *step = "stat";
    struct stat status;
    if (geteuid() != 0) return 0;
    if (stat(path, &status) != 0) return errno == ENOENT ? 0 : errno;
    if (status.st_uid == 0) return 0;
    const struct passwd *owner = getpwuid(status.st_uid);
    *step = "setgroups";
    if ((owner == NULL ? setgroups(0, NULL) : initgroups(owner->pw_name, status.st_gid)) != 0) return errno;
    *step = "setgid";
    if (setgid(status.st_gid) != 0) return errno;
    *step = "setuid";
    return setuid(status.st_uid) == 0 ? 0 : errno;
}
