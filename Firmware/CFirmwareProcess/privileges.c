#define _GNU_SOURCE  // For initgroups, setgroups and the flags of clone.
#include "privileges.h"

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

// The system calls that an attacker with code in plugd would need. A list of allowed calls would be shorter, but would
// break with each new C library, on a device that users cannot repair.
static const int refused_calls[] = {
    // Start a program or a process. `clone` is handled below.
    SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(fork), SCMP_SYS(vfork),
    // Access other processes.
    SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(kcmp), SCMP_SYS(pidfd_getfd),
    // Change the user, the capabilities, the namespaces or the root directory.
    SCMP_SYS(setuid), SCMP_SYS(setgid), SCMP_SYS(setreuid), SCMP_SYS(setregid), SCMP_SYS(setresuid),
    SCMP_SYS(setresgid), SCMP_SYS(setfsuid), SCMP_SYS(setfsgid), SCMP_SYS(setgroups), SCMP_SYS(capset),
    SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(chroot),
    SCMP_SYS(pivot_root), SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(open_tree), SCMP_SYS(move_mount),
    SCMP_SYS(fsopen), SCMP_SYS(fsconfig), SCMP_SYS(fsmount), SCMP_SYS(fspick), SCMP_SYS(mount_setattr),
    SCMP_SYS(mknod), SCMP_SYS(mknodat),
    SCMP_SYS(open_by_handle_at),
    // Change or inspect the kernel.
    SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module), SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load), SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(keyctl),
    SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(reboot), SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(syslog),
    SCMP_SYS(acct), SCMP_SYS(quotactl), SCMP_SYS(settimeofday), SCMP_SYS(clock_settime), SCMP_SYS(adjtimex),
    SCMP_SYS(clock_adjtime), SCMP_SYS(sethostname), SCMP_SYS(setdomainname), SCMP_SYS(ioperm), SCMP_SYS(iopl),
    // Use io_uring, which often has vulnerabilities.
    SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register),
};

// The namespaces that `clone` must not create, because their creator has all capabilities in them, or can get them.
static const uint64_t refused_namespaces[] = {
    CLONE_NEWUSER, CLONE_NEWNET, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWCGROUP,
};

static int drop_capabilities(uint64_t kept, const char **step) {
    *step = "PR_CAPBSET_DROP";
    for (int capability = 0; capability <= CAP_LAST_CAP; capability++) {
        // EINVAL: an older kernel without this capability. EPERM: the process has no privileges to drop.
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
        // Only permitted capabilities can be kept. An executed program inherits none.
        surplus |= sets[i].permitted & ~(uint32_t)(kept >> 32 * i);
        sets[i].permitted &= (uint32_t)(kept >> 32 * i);
        sets[i].effective = sets[i].permitted;
        sets[i].inheritable = 0;
    }
    // If the process has only capabilities of `kept`, nothing changes. The service manager's filter may block capset.
    if (surplus == 0) return 0;
    *step = "capset";
    return syscall(SYS_capset, &header, sets) == 0 ? 0 : errno;
}

/// Lets `clone` create only threads, in the process's existing namespaces.
static int refuse_clones(scmp_filter_ctx filter) {
    // The flags of clone3 are in memory, which a filter cannot read. With ENOSYS the C library falls back to `clone`.
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
        // Negative numbers are calls that this architecture does not have.
        if (refused_calls[i] >= 0) result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused_calls[i], 0);
    }
    if (result == 0) result = refuse_clones(filter);
    if (result == 0) result = seccomp_load(filter);
    seccomp_release(filter);
    return -result;
}

int cprivileges_drop(uint64_t kept, const char **step) {
    // Files of the process must not be accessible for other users, especially the panel's socket.
    umask(077);
    // A failed step does not prevent the others; the first failure is reported.
    const char *refused = "capabilities";
    int error = drop_capabilities(kept, &refused);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 && error == 0) {
        refused = "PR_SET_NO_NEW_PRIVS";
        error = errno;
    }
    // A core file would contain the keys.
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
