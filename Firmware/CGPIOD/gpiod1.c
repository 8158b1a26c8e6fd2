#include "interface.h"

#if CGPIOD_INTERFACE == 1

#include <errno.h>
#include <fcntl.h>
#include <linux/gpio.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct cgpiod_chip {
    struct gpiod_chip *chip;
};

/// Lines belong to their chip in this interface, so the chip stays open with them.
struct cgpiod_edges {
    struct gpiod_chip *chip;
    struct gpiod_line *line;
};

static int failure(void) { return errno ? errno : EIO; }

int cgpiod_open(const char *path, struct cgpiod_chip **chip) {
    struct cgpiod_chip *made = calloc(1, sizeof *made);
    if (!made) return ENOMEM;
    made->chip = gpiod_chip_open(path);
    if (!made->chip) {
        int error = failure();
        free(made);
        return error;
    }
    *chip = made;
    return 0;
}

void cgpiod_close(struct cgpiod_chip *chip) {
    gpiod_chip_close(chip->chip);
    free(chip);
}

int cgpiod_describe(struct cgpiod_chip *chip, struct cgpiod_chip_info *info) {
    cgpiod_copy(info->name, gpiod_chip_name(chip->chip));
    cgpiod_copy(info->label, gpiod_chip_label(chip->chip));
    info->lines = gpiod_chip_num_lines(chip->chip);
    return 0;
}

int cgpiod_describe_line(struct cgpiod_chip *chip, uint32_t offset, struct cgpiod_line_info *info) {
    struct gpiod_line *line = gpiod_chip_get_line(chip->chip, offset);
    // A line that was looked at before is remembered as it was then.
    if (!line || gpiod_line_update(line) < 0) return failure();
    cgpiod_copy(info->name, gpiod_line_name(line));
    cgpiod_copy(info->consumer, gpiod_line_consumer(line));
    info->used = gpiod_line_is_used(line);
    info->output = gpiod_line_direction(line) == GPIOD_LINE_DIRECTION_OUTPUT;
    info->active_low = gpiod_line_active_state(line) == GPIOD_LINE_ACTIVE_STATE_LOW;
    return 0;
}

/// This interface of libgpiod keeps the descriptor of an output to itself, and the service manager is to have it: so the kernel
/// is asked as libgpiod would ask it.
int cgpiod_take_output(
    struct cgpiod_chip *chip, uint32_t offset, bool active_low, bool active, const char *consumer, int *descriptor) {
    struct gpiohandle_request request = {
        .lineoffsets = {offset},
        .flags = GPIOHANDLE_REQUEST_OUTPUT | (active_low ? GPIOHANDLE_REQUEST_ACTIVE_LOW : 0),
        .default_values = {active},
        .lines = 1,
    };
    strncpy(request.consumer_label, consumer, sizeof request.consumer_label - 1);
    char path[CGPIOD_NAME_SIZE + sizeof "/dev/"];
    snprintf(path, sizeof path, "/dev/%s", gpiod_chip_name(chip->chip));
    int device = open(path, O_RDWR | O_CLOEXEC);
    if (device < 0) return errno;
    int error = ioctl(device, GPIO_GET_LINEHANDLE_IOCTL, &request) < 0 ? errno : 0;
    close(device);
    if (error) return error;
    *descriptor = request.fd;
    return 0;
}

static int bias_flag(enum cgpiod_bias bias) {
    switch (bias) {
    case cgpiod_bias_as_is: return 0;
    case cgpiod_bias_none: return GPIOD_LINE_REQUEST_FLAG_BIAS_DISABLE;
    case cgpiod_bias_pull_up: return GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_UP;
    case cgpiod_bias_pull_down: return GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_DOWN;
    }
    return 0;
}

int cgpiod_watch(
    struct cgpiod_chip *chip, uint32_t offset, bool active_low, enum cgpiod_bias bias, uint32_t debounce,
    const char *consumer, struct cgpiod_edges **edges) {
    if (debounce) return EOPNOTSUPP;
    char path[CGPIOD_NAME_SIZE + sizeof "/dev/"];
    snprintf(path, sizeof path, "/dev/%s", gpiod_chip_name(chip->chip));
    struct cgpiod_edges *made = calloc(1, sizeof *made);
    if (!made) return ENOMEM;
    made->chip = gpiod_chip_open(path);
    made->line = made->chip ? gpiod_chip_get_line(made->chip, offset) : NULL;
    int flags = bias_flag(bias) | (active_low ? GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW : 0);
    if (!made->line || gpiod_line_request_both_edges_events_flags(made->line, consumer, flags) < 0) {
        int error = failure();
        if (made->chip) gpiod_chip_close(made->chip);
        free(made);
        return error;
    }
    *edges = made;
    return 0;
}

int cgpiod_edges_descriptor(const struct cgpiod_edges *edges) { return gpiod_line_event_get_fd(edges->line); }

int cgpiod_level(struct cgpiod_edges *edges, bool *active) {
    int value = gpiod_line_get_value(edges->line);
    if (value < 0) return failure();
    *active = value;
    return 0;
}

// libgpiod only reads from the descriptor what the kernel's interface says.
const size_t cgpiod_edge_size = sizeof(struct gpioevent_data);

struct cgpiod_edge cgpiod_decode(const void *bytes) {
    struct gpioevent_data event;
    memcpy(&event, bytes, sizeof event);
    return (struct cgpiod_edge){.active = event.id == GPIOEVENT_EVENT_RISING_EDGE, .time = event.timestamp};
}

void cgpiod_release(struct cgpiod_edges *edges) {
    gpiod_chip_close(edges->chip);
    free(edges);
}

#endif
