#define _GNU_SOURCE
#include "process.h"
#include "key_fence.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int prepare(
    posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, const struct process_plan *plan) {
    int error = posix_spawn_file_actions_adddup2(actions, plan->input, STDIN_FILENO);
    if (error == 0) error = posix_spawn_file_actions_adddup2(actions, plan->output, STDOUT_FILENO);
    if (error == 0) {
        error = plan->error >= 0
            ? posix_spawn_file_actions_adddup2(actions, plan->error, STDERR_FILENO)
            : posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
    sigset_t signals;
    sigemptyset(&signals);
    if (error == 0) error = posix_spawnattr_setsigmask(attributes, &signals);
    sigfillset(&signals);
    if (error == 0) error = posix_spawnattr_setsigdefault(attributes, &signals);
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID;
    return error == 0 ? posix_spawnattr_setflags(attributes, flags) : error;
}

static int spawn(const struct process_plan *plan, pid_t *number) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = prepare(&actions, &attributes, plan);
        if (error == 0) {
            error = plan->program != NULL
                ? posix_spawn(number, plan->program, &actions, &attributes, plan->words, plan->environment)
                : posix_spawnp(number, plan->words[0], &actions, &attributes, plan->words, plan->environment);
        }
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

struct fenced_start {
    const struct process_plan *plan;
    pid_t *number;
    int error;
};

static void *spawn_behind_fence(void *context) {
    struct fenced_start *fenced = context;
    fenced->error = fence_enter(fenced->plan->fence);
    if (fenced->error == 0) fenced->error = spawn(fenced->plan, fenced->number);
    return NULL;
}

int process_start(const struct process_plan *plan, pid_t *number) {
    if (plan->fence < 0) return spawn(plan, number);
    // Landlock restricts a thread forever, and everything that it starts. So a dedicated thread applies the
    // restrictions to itself and starts only the program. Otherwise the restrictions could also apply to work of the
    // daemon, for example in a thread that a pool creates.
    struct fenced_start fenced = {plan, number, 0};
    pthread_t thread;
    int error = pthread_create(&thread, NULL, spawn_behind_fence, &fenced);
    if (error != 0) return error;
    pthread_join(thread, NULL);
    return fenced.error;
}

// The kernel sets the descriptor's close-on-exec flag. glibc has a wrapper of this call since 2.36.
int process_watch(pid_t number) { return (int)syscall(SYS_pidfd_open, number, 0); }

int process_pipe(int *reading, int *writing) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
    *reading = ends[0];
    *writing = ends[1];
    return 0;
}

int process_socket_pair(int *ours, int *theirs) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    // The program reads its end in blocking mode.
    if (fcntl(ends[0], F_SETFL, O_RDWR | O_NONBLOCK) != 0) {
        close(ends[0]);
        close(ends[1]);
        return -1;
    }
    *ours = ends[0];
    *theirs = ends[1];
    return 0;
}

int process_memory_file(void) { return memfd_create("smartplug", MFD_CLOEXEC); }
