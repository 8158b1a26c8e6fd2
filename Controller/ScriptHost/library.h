#ifndef LIBRARY_H
#define LIBRARY_H

#include <lua5.4/lua.h>

/// Opens those of Lua's libraries that a script gets some of, with the functions replaced that would reach beyond the limits. What a
/// script may not have is taken away by the prelude.
void library_open(lua_State *L);

/// Pushes a table with all of it, each library copied: what a script changes in its own is not changed there.
void library_push_copy(lua_State *L);

#endif
