#ifndef CGPIOD_H
#define CGPIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a plug needs of GPIO lines, the same for both interfaces of libgpiod. The library is loaded when a chip is first opened:
// libgpiod.so.3 (2.x), or else libgpiod.so.2 (1.x from 1.5 on). Where a function returns an int, it is 0 or an error number,
// unless it says else.

/// 1 or 2: the interface of the library that was loaded; 0: none was.
int cgpiod_interface(void);

/// Bytes of a name with the zero that ends it, as the kernel has them (GPIO_MAX_NAME_SIZE).
#define CGPIOD_NAME_SIZE 32

/// An open chip: a bank of lines with a character device of its own. Not for two threads at once.
struct gpiod_chip;

struct cgpiod_chip_info {
    /// As in /dev: "gpiochip0".
    char name[CGPIOD_NAME_SIZE];
    /// What its driver calls it: "pinctrl-bcm2711".
    char label[CGPIOD_NAME_SIZE];
    uint32_t lines;
};

struct cgpiod_line_info {
    /// Empty: it has none.
    char name[CGPIOD_NAME_SIZE];
    /// Who has it, where `used`; the kernel knows no name for some.
    char consumer[CGPIOD_NAME_SIZE];
    bool used;
    bool output;
    bool active_low;
};

/// ELIBACC: neither library can be loaded. All other functions that take a chip may only be called after this one gave it.
int cgpiod_open(const char *path, struct gpiod_chip **chip);
void cgpiod_close(struct gpiod_chip *chip);
int cgpiod_describe(struct gpiod_chip *chip, struct cgpiod_chip_info *info);
int cgpiod_describe_line(struct gpiod_chip *chip, uint32_t offset, struct cgpiod_line_info *info);

/// Takes a line and drives it, from the first moment with this value. It is held until `descriptor` is closed, also where
/// another process has it by then; the chip may be closed before.
int cgpiod_take_output(
    struct gpiod_chip *chip, uint32_t offset, bool active_low, bool active, const char *consumer, int *descriptor);

enum cgpiod_bias { cgpiod_bias_as_is, cgpiod_bias_none, cgpiod_bias_pull_up, cgpiod_bias_pull_down };

/// Takes a line whose edges are watched, both of them: `descriptor` is readable when there are some. It is held until that is
/// closed; the chip may be closed before.
///
/// `debounce`: microseconds in which the kernel is to hide edges; 0: none. Interface 1 cannot and refuses with EOPNOTSUPP.
int cgpiod_watch(
    struct gpiod_chip *chip, uint32_t offset, bool active_low, enum cgpiod_bias bias, uint32_t debounce,
    const char *consumer, int *descriptor);

/// Which of the kernel's interfaces speaks through the descriptor of a line that is held: 1 or 2, as libgpiod's that took it; 0
/// where it is no such thing.
int cgpiod_interface_of(int descriptor);
/// `interface` as cgpiod_interface_of() says, here and below.
int cgpiod_set(int descriptor, int interface, bool active);
int cgpiod_get(int descriptor, int interface, bool *active);

struct cgpiod_edge {
    /// What the line was found to be after the edge.
    bool active;
    /// The kernel's time stamp: nanoseconds of CLOCK_MONOTONIC (CLOCK_REALTIME in kernels before 5.7).
    uint64_t time;
};

/// How many edges the kernel keeps of a line until they are read. It drops the newest (interface 1) or the oldest when it has
/// more.
#define CGPIOD_EDGES 16
/// Bytes of an edge as read(2) of the descriptor gives them, never a part of one.
size_t cgpiod_edge_size(int interface);
/// `bytes`: cgpiod_edge_size() of them, aligned anyhow.
struct cgpiod_edge cgpiod_decode(const void *bytes, int interface);

#endif
