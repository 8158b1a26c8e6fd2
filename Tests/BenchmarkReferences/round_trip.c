// Measures the round trip of 100 bytes over TCP on loopback between two processes.
// Prints the median in nanoseconds.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { size = 100, warm_up = 1000, count = 10000 };

static void check(int ok, const char *what) {
    if (ok) return;
    perror(what);
    exit(1);
}

static void read_all(int socket, char *bytes) {
    for (int got = 0, more; got < size; got += more) {
        more = read(socket, bytes + got, size - got);
        if (more <= 0) exit(more < 0);
    }
}

static void write_all(int socket, const char *bytes) {
    check(write(socket, bytes, size) == size, "write");
}

static double nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int main(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    check(bind(listener, (struct sockaddr *)&address, length) == 0, "bind");
    check(listen(listener, 1) == 0, "listen");
    check(getsockname(listener, (struct sockaddr *)&address, &length) == 0, "getsockname");

    char bytes[size] = {0};
    if (fork() == 0) {
        int answering = accept(listener, NULL, NULL);
        check(answering >= 0, "accept");
        setsockopt(answering, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        while (1) {
            read_all(answering, bytes);
            write_all(answering, bytes);
        }
    }
    int asking = socket(AF_INET, SOCK_STREAM, 0);
    check(connect(asking, (struct sockaddr *)&address, length) == 0, "connect");
    setsockopt(asking, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    static double times[count];
    for (int i = -warm_up; i < count; i++) {
        double began = nanoseconds();
        write_all(asking, bytes);
        read_all(asking, bytes);
        if (i >= 0) times[i] = nanoseconds() - began;
    }
    qsort(times, count, sizeof *times, ascending);
    printf("%.0f\n", times[count / 2]);
}
