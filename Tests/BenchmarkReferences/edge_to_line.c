// The minimal program for a plug's button, as a reference: waits with libgpiod until the button on one line is released,
// and then toggles a second line. `edge_to_line BUTTON RELAY`: the names of the lines. Prints "ready" and runs until it
// is killed.
#include <gpiod.h>
#include <stdio.h>
#include <stdlib.h>

static struct gpiod_line *line(const char *name) {
    struct gpiod_line *line = gpiod_line_find(name);
    if (line) return line;
    perror(name);
    exit(1);
}

static void check(int failed, const char *what) {
    if (!failed) return;
    perror(what);
    exit(1);
}

int main(int count, char **words) {
    if (count != 3) return 64;
    struct gpiod_line *button = line(words[1]), *relay = line(words[2]);
    int on = 0;
    check(gpiod_line_request_output(relay, "edge_to_line", on), "the relay's line");
    // Like plugd, this program requests both edges of a button between line and ground, and switches at the release.
    check(gpiod_line_request_both_edges_events_flags(button, "edge_to_line", GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW),
          "the button's line");
    puts("ready");
    fflush(stdout);
    for (struct gpiod_line_event event;;) {
        check(gpiod_line_event_read(button, &event), "the button's next edge");
        if (event.event_type != GPIOD_LINE_EVENT_FALLING_EDGE) continue;
        on = !on;
        check(gpiod_line_set_value(relay, on), "the relay");
    }
}
