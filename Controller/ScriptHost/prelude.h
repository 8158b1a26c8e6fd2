#ifndef PRELUDE_H
#define PRELUDE_H

#include <stddef.h>

/// What a script sees, written in Lua: it is part of the program, so that nothing can be of another version.
struct prelude_file {
    /// As errors show it: "=prelude/state.lua".
    const char *name;
    const char *text;
    size_t length;
};

/// In the order in which they run; the one after the last has no name.
extern const struct prelude_file prelude_files[];

#endif
