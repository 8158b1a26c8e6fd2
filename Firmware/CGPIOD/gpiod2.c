#include "interface.h"

#if CGPIOD_INTERFACE == 2

#include <errno.h>
#include <fcntl.h>
#include <linux/gpio.h>
#include <stdlib.h>

struct cgpiod_chip {
    struct gpiod_chip *chip;
};

struct cgpiod_edges {
    struct gpiod_line_request *request;
    unsigned int offset;
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
    struct gpiod_chip_info *found = gpiod_chip_get_info(chip->chip);
    if (!found) return failure();
    cgpiod_copy(info->name, gpiod_chip_info_get_name(found));
    cgpiod_copy(info->label, gpiod_chip_info_get_label(found));
    info->lines = (uint32_t)gpiod_chip_info_get_num_lines(found);
    gpiod_chip_info_free(found);
    return 0;
}

int cgpiod_describe_line(struct cgpiod_chip *chip, uint32_t offset, struct cgpiod_line_info *info) {
    struct gpiod_line_info *found = gpiod_chip_get_line_info(chip->chip, offset);
    if (!found) return failure();
    cgpiod_copy(info->name, gpiod_line_info_get_name(found));
    cgpiod_copy(info->consumer, gpiod_line_info_get_consumer(found));
    info->used = gpiod_line_info_is_used(found);
    info->output = gpiod_line_info_get_direction(found) == GPIOD_LINE_DIRECTION_OUTPUT;
    info->active_low = gpiod_line_info_is_active_low(found);
    gpiod_line_info_free(found);
    return 0;
}

/// NULL, with errno set, where the line cannot be had. The settings are used up.
static struct gpiod_line_request *request_line(
    struct gpiod_chip *chip, unsigned int offset, struct gpiod_line_settings *settings, const char *consumer) {
    struct gpiod_line_request *request = NULL;
    struct gpiod_line_config *lines = gpiod_line_config_new();
    struct gpiod_request_config *config = gpiod_request_config_new();
    if (lines && config && gpiod_line_config_add_line_settings(lines, &offset, 1, settings) == 0) {
        gpiod_request_config_set_consumer(config, consumer);
        request = gpiod_chip_request_lines(chip, config, lines);
    }
    int error = failure();
    gpiod_request_config_free(config);
    gpiod_line_config_free(lines);
    gpiod_line_settings_free(settings);
    errno = error;
    return request;
}

int cgpiod_take_output(
    struct cgpiod_chip *chip, uint32_t offset, bool active_low, bool active, const char *consumer, int *descriptor) {
    struct gpiod_line_settings *settings = gpiod_line_settings_new();
    if (!settings) return ENOMEM;
    gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_OUTPUT);
    gpiod_line_settings_set_active_low(settings, active_low);
    gpiod_line_settings_set_output_value(settings, active ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE);
    struct gpiod_line_request *request = request_line(chip->chip, offset, settings, consumer);
    if (!request) return failure();
    // The line is held as long as any descriptor of it is open: this one outlives the object.
    int copy = fcntl(gpiod_line_request_get_fd(request), F_DUPFD_CLOEXEC, 3);
    int error = copy < 0 ? errno : 0;
    gpiod_line_request_release(request);
    if (!error) *descriptor = copy;
    return error;
}

static enum gpiod_line_bias bias_setting(enum cgpiod_bias bias) {
    switch (bias) {
    case cgpiod_bias_as_is: return GPIOD_LINE_BIAS_AS_IS;
    case cgpiod_bias_none: return GPIOD_LINE_BIAS_DISABLED;
    case cgpiod_bias_pull_up: return GPIOD_LINE_BIAS_PULL_UP;
    case cgpiod_bias_pull_down: return GPIOD_LINE_BIAS_PULL_DOWN;
    }
    return GPIOD_LINE_BIAS_AS_IS;
}

int cgpiod_watch(
    struct cgpiod_chip *chip, uint32_t offset, bool active_low, enum cgpiod_bias bias, uint32_t debounce,
    const char *consumer, struct cgpiod_edges **edges) {
    struct gpiod_line_settings *settings = gpiod_line_settings_new();
    if (!settings) return ENOMEM;
    gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_INPUT);
    gpiod_line_settings_set_active_low(settings, active_low);
    gpiod_line_settings_set_edge_detection(settings, GPIOD_LINE_EDGE_BOTH);
    gpiod_line_settings_set_bias(settings, bias_setting(bias));
    gpiod_line_settings_set_debounce_period_us(settings, debounce);
    struct cgpiod_edges *made = calloc(1, sizeof *made);
    struct gpiod_line_request *request = request_line(chip->chip, offset, settings, consumer);
    if (!made || !request) {
        int error = failure();
        if (request) gpiod_line_request_release(request);
        free(made);
        return error;
    }
    *made = (struct cgpiod_edges){.request = request, .offset = offset};
    *edges = made;
    return 0;
}

int cgpiod_edges_descriptor(const struct cgpiod_edges *edges) { return gpiod_line_request_get_fd(edges->request); }

int cgpiod_level(struct cgpiod_edges *edges, bool *active) {
    enum gpiod_line_value value = gpiod_line_request_get_value(edges->request, edges->offset);
    if (value == GPIOD_LINE_VALUE_ERROR) return failure();
    *active = value == GPIOD_LINE_VALUE_ACTIVE;
    return 0;
}

// libgpiod only reads from the descriptor what the kernel's interface says.
const size_t cgpiod_edge_size = sizeof(struct gpio_v2_line_event);

struct cgpiod_edge cgpiod_decode(const void *bytes) {
    struct gpio_v2_line_event event;
    memcpy(&event, bytes, sizeof event);
    return (struct cgpiod_edge){.active = event.id == GPIO_V2_LINE_EVENT_RISING_EDGE, .time = event.timestamp_ns};
}

void cgpiod_release(struct cgpiod_edges *edges) {
    gpiod_line_request_release(edges->request);
    free(edges);
}

#endif
