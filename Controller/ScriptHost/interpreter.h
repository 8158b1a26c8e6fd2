#ifndef INTERPRETER_H
#define INTERPRETER_H

#include <lua5.4/lua.h>

/// Creates a Lua state with the libraries for scripts and the prelude. Returns NULL if there is not enough memory.
lua_State *interpreter_open(void);

/// Handles one line with a request. After LUA_OK the stack has the answer with its line feed, and on top a boolean. The
/// boolean is true if the script's state could not be restored; the process must then exit after this answer. After an
/// error the stack has the error message.
///
/// Returns the status of lua_pcall.
int interpreter_answer(lua_State *L, const char *line, size_t length);

#endif
