#ifndef LIBRARY_H
#define LIBRARY_H

#include <lua5.4/lua.h>

/// Opens Lua's libraries for scripts, and replaces functions that could bypass the limits. The prelude removes the
/// functions that scripts must not have.
void library_open(lua_State *L);

/// Pushes a table with copies of all libraries. A script's changes to its libraries do not affect the copies.
void library_push_copy(lua_State *L);

#endif
