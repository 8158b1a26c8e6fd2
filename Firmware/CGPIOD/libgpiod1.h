#ifndef CGPIOD_LIBGPIOD1_H
#define CGPIOD_LIBGPIOD1_H

#include <stdbool.h>

// The used part of libgpiod 1 (1.5 and later), copied from its gpiod.h. The firmware can be built without the header
// and started without the library. Tests/HardwareInTheLoop compiles this file together with libgpiod's header.

struct gpiod_chip;
struct gpiod_line;

/// X(type, name without gpiod_, parameters)
#define LIBGPIOD_FUNCTIONS(X) \
    X(struct gpiod_chip *, chip_open, (const char *)) \
    X(void, chip_close, (struct gpiod_chip *)) \
    X(const char *, chip_name, (struct gpiod_chip *)) \
    X(const char *, chip_label, (struct gpiod_chip *)) \
    X(unsigned int, chip_num_lines, (struct gpiod_chip *)) \
    X(struct gpiod_line *, chip_get_line, (struct gpiod_chip *, unsigned int)) \
    X(int, line_update, (struct gpiod_line *)) \
    X(const char *, line_name, (struct gpiod_line *)) \
    X(const char *, line_consumer, (struct gpiod_line *)) \
    X(bool, line_is_used, (struct gpiod_line *)) \
    X(int, line_direction, (struct gpiod_line *)) \
    X(int, line_active_state, (struct gpiod_line *)) \
    X(int, line_request_both_edges_events_flags, (struct gpiod_line *, const char *, int)) \
    X(int, line_event_get_fd, (struct gpiod_line *)) \
    X(void, line_release, (struct gpiod_line *))

/// X(name, value)
#define LIBGPIOD_CONSTANTS(X) \
    X(GPIOD_LINE_DIRECTION_OUTPUT, 2) \
    X(GPIOD_LINE_ACTIVE_STATE_LOW, 2) \
    X(GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW, 4) \
    X(GPIOD_LINE_REQUEST_FLAG_BIAS_DISABLE, 8) \
    X(GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_DOWN, 16) \
    X(GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_UP, 32)

#endif
