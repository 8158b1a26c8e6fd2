#define _GNU_SOURCE
#include "command_process.h"
#include "key_fence.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, int input, int output) {
    int error = posix_spawn_file_actions_adddup2(actions, input, STDIN_FILENO);
    if (error == 0) error = posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);
    if (error == 0) error = posix_spawn_file_actions_adddup2(actions, output, STDERR_FILENO);
    if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
    sigset_t signals;
    sigemptyset(&signals);
    if (error == 0) error = posix_spawnattr_setsigmask(attributes, &signals);
    sigfillset(&signals);
    if (error == 0) error = posix_spawnattr_setsigdefault(attributes, &signals);
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID;
    return error == 0 ? posix_spawnattr_setflags(attributes, flags) : error;
}

struct start {
    const char *program;
    char *const *words;
    char *const *environment;
    int input, output, fence;
    pid_t *number;
    int error;
};

static int spawn(const struct start *start) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = prepare(&actions, &attributes, start->input, start->output);
        if (error == 0) {
            error = posix_spawnp(
                start->number, start->program, &actions, &attributes, start->words, start->environment);
        }
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static void *spawn_behind_fence(void *context) {
    struct start *start = context;
    start->error = fence_enter(start->fence);
    if (start->error == 0) start->error = spawn(start);
    return NULL;
}

int command_start(
    const char *program, char *const words[], char *const environment[], int input, int output, int fence,
    pid_t *number) {
    struct start start = {program != NULL ? program : words[0], words, environment, input, output, fence, number, 0};
    if (fence < 0) return spawn(&start);
    // Landlock restricts a thread forever, and everything that it starts. So a dedicated thread enters the fence and
    // starts only the program. On any other thread, work of the daemon could end up behind the fence, for example in a
    // thread that a pool creates.
    pthread_t thread;
    int error = pthread_create(&thread, NULL, spawn_behind_fence, &start);
    if (error != 0) return error;
    pthread_join(thread, NULL);
    return start.error;
}

// The kernel sets the descriptor's close-on-exec flag. glibc has a wrapper of this call since 2.36.
int command_watch(pid_t number) { return (int)syscall(SYS_pidfd_open, number, 0); }

int command_pipe(int *reading, int *writing) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
    *reading = ends[0];
    *writing = ends[1];
    return 0;
}
