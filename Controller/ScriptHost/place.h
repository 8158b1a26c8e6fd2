#ifndef PLACE_H
#define PLACE_H

#include <lua5.4/lua.h>

enum { place_name_bytes = 64, place_bytes = place_name_bytes + 16 };

/// Sets the script's name for error messages: its file name. Called once.
void place_set_script(const char *name);

/// Returns the current line of the script in its innermost function; 0 if no function of the script is active.
int place_line(lua_State *L);

/// Returns the line at which the script defines the function on top of the stack, and pops it; 0 for functions that are
/// not the script's.
int place_definition(lua_State *L);

/// Writes `place_line` as the beginning of a message, such as `television.lua:12: `, or an empty text. Allocates no
/// memory.
void place_write(lua_State *L, char text[place_bytes]);

#endif
