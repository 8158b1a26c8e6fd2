#define _GNU_SOURCE  // For close_range and setresuid.
#include "cage.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

/// A system call that is allowed, with the values that its arguments must have under a mask. The kernel compares 64
/// bits, but only 32 bits of an `int` are significant.
struct allowed {
    int call;
    unsigned count;
    struct scmp_arg_cmp arguments[2];
};

#define WHOLE_INT UINT32_MAX
#define ARGUMENT(index, mask, value) {index, SCMP_CMP_MASKED_EQ, mask, value}

static const struct allowed allowed_calls[] = {
    // The only input and the only output.
    {SCMP_SYS(read), 1, {ARGUMENT(0, WHOLE_INT, STDIN_FILENO)}},
    {SCMP_SYS(write), 1, {ARGUMENT(0, WHOLE_INT, STDOUT_FILENO)}},
    {SCMP_SYS(restart_syscall), 0, {{0}}},
    // Exit.
    {SCMP_SYS(exit), 0, {{0}}},
    {SCMP_SYS(exit_group), 0, {{0}}},
    // Anonymous memory, never executable.
    {SCMP_SYS(brk), 0, {{0}}},
    {SCMP_SYS(mmap), 2, {ARGUMENT(2, PROT_EXEC, 0), ARGUMENT(3, MAP_ANONYMOUS, MAP_ANONYMOUS)}},
    {SCMP_SYS(mmap2), 2, {ARGUMENT(2, PROT_EXEC, 0), ARGUMENT(3, MAP_ANONYMOUS, MAP_ANONYMOUS)}},
    {SCMP_SYS(munmap), 0, {{0}}},
    {SCMP_SYS(mremap), 0, {{0}}},
    {SCMP_SYS(madvise), 1, {ARGUMENT(2, WHOLE_INT, MADV_DONTNEED)}},
    // The timer of processor time, and the handler of its signal.
    {SCMP_SYS(setitimer), 1, {ARGUMENT(0, WHOLE_INT, ITIMER_PROF)}},
    {SCMP_SYS(rt_sigaction), 1, {ARGUMENT(0, WHOLE_INT, SIGPROF)}},
    {SCMP_SYS(rt_sigreturn), 0, {{0}}},
    {SCMP_SYS(sigreturn), 0, {{0}}},
    // The clock, if the kernel does not provide it in the vDSO.
    {SCMP_SYS(clock_gettime), 0, {{0}}},
    {SCMP_SYS(clock_gettime64), 0, {{0}}},
    {SCMP_SYS(gettimeofday), 0, {{0}}},
    {SCMP_SYS(time), 0, {{0}}},
};

static int refuse_other_calls(void) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    if (filter == NULL) return ENOMEM;
    int result = 0;
    for (unsigned i = 0; i < sizeof allowed_calls / sizeof *allowed_calls && result == 0; i++) {
        // A negative number is a system call that this architecture does not have.
        const struct allowed *allowed = &allowed_calls[i];
        if (allowed->call < 0) continue;
        result = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, allowed->call, allowed->count, allowed->arguments);
    }
    if (result == 0) result = seccomp_load(filter);
    seccomp_release(filter);
    return -result;
}

static int close_descriptors(void) {
    if (close_range(STDERR_FILENO + 1, ~0u, 0) == 0) return 0;
    if (errno != ENOSYS && errno != EPERM) return errno;
    // Linux before 5.9 has no close_range.
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return errno;
    for (rlim_t descriptor = STDERR_FILENO + 1; descriptor < limit.rlim_cur && descriptor < 1 << 20; descriptor++) {
        close((int)descriptor);
    }
    return 0;
}

/// Sets resource limits as a second barrier behind the seccomp filter. EPERM is ignored, because the service's own
/// filter may forbid setrlimit.
static int limit_resources(void) {
    static const struct { int resource; rlim_t most; } limits[] = {
        {RLIMIT_AS, cage_memory}, {RLIMIT_CORE, 0}, {RLIMIT_FSIZE, 0},  {RLIMIT_MEMLOCK, 0},
        {RLIMIT_MSGQUEUE, 0},     {RLIMIT_NPROC, 0}, {RLIMIT_NOFILE, 0},
    };
    for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++) {
        const struct rlimit limit = {limits[i].most, limits[i].most};
        if (setrlimit(limits[i].resource, &limit) != 0 && errno != EPERM) return errno;
    }
    return 0;
}

/// Changes from root to the user `nobody`, if the user namespace has that user. Without capabilities, which are dropped
/// next, root could do little anyway.
static int become_nobody(void) {
    enum { nobody = 65534 };
    if (geteuid() != 0) return 0;
    if (setgroups(0, NULL) != 0 || setresgid(nobody, nobody, nobody) != 0 || setresuid(nobody, nobody, nobody) != 0) {
        // The user namespace has no other users.
        return errno == EINVAL || errno == EPERM ? 0 : errno;
    }
    return 0;
}

/// Clears the bounding set and the ambient set, so that the execution of a program cannot restore capabilities. EPERM
/// is ignored, because a process without CAP_SETPCAP cannot change the bounding set.
static int drop_bounding_set(void) {
    for (int capability = 0; capability <= CAP_LAST_CAP; capability++) {
        // EINVAL: an older kernel does not know the capability.
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EINVAL && errno != EPERM) return errno;
    }
    return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 || errno == EINVAL ? 0 : errno;
}

static int drop_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (syscall(SYS_capget, &header, sets) != 0) return errno;
    bool has_any = false;
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        has_any = has_any || sets[i].permitted != 0 || sets[i].inheritable != 0;
        sets[i] = (struct __user_cap_data_struct){0};
    }
    // The service's own filter may forbid capset, so capset is called only if the process has capabilities.
    return !has_any || syscall(SYS_capset, &header, sets) == 0 ? 0 : errno;
}

static int gain_nothing(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno; }

int cage_close(const char **step) {
    static const struct { const char *name; int (*take)(void); } steps[] = {
        {"close_range", close_descriptors}, {"PR_CAPBSET_DROP", drop_bounding_set}, {"setresuid", become_nobody},
        {"capset", drop_capabilities},      {"setrlimit", limit_resources},         {"PR_SET_NO_NEW_PRIVS", gain_nothing},
        {"seccomp", refuse_other_calls},
    };
    int error = 0;
    for (unsigned i = 0; i < sizeof steps / sizeof *steps && error == 0; i++) {
        *step = steps[i].name;
        error = steps[i].take();
    }
    return error;
}
