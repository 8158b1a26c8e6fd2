#ifndef CGPIOD_LIBGPIOD2_H
#define CGPIOD_LIBGPIOD2_H

#include <stdbool.h>
#include <stddef.h>

// The used part of libgpiod 2 (2.0 and later), copied from its gpiod.h. The firmware can be built without the header
// and started without the library. The enumerations are declared as the integers that they compile to.
// Tests/HardwareInTheLoop compiles this file together with libgpiod's header.

struct gpiod_chip;
struct gpiod_chip_info;
struct gpiod_line_info;
struct gpiod_line_settings;
struct gpiod_line_config;
struct gpiod_request_config;
struct gpiod_line_request;

/// X(type, name without gpiod_, parameters)
#define LIBGPIOD_FUNCTIONS(X) \
    X(struct gpiod_chip *, chip_open, (const char *)) \
    X(void, chip_close, (struct gpiod_chip *)) \
    X(struct gpiod_chip_info *, chip_get_info, (struct gpiod_chip *)) \
    X(const char *, chip_info_get_name, (struct gpiod_chip_info *)) \
    X(const char *, chip_info_get_label, (struct gpiod_chip_info *)) \
    X(size_t, chip_info_get_num_lines, (struct gpiod_chip_info *)) \
    X(void, chip_info_free, (struct gpiod_chip_info *)) \
    X(struct gpiod_line_info *, chip_get_line_info, (struct gpiod_chip *, unsigned int)) \
    X(const char *, line_info_get_name, (struct gpiod_line_info *)) \
    X(const char *, line_info_get_consumer, (struct gpiod_line_info *)) \
    X(bool, line_info_is_used, (struct gpiod_line_info *)) \
    X(unsigned int, line_info_get_direction, (struct gpiod_line_info *)) \
    X(bool, line_info_is_active_low, (struct gpiod_line_info *)) \
    X(void, line_info_free, (struct gpiod_line_info *)) \
    X(struct gpiod_line_settings *, line_settings_new, (void)) \
    X(int, line_settings_set_direction, (struct gpiod_line_settings *, unsigned int)) \
    X(int, line_settings_set_edge_detection, (struct gpiod_line_settings *, unsigned int)) \
    X(int, line_settings_set_bias, (struct gpiod_line_settings *, unsigned int)) \
    X(void, line_settings_set_active_low, (struct gpiod_line_settings *, bool)) \
    X(void, line_settings_set_debounce_period_us, (struct gpiod_line_settings *, unsigned long)) \
    X(int, line_settings_set_output_value, (struct gpiod_line_settings *, int)) \
    X(void, line_settings_free, (struct gpiod_line_settings *)) \
    X(struct gpiod_line_config *, line_config_new, (void)) \
    X(int, line_config_add_line_settings, \
      (struct gpiod_line_config *, const unsigned int *, size_t, struct gpiod_line_settings *)) \
    X(void, line_config_free, (struct gpiod_line_config *)) \
    X(struct gpiod_request_config *, request_config_new, (void)) \
    X(void, request_config_set_consumer, (struct gpiod_request_config *, const char *)) \
    X(void, request_config_free, (struct gpiod_request_config *)) \
    X(struct gpiod_line_request *, chip_request_lines, \
      (struct gpiod_chip *, struct gpiod_request_config *, struct gpiod_line_config *)) \
    X(int, line_request_get_fd, (struct gpiod_line_request *)) \
    X(void, line_request_release, (struct gpiod_line_request *))

/// X(name, value)
#define LIBGPIOD_CONSTANTS(X) \
    X(GPIOD_LINE_VALUE_INACTIVE, 0) \
    X(GPIOD_LINE_VALUE_ACTIVE, 1) \
    X(GPIOD_LINE_DIRECTION_INPUT, 2) \
    X(GPIOD_LINE_DIRECTION_OUTPUT, 3) \
    X(GPIOD_LINE_EDGE_BOTH, 4) \
    X(GPIOD_LINE_BIAS_AS_IS, 1) \
    X(GPIOD_LINE_BIAS_DISABLED, 3) \
    X(GPIOD_LINE_BIAS_PULL_UP, 4) \
    X(GPIOD_LINE_BIAS_PULL_DOWN, 5)

#endif
