#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>

/// A line from the controller has at most so many bytes, its end included; it holds a whole script, or a state of 64 KiB.
enum { lines_longest = 1 << 20 };

enum line_kind { line_whole, line_too_long, line_none };

/// The next line of standard input without its end, which stays where it is until the next is asked for. Of one that is too long
/// everything has been read and nothing kept. None: the controller has closed its end.
enum line_kind lines_next(const char **line, size_t *length);

/// Writes to standard output. False: nobody reads it any more.
bool lines_write(const char *text, size_t length);

#endif
