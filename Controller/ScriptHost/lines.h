#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>

/// The longest line from the controller in bytes, with its line feed. A request with a script of 128 KiB and a state of
/// 64 KiB fits into a line.
enum { lines_longest = 1 << 20 };

enum line_kind { line_whole, line_too_long, line_none };

/// Reads the next line of standard input. The line has no line feed and is valid until the next call. A line that is
/// too long is read to its end and discarded. Returns line_none when the controller has closed its end.
enum line_kind lines_next(const char **line, size_t *length);

/// Writes to standard output. Returns false if the write failed, for example because the controller has closed its end.
bool lines_write(const char *text, size_t length);

#endif
