#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// The size to which the buffer shrinks between lines, so that a long script does not stay in memory twice.
enum { kept = 16 << 10 };

static char *buffer;
static size_t capacity;
/// The bytes in the buffer, and the number of bytes at its beginning that belong to lines that were returned.
static size_t filled, given;

/// Moves the remaining bytes to the beginning and resizes the buffer. Returns false if memory is exhausted.
static bool make_room(void) {
    memmove(buffer, buffer + given, filled - given);
    filled -= given;
    given = 0;
    size_t wanted = capacity;
    if (filled == capacity) wanted = capacity == 0 ? kept : 2 * capacity;
    if (filled < kept && capacity > kept) wanted = kept;
    if (wanted == capacity) return true;
    char *moved = realloc(buffer, wanted);
    if (moved == NULL) return filled < capacity;
    buffer = moved;
    capacity = wanted;
    return true;
}

/// Reads more bytes. Returns false at the end of the input.
static bool fill(void) {
    ssize_t count;
    do {
        count = read(STDIN_FILENO, buffer + filled, capacity - filled);
    } while (count < 0 && errno == EINTR);
    if (count <= 0) return false;
    filled += (size_t)count;
    return true;
}

enum line_kind lines_next(const char **line, size_t *length) {
    bool is_too_long = false;
    size_t searched = given;
    for (;;) {
        const char *end = filled == searched ? NULL : memchr(buffer + searched, '\n', filled - searched);
        if (end != NULL) {
            *line = buffer + given;
            *length = (size_t)(end - *line);
            given += *length + 1;
            return is_too_long || *length >= lines_longest ? line_too_long : line_whole;
        }
        if (filled - given >= lines_longest) {
            is_too_long = true;
            given = filled;
        }
        if (!make_room()) {
            is_too_long = true;
            filled = 0;
        }
        searched = filled;
        if (!fill()) return line_none;
    }
}

bool lines_write(const char *text, size_t length) {
    while (length > 0) {
        const ssize_t count = write(STDOUT_FILENO, text, length);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return false;
        text += count;
        length -= (size_t)count;
    }
    return true;
}
