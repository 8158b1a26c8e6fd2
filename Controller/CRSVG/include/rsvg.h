#pragma once
#include <stddef.h>

/// The result of a conversion. For every result except `done`, `message` has the reason.
enum smartplug_rsvg_result {
    smartplug_rsvg_done = 0,
    /// A library is not installed or lacks a function; `message` is the loader's error.
    smartplug_rsvg_missing = 1,
    /// The SVG cannot be parsed or drawn; `message` is librsvg's error.
    smartplug_rsvg_unreadable = 2,
    /// The picture is too large for memory, or cairo failed; `message` is cairo's error.
    smartplug_rsvg_failed = 3,
};

/// Draws an SVG document with `width` by `height` pixels. The bytes of the PNG file are passed in pieces to `take`, with
/// `context`. If the result is not smartplug_rsvg_done, `message` receives a zero-terminated text.
///
/// librsvg and cairo are loaded by the first call, so a program that draws no picture does not need these libraries.
enum smartplug_rsvg_result smartplug_rsvg_png(
    const unsigned char *svg, size_t length, int width, int height,
    void (*take)(void *context, const unsigned char *bytes, size_t count), void *context,
    char *message, size_t message_size);
