// Acts like systemd for a service with a file descriptor store: keeper PROGRAM ARGUMENT... runs the program with
// NOTIFY_SOCKET and stores the descriptors that the program sends. If a signal ends the program, keeper starts it again
// with these descriptors. If the program exits, keeper exits with its status. keeper prints the program's messages
// (such as READY=1) and process ids.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT = 8 };
static struct { int descriptor; char name[64]; } kept[LIMIT];
static int count;

static void forget(const char *name) {
    int left = 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(kept[i].name, name) == 0) close(kept[i].descriptor);
        else kept[left++] = kept[i];
    }
    count = left;
}

static int open_socket(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    unlink(path);
    int channel = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (channel < 0 || bind(channel, (struct sockaddr *)&address, sizeof address) < 0) {
        perror(path);
        exit(1);
    }
    return channel;
}

static void hear(int channel) {
    char text[4096], rights[CMSG_SPACE(LIMIT * sizeof(int))];
    struct iovec part = {text, sizeof text - 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = rights, .msg_controllen = sizeof rights};
    ssize_t length = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
    if (length < 0) return;
    text[length] = 0;
    char name[64] = "stored";
    char *named = strstr(text, "FDNAME=");
    if (named) sscanf(named, "FDNAME=%63[^\n]", name);
    if (strstr(text, "FDSTOREREMOVE=1")) forget(name);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_type == SCM_RIGHTS) {
        int descriptors[LIMIT], handed = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(descriptors, CMSG_DATA(header), handed * sizeof(int));
        for (int i = 0; i < handed; i++) {
            if (count == LIMIT) {
                close(descriptors[i]);
                continue;
            }
            kept[count].descriptor = descriptors[i];
            strcpy(kept[count++].name, name);
        }
    }
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) printf("said %s\n", line);
}

static pid_t start(char **command) {
    pid_t child = fork();
    if (child != 0) {
        printf("started %d with %d descriptors\n", child, count);
        return child;
    }
    char number[16], names[LIMIT * 65] = "";
    // Move the descriptors above the range from 3 to 10 first, because dup2 closes a descriptor that it replaces.
    for (int i = 0; i < count; i++) kept[i].descriptor = dup3(kept[i].descriptor, 100 + i, 0);
    for (int i = 0; i < count; i++) {
        dup2(100 + i, 3 + i);
        close(100 + i);
        if (i) strcat(names, ":");
        strcat(names, kept[i].name);
    }
    if (count) {
        snprintf(number, sizeof number, "%d", getpid());
        setenv("LISTEN_PID", number, 1);
        snprintf(number, sizeof number, "%d", count);
        setenv("LISTEN_FDS", number, 1);
        setenv("LISTEN_FDNAMES", names, 1);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
}

int main(int argc, char **argv) {
    const char *path = "/run/keeper";
    if (argc < 2) return 64;
    setvbuf(stdout, NULL, _IOLBF, 0);
    int channel = open_socket(path);
    setenv("NOTIFY_SOCKET", path, 1);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    int arrived = signalfd(-1, &signals, SFD_CLOEXEC);
    pid_t child = start(argv + 1);
    for (;;) {
        struct pollfd watched[] = {{channel, POLLIN, 0}, {arrived, POLLIN, 0}};
        if (poll(watched, 2, -1) < 0 && errno != EINTR) return 1;
        if (watched[0].revents) {
            hear(channel);
            continue;  // Handles all messages of the program before the signal that reports its end.
        }
        struct signalfd_siginfo signal;
        if (!watched[1].revents || read(arrived, &signal, sizeof signal) != sizeof signal) continue;
        if (signal.ssi_signo == SIGTERM) {
            kill(child, SIGTERM);
            continue;
        }
        int status;
        if (waitpid(child, &status, WNOHANG) != child) continue;
        if (WIFEXITED(status)) {
            printf("ended %d\n", WEXITSTATUS(status));
            return WEXITSTATUS(status);
        }
        printf("killed %d\n", WTERMSIG(status));
        child = start(argv + 1);
    }
}
