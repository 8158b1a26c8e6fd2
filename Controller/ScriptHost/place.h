#ifndef PLACE_H
#define PLACE_H

#include <lua5.4/lua.h>

enum { place_name_bytes = 64, place_bytes = place_name_bytes + 16 };

/// Names the script, once: its file's name, as errors show it.
void place_set_script(const char *name);

/// The line of the script that is running, that of the innermost of its functions; 0 where there is none.
int place_line(lua_State *L);

/// The line at which the script defines the function on top of the stack, which is popped; 0 where it is none of the script's.
int place_definition(lua_State *L);

/// `place_line` as a message begins with it, `television.lua:12: `, or nothing. Allocates nothing.
void place_write(lua_State *L, char text[place_bytes]);

#endif
