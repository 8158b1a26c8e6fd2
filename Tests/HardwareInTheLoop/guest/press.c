// Presses a simulated contact: press PULL MARKS MICROSECONDS... pulls the line down for the first duration, up for the
// second, and so on, and then releases it. Just before this last release it writes the mark "release" to MARKS. It prints
// the longest delay of a change in microseconds. Tests discard a press with a long delay, because its contact bounced
// too slowly.
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

static void tell(int file, const char *text) {
    if (pwrite(file, text, strlen(text), 0) < 0) {
        perror("press");
        exit(1);
    }
}

static void until(long long moment) {
    struct timespec time = {moment / 1000000, moment % 1000000 * 1000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL)) {}
}

int main(int argc, char **argv) {
    struct sched_param first = {.sched_priority = 50};
    int pull = open(argc > 3 ? argv[1] : "", O_WRONLY), marks = open(argc > 3 ? argv[2] : "", O_WRONLY);
    long long late = 0, due;
    if (pull < 0 || marks < 0) return 64;
    mlockall(MCL_CURRENT | MCL_FUTURE);
    sched_setscheduler(0, SCHED_FIFO, &first);
    for (int i = 3; i < argc; i++) {
        tell(pull, i % 2 ? "pull-down" : "pull-up");
        due = now() + atoll(argv[i]);
        until(due);
        if (now() - due > late) late = now() - due;
    }
    if (write(marks, "release", 7) != 7) return 1;
    tell(pull, "pull-up");
    printf("%lld\n", late);
    return 0;
}
