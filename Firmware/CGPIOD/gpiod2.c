#include <errno.h>

#include "interface.h"
#include "libgpiod2.h"

static struct {
    LIBGPIOD_FUNCTIONS(CGPIOD_MEMBER)
} gpiod;
static const struct cgpiod_symbol symbols[] = {LIBGPIOD_FUNCTIONS(CGPIOD_SYMBOL)};
enum { LIBGPIOD_CONSTANTS(CGPIOD_CONSTANT) };

static struct gpiod_chip *open_chip(const char *path) { return gpiod.chip_open(path); }

static void close_chip(struct gpiod_chip *chip) { gpiod.chip_close(chip); }

static int describe(struct gpiod_chip *chip, struct cgpiod_chip_info *info) {
    struct gpiod_chip_info *found = gpiod.chip_get_info(chip);
    if (!found) return cgpiod_failure();
    cgpiod_copy(info->name, gpiod.chip_info_get_name(found));
    cgpiod_copy(info->label, gpiod.chip_info_get_label(found));
    info->lines = (uint32_t)gpiod.chip_info_get_num_lines(found);
    gpiod.chip_info_free(found);
    return 0;
}

static int describe_line(struct gpiod_chip *chip, uint32_t offset, struct cgpiod_line_info *info) {
    struct gpiod_line_info *found = gpiod.chip_get_line_info(chip, offset);
    if (!found) return cgpiod_failure();
    cgpiod_copy(info->name, gpiod.line_info_get_name(found));
    cgpiod_copy(info->consumer, gpiod.line_info_get_consumer(found));
    info->used = gpiod.line_info_is_used(found);
    info->output = gpiod.line_info_get_direction(found) == GPIOD_LINE_DIRECTION_OUTPUT;
    info->active_low = gpiod.line_info_is_active_low(found);
    gpiod.line_info_free(found);
    return 0;
}

/// Requests the line. Frees the settings.
static int request_line(
    struct gpiod_chip *chip, unsigned int offset, struct gpiod_line_settings *settings, const char *consumer,
    int *descriptor) {
    struct gpiod_line_request *request = NULL;
    struct gpiod_line_config *lines = gpiod.line_config_new();
    struct gpiod_request_config *config = gpiod.request_config_new();
    if (lines && config && gpiod.line_config_add_line_settings(lines, &offset, 1, settings) == 0) {
        gpiod.request_config_set_consumer(config, consumer);
        request = gpiod.chip_request_lines(chip, config, lines);
    }
    int error = request ? cgpiod_duplicate(gpiod.line_request_get_fd(request), descriptor) : cgpiod_failure();
    if (request) gpiod.line_request_release(request);
    gpiod.request_config_free(config);
    gpiod.line_config_free(lines);
    gpiod.line_settings_free(settings);
    return error;
}

static int take_output(
    struct gpiod_chip *chip, uint32_t offset, bool active_low, bool active, const char *consumer, int *descriptor) {
    struct gpiod_line_settings *settings = gpiod.line_settings_new();
    if (!settings) return ENOMEM;
    gpiod.line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_OUTPUT);
    gpiod.line_settings_set_active_low(settings, active_low);
    gpiod.line_settings_set_output_value(settings, active ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE);
    return request_line(chip, offset, settings, consumer, descriptor);
}

static unsigned int bias_setting(enum cgpiod_bias bias) {
    switch (bias) {
    case cgpiod_bias_as_is: return GPIOD_LINE_BIAS_AS_IS;
    case cgpiod_bias_none: return GPIOD_LINE_BIAS_DISABLED;
    case cgpiod_bias_pull_up: return GPIOD_LINE_BIAS_PULL_UP;
    case cgpiod_bias_pull_down: return GPIOD_LINE_BIAS_PULL_DOWN;
    }
    return GPIOD_LINE_BIAS_AS_IS;
}

static int watch(
    struct gpiod_chip *chip, uint32_t offset, bool active_low, enum cgpiod_bias bias, uint32_t debounce,
    const char *consumer, int *descriptor) {
    struct gpiod_line_settings *settings = gpiod.line_settings_new();
    if (!settings) return ENOMEM;
    gpiod.line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_INPUT);
    gpiod.line_settings_set_active_low(settings, active_low);
    gpiod.line_settings_set_edge_detection(settings, GPIOD_LINE_EDGE_BOTH);
    gpiod.line_settings_set_bias(settings, bias_setting(bias));
    gpiod.line_settings_set_debounce_period_us(settings, debounce);
    return request_line(chip, offset, settings, consumer, descriptor);
}

const struct cgpiod_library cgpiod_libgpiod2 = {
    .interface = 2,
    .file = "libgpiod.so.3",
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
    .open = open_chip,
    .close = close_chip,
    .describe = describe,
    .describe_line = describe_line,
    .take_output = take_output,
    .watch = watch,
};
