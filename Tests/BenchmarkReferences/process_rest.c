// Measures an idle process: `process_rest PID SECONDS`. It waits 10 s before the measurement. Prints the voluntary
// context switches per second of all threads (preemptions are not counted), and then the share of one core in percent.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct rest {
    double switches;
    double nanoseconds;  // The time on a core.
};

// Idle threads of Swift and libdispatch end after 5 s.
enum { settling = 10 };

// The counts of a thread disappear when it ends, so a decreasing sum is an error.
static struct rest read_rest(const char *pid) {
    char path[64], line[128], thread[280];
    struct rest rest = {0, 0};
    snprintf(path, sizeof path, "/proc/%s/task", pid);
    DIR *tasks = opendir(path);
    if (!tasks) {
        perror(path);
        exit(1);
    }
    for (struct dirent *task; (task = readdir(tasks));) {
        if (task->d_name[0] == '.') continue;
        snprintf(thread, sizeof thread, "/proc/%s/task/%s/status", pid, task->d_name);
        FILE *status = fopen(thread, "r");
        while (status && fgets(line, sizeof line, status)) {
            double count;
            if (sscanf(line, "voluntary_ctxt_switches: %lf", &count) == 1) rest.switches += count;
        }
        if (status) fclose(status);
        snprintf(thread, sizeof thread, "/proc/%s/task/%s/schedstat", pid, task->d_name);
        FILE *schedule = fopen(thread, "r");
        double ran;
        if (schedule && fscanf(schedule, "%lf", &ran) == 1) rest.nanoseconds += ran;
        if (schedule) fclose(schedule);
    }
    closedir(tasks);
    return rest;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int count, char **words) {
    if (count != 3) return 64;
    sleep(settling);
    struct rest before = read_rest(words[1]);
    double began = now();
    sleep(atoi(words[2]));
    struct rest after = read_rest(words[1]);
    double seconds = now() - began;
    if (after.switches < before.switches) {
        fprintf(stderr, "a thread of process %s ended during the measurement\n", words[1]);
        return 1;
    }
    printf("%f\n%f\n", (after.switches - before.switches) / seconds, (after.nanoseconds - before.nanoseconds) / seconds / 1e7);
}
