// Measures the time until a plug's button works: `start_to_button PULL VALUE PROGRAM [ARGUMENT...]` starts the program,
// waits for its READY=1 to NOTIFY_SOCKET, presses the button and waits until the relay switches; see press_poller for
// the files. With "-" for both files it only waits for READY=1. Prints the nanoseconds from the start of the process to
// READY=1, and from the start of the kernel to READY=1.
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t child;

static void check(int ok, const char *what) {
    if (ok) return;
    perror(what);
    if (child > 0) kill(child, SIGKILL);
    exit(1);
}

static double nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static int service_manager(void) {
    // An abstract socket name, which leaves no file.
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    int length = snprintf(place.sun_path, sizeof place.sun_path, "@start_to_button.%d", getpid());
    setenv("NOTIFY_SOCKET", place.sun_path, 1);
    place.sun_path[0] = 0;
    int notices = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)length);
    check(notices >= 0 && bind(notices, (struct sockaddr *)&place, size) == 0, "the socket for notices");
    struct timeval patience = {30, 0};
    check(setsockopt(notices, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0, "the receive timeout");
    return notices;
}

static char value(int file) {
    char text[8];
    check(pread(file, text, sizeof text, 0) > 0, "value");
    return text[0];
}

static void press_turns_over(const char *pull, const char *line) {
    int button = open(pull, O_WRONLY), relay = open(line, O_RDONLY);
    check(button >= 0, pull);
    check(relay >= 0, line);
    char before = value(relay);
    struct timespec held = {0, 100 * 1000 * 1000};
    check(pwrite(button, "pull-down", 9, 0) > 0, "pull");
    nanosleep(&held, NULL);
    check(pwrite(button, "pull-up", 7, 0) > 0, "pull");
    double released = nanoseconds();
    while (value(relay) == before) check(nanoseconds() - released < 10e9, "the relay did not switch within 10 s");
}

int main(int count, char **words) {
    if (count < 4) return 64;
    int notices = service_manager();
    double started = nanoseconds();
    child = fork();
    check(child >= 0, "fork");
    if (child == 0) {
        // The parent process may have blocked SIGTERM, which ends the child.
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execvp(words[3], words + 3);
        perror(words[3]);
        _exit(127);
    }
    char notice[4096];
    do {
        ssize_t length = recv(notices, notice, sizeof notice - 1, 0);
        check(length > 0, "no READY=1 within 30 s");
        notice[length] = 0;
    } while (!strstr(notice, "READY=1"));
    double ready = nanoseconds();
    if (strcmp(words[1], "-") != 0) press_turns_over(words[1], words[2]);
    kill(child, SIGTERM);
    check(waitpid(child, NULL, 0) == child, "wait");
    printf("%.0f\n%.0f\n", ready - started, ready);
}
