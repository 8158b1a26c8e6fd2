// Accesses requested lines by their descriptors with direct system calls. A line from another process has no libgpiod
// object in this one.

#include <errno.h>
#include <linux/gpio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "cgpiod.h"

static int result(int returned) { return returned < 0 ? errno : 0; }

int cgpiod_interface_of(int descriptor) {
    bool active;
    if (cgpiod_get(descriptor, 2, &active) == 0) return 2;
    return cgpiod_get(descriptor, 1, &active) == 0 ? 1 : 0;
}

int cgpiod_set(int descriptor, int interface, bool active) {
    if (interface == 2) {
        struct gpio_v2_line_values values = {.bits = active, .mask = 1};
        return result(ioctl(descriptor, GPIO_V2_LINE_SET_VALUES_IOCTL, &values));
    }
    struct gpiohandle_data data = {.values = {active}};
    return result(ioctl(descriptor, GPIOHANDLE_SET_LINE_VALUES_IOCTL, &data));
}

int cgpiod_get(int descriptor, int interface, bool *active) {
    int error;
    if (interface == 2) {
        struct gpio_v2_line_values values = {.mask = 1};
        error = result(ioctl(descriptor, GPIO_V2_LINE_GET_VALUES_IOCTL, &values));
        *active = values.bits & 1;
    } else {
        struct gpiohandle_data data = {.values = {0}};
        error = result(ioctl(descriptor, GPIOHANDLE_GET_LINE_VALUES_IOCTL, &data));
        *active = data.values[0] != 0;
    }
    return error;
}

size_t cgpiod_edge_size(int interface) {
    return interface == 2 ? sizeof(struct gpio_v2_line_event) : sizeof(struct gpioevent_data);
}

struct cgpiod_edge cgpiod_decode(const void *bytes, int interface) {
    if (interface == 2) {
        struct gpio_v2_line_event event;
        memcpy(&event, bytes, sizeof event);
        return (struct cgpiod_edge){.active = event.id == GPIO_V2_LINE_EVENT_RISING_EDGE, .time = event.timestamp_ns};
    }
    struct gpioevent_data event;
    memcpy(&event, bytes, sizeof event);
    return (struct cgpiod_edge){.active = event.id == GPIOEVENT_EVENT_RISING_EDGE, .time = event.timestamp};
}
