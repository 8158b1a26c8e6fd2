#pragma once
#include <stddef.h>

/// What became of a picture.
enum smartplug_rsvg_result {
    smartplug_rsvg_done = 0,
    /// A library is not on this machine, or lacks a function; `message` is what the loader says.
    smartplug_rsvg_missing = 1,
    /// The SVG cannot be read or drawn; `message` is what librsvg says.
    smartplug_rsvg_unreadable = 2,
    /// The picture is too large for memory, or cairo failed; `message` is what cairo says.
    smartplug_rsvg_failed = 3,
};

/// Draws an SVG document onto `width` times `height` pixels and hands the bytes of a PNG file, in pieces, to `take`, which gets
/// `context`. `message` gets text that ends with a zero byte where the result is not smartplug_rsvg_done.
///
/// librsvg and cairo are loaded when this is first called: whoever draws no picture needs neither.
enum smartplug_rsvg_result smartplug_rsvg_png(
    const unsigned char *svg, size_t length, int width, int height,
    void (*take)(void *context, const unsigned char *bytes, size_t count), void *context,
    char *message, size_t message_size);
