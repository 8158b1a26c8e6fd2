#ifndef PRELUDE_H
#define PRELUDE_H

#include <stddef.h>

/// A file of the Lua code that provides a script's functions. The file is embedded into the program, so that the code
/// always matches the program.
struct prelude_file {
    /// The chunk name for error messages: "=prelude/state.lua".
    const char *name;
    const char *text;
    size_t length;
};

/// The files in the order in which they run. The last entry has a null name.
extern const struct prelude_file prelude_files[];

#endif
