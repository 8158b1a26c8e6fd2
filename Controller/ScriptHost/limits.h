#ifndef LIMITS_H
#define LIMITS_H

#include <lua5.4/lua.h>
#include <stdbool.h>
#include <stddef.h>

/// The limits of a script: Lua's memory, and the processor time per request.
enum {
    limits_memory = 16 << 20,  // bytes
    limits_milliseconds = 1000,
    /// The additional time after which a second SIGPROF ends the process, if the script is in a C function that does
    /// not return, or if the script catches every error.
    limits_grace_milliseconds = 500,
};

/// Lua's allocator (lua_Alloc). Returns NULL beyond the limit.
void *limits_allocate(void *unused, void *block, size_t old_size, size_t new_size);

/// The bytes that Lua has allocated.
size_t limits_used(void);

/// Returns true if memory was refused since the previous call.
bool limits_refused(void);

/// Installs the signal handler of the time limit. Called before any script runs, and after an attempt that exceeded the
/// limit, which removed the handler.
void limits_prepare(void);

/// Creates the thread for attempts. Called once, in a protected call.
void limits_open(lua_State *L);

/// Lua function: attempt(function, ...) calls the function within the limits. Returns true and its result, or false and
/// the error as text.
int limits_attempt(lua_State *L);

/// Sets the Lua thread that the time limit interrupts: a coroutine, or the thread that resumed it.
void limits_enter(lua_State *thread);

#endif
