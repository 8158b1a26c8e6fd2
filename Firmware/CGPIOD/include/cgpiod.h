#ifndef CGPIOD_H
#define CGPIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The GPIO functions of a plug, identical for both interfaces of libgpiod. The first opened chip loads the library:
// libgpiod.so.3 (2.x), or else libgpiod.so.2 (1.x from 1.5 on). Functions that return an int return 0 or an error
// number, unless documented otherwise.

/// Returns the interface of the loaded library, 1 or 2, or 0 before a library is loaded.
int cgpiod_interface(void);

/// The size of a name in bytes with the terminating zero (GPIO_MAX_NAME_SIZE in the kernel).
#define CGPIOD_NAME_SIZE 32

/// An open chip: a bank of lines with its own character device. It must not be used by two threads at once.
struct gpiod_chip;

struct cgpiod_chip_info {
    /// The name in /dev: "gpiochip0".
    char name[CGPIOD_NAME_SIZE];
    /// The driver's label: "pinctrl-bcm2711".
    char label[CGPIOD_NAME_SIZE];
    uint32_t lines;
};

struct cgpiod_line_info {
    /// The name of the line; empty if it has none.
    char name[CGPIOD_NAME_SIZE];
    /// The user of the line, if `used` is true and the kernel has a name for it.
    char consumer[CGPIOD_NAME_SIZE];
    bool used;
    bool output;
    bool active_low;
};

/// Opens a chip. Returns ELIBACC if neither library can be loaded. All other functions with a chip require one from
/// this function.
int cgpiod_open(const char *path, struct gpiod_chip **chip);
void cgpiod_close(struct gpiod_chip *chip);
int cgpiod_describe(struct gpiod_chip *chip, struct cgpiod_chip_info *info);
int cgpiod_describe_line(struct gpiod_chip *chip, uint32_t offset, struct cgpiod_line_info *info);

/// Requests a line as an output with this initial value. The line is held until `descriptor` is closed, even in another
/// process; the chip may be closed earlier.
int cgpiod_take_output(
    struct gpiod_chip *chip, uint32_t offset, bool active_low, bool active, const char *consumer, int *descriptor);

enum cgpiod_bias { cgpiod_bias_as_is, cgpiod_bias_none, cgpiod_bias_pull_up, cgpiod_bias_pull_down };

/// Requests a line and watches both edges: `descriptor` is readable when there are events. The line is held until the
/// descriptor is closed; the chip may be closed earlier.
///
/// `debounce` is the kernel's debounce time in microseconds; 0 for none. Interface 1 does not support it and fails with
/// EOPNOTSUPP.
int cgpiod_watch(
    struct gpiod_chip *chip, uint32_t offset, bool active_low, enum cgpiod_bias bias, uint32_t debounce,
    const char *consumer, int *descriptor);

/// Returns the kernel interface for the descriptor of a line: 1 or 2, like the libgpiod interface that requested it; 0
/// if the descriptor is not a line.
int cgpiod_interface_of(int descriptor);
/// Sets the value of a line. `interface` is the result of cgpiod_interface_of(), here and below.
int cgpiod_set(int descriptor, int interface, bool active);
int cgpiod_get(int descriptor, int interface, bool *active);

struct cgpiod_edge {
    /// True if the line is active after the edge.
    bool active;
    /// The kernel's time stamp: nanoseconds of CLOCK_MONOTONIC (CLOCK_REALTIME in kernels before 5.7).
    uint64_t time;
};

/// The number of edges per line that the kernel stores until they are read. If more edges arrive, the kernel drops the
/// newest edge (interface 1) or the oldest one (interface 2).
#define CGPIOD_EDGES 16
/// Returns the size of an edge in read(2) of the descriptor. A read never returns a partial edge.
size_t cgpiod_edge_size(int interface);
/// Decodes an edge from cgpiod_edge_size() bytes with any alignment.
struct cgpiod_edge cgpiod_decode(const void *bytes, int interface);

#endif
