// `press_poller PULL VALUE PRESSES [HELD]` presses a button of gpio-sim through the file PULL, holds it for HELD ms
// (default 20), releases it and polls the relay's line in the file VALUE until it changes. Prints for each press the
// nanoseconds from the write of the release to the change of the line. If the machine pauses during a press and thereby
// holds the button for more than `longest_hold` ms, the press is repeated.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// The seconds after which a missing change of the line is an error.
enum { patience = 5 };
// The limit of a hold in ms. plugd reports a hold of at least twice this time as a long press.
enum { longest_hold = 500 };

static void check(int ok, const char *what) {
    if (ok) return;
    perror(what);
    exit(1);
}

static double nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static void pull(int file, const char *way) { check(pwrite(file, way, strlen(way), 0) > 0, "pull"); }

static char value(int file) {
    char text[8];
    check(pread(file, text, sizeof text, 0) > 0, "value");
    return text[0];
}

static void wait_milliseconds(int count) {
    struct timespec pause = {count / 1000, count % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

int main(int count, char **words) {
    if (count < 4) return 64;
    int button = open(words[1], O_WRONLY), relay = open(words[2], O_RDONLY);
    int presses = atoi(words[3]), held = count > 4 ? atoi(words[4]) : 20;
    check(button >= 0, words[1]);
    check(relay >= 0, words[2]);
    for (int done = 0, again = 0; done < presses;) {
        char before = value(relay);
        // A pressed contact connects the line to ground.
        double pressed = nanoseconds();
        pull(button, "pull-down");
        wait_milliseconds(held);
        double released = nanoseconds(), seen;
        pull(button, "pull-up");
        double hold = (nanoseconds() - pressed) / 1e6;
        if (hold > longest_hold) {
            if (++again > presses / 10 + 1) {
                fprintf(stderr, "the machine pauses too often: press %d took %.0f ms instead of %d\n", done + 1, hold, held);
                return 1;
            }
            wait_milliseconds(longest_hold);
            continue;
        }
        do {
            char now = value(relay);
            seen = nanoseconds();
            if (now != before) break;
        } while (seen - released < patience * 1e9);
        if (seen - released >= patience * 1e9) {
            fprintf(stderr, "press %d, held for %.1f ms, did not switch the relay\n", done + 1, hold);
            return 1;
        }
        printf("%.0f\n", seen - released);
        done++;
        // Wait until plugd has finished its work for this press.
        wait_milliseconds(held);
    }
}
