#ifndef INTERPRETER_H
#define INTERPRETER_H

#include <lua5.4/lua.h>

/// Lua with what a script may use and the prelude, which answers lines. Null: there is no memory for it.
lua_State *interpreter_open(void);

/// The answer to a line, with its end, and on top of it whether it is the last one: the script's state is not what it was. Or the reason
/// why there is none.
/// Returns what lua_pcall does.
int interpreter_answer(lua_State *L, const char *line, size_t length);

#endif
