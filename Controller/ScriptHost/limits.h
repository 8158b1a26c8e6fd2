#ifndef LIMITS_H
#define LIMITS_H

#include <lua5.4/lua.h>
#include <stdbool.h>
#include <stddef.h>

/// What a script may take: memory of Lua's own, and time of computing for each thing that it is asked for.
enum {
    limits_memory = 16 << 20,  // bytes
    limits_milliseconds = 1000,
    /// So much later the kernel ends the process by SIGPROF: the script is in a C function that does not come back, or catches every error.
    limits_grace_milliseconds = 500,
};

/// Gives memory to Lua (lua_Alloc), and beyond the limit none.
void *limits_allocate(void *unused, void *block, size_t old_size, size_t new_size);

/// Bytes that Lua has now.
size_t limits_used(void);

/// Whether memory was refused since this was asked last.
bool limits_refused(void);

/// Sets up what ends a computation. Once, before anything is computed.
void limits_prepare(void);

/// Makes what attempts need. Once, in a protected call.
void limits_open(lua_State *L);

/// Lua: attempt(function, ...) calls the function within the limits: true and its result, or false and why it failed, as text.
int limits_attempt(lua_State *L);

/// From now on this thread of Lua runs, a coroutine or what resumed one: it is the one to be interrupted.
void limits_enter(lua_State *thread);

#endif
