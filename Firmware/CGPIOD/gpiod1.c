#include <errno.h>
#include <fcntl.h>
#include <linux/gpio.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "interface.h"
#include "libgpiod1.h"

static struct {
    LIBGPIOD_FUNCTIONS(CGPIOD_MEMBER)
} gpiod;
static const struct cgpiod_symbol symbols[] = {LIBGPIOD_FUNCTIONS(CGPIOD_SYMBOL)};
enum { LIBGPIOD_CONSTANTS(CGPIOD_CONSTANT) };

static struct gpiod_chip *open_chip(const char *path) { return gpiod.chip_open(path); }

static void close_chip(struct gpiod_chip *chip) { gpiod.chip_close(chip); }

static int describe(struct gpiod_chip *chip, struct cgpiod_chip_info *info) {
    cgpiod_copy(info->name, gpiod.chip_name(chip));
    cgpiod_copy(info->label, gpiod.chip_label(chip));
    info->lines = gpiod.chip_num_lines(chip);
    return 0;
}

static int describe_line(struct gpiod_chip *chip, uint32_t offset, struct cgpiod_line_info *info) {
    struct gpiod_line *line = gpiod.chip_get_line(chip, offset);
    // The library caches a line's state, so it must be updated.
    if (!line || gpiod.line_update(line) < 0) return cgpiod_failure();
    cgpiod_copy(info->name, gpiod.line_name(line));
    cgpiod_copy(info->consumer, gpiod.line_consumer(line));
    info->used = gpiod.line_is_used(line);
    info->output = gpiod.line_direction(line) == GPIOD_LINE_DIRECTION_OUTPUT;
    info->active_low = gpiod.line_active_state(line) == GPIOD_LINE_ACTIVE_STATE_LOW;
    return 0;
}

/// This interface of libgpiod does not expose the descriptor of an output, which the service manager needs. The
/// function therefore makes the same system calls as libgpiod.
static int take_output(
    struct gpiod_chip *chip, uint32_t offset, bool active_low, bool active, const char *consumer, int *descriptor) {
    struct gpiohandle_request request = {
        .lineoffsets = {offset},
        .flags = GPIOHANDLE_REQUEST_OUTPUT | (active_low ? GPIOHANDLE_REQUEST_ACTIVE_LOW : 0),
        .default_values = {active},
        .lines = 1,
    };
    strncpy(request.consumer_label, consumer, sizeof request.consumer_label - 1);
    char path[CGPIOD_NAME_SIZE + sizeof "/dev/"];
    snprintf(path, sizeof path, "/dev/%s", gpiod.chip_name(chip));
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

static int watch(
    struct gpiod_chip *chip, uint32_t offset, bool active_low, enum cgpiod_bias bias, uint32_t debounce,
    const char *consumer, int *descriptor) {
    if (debounce) return EOPNOTSUPP;
    struct gpiod_line *line = gpiod.chip_get_line(chip, offset);
    int flags = bias_flag(bias) | (active_low ? GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW : 0);
    if (!line || gpiod.line_request_both_edges_events_flags(line, consumer, flags) < 0) return cgpiod_failure();
    int error = cgpiod_duplicate(gpiod.line_event_get_fd(line), descriptor);
    gpiod.line_release(line);
    return error;
}

const struct cgpiod_library cgpiod_libgpiod1 = {
    .interface = 1,
    .file = "libgpiod.so.2",
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
    .open = open_chip,
    .close = close_chip,
    .describe = describe,
    .describe_line = describe_line,
    .take_output = take_output,
    .watch = watch,
};
