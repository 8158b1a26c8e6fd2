#define _GNU_SOURCE
#include "script_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

int script_socket_pair(int *ours, int *theirs) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    // Only our end is non-blocking. The script host (plugctl-script) reads its end in blocking mode.
    if (fcntl(ends[0], F_SETFL, O_RDWR | O_NONBLOCK) != 0) {
        close(ends[0]);
        close(ends[1]);
        return -1;
    }
    *ours = ends[0];
    *theirs = ends[1];
    return 0;
}

static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, int socket) {
    int error = posix_spawn_file_actions_adddup2(actions, socket, STDIN_FILENO);
    if (error == 0) error = posix_spawn_file_actions_adddup2(actions, STDIN_FILENO, STDOUT_FILENO);
    if (error == 0) error = posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
    sigset_t signals;
    sigemptyset(&signals);
    if (error == 0) error = posix_spawnattr_setsigmask(attributes, &signals);
    sigfillset(&signals);
    if (error == 0) error = posix_spawnattr_setsigdefault(attributes, &signals);
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID;
    return error == 0 ? posix_spawnattr_setflags(attributes, flags) : error;
}

int script_process_start(const char *path, const char *name, int socket, pid_t *number) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = prepare(&actions, &attributes, socket);
        char *words[] = {(char *)path, (char *)name, NULL};
        char *nothing[] = {NULL};
        if (error == 0) error = posix_spawn(number, path, &actions, &attributes, words, nothing);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}
