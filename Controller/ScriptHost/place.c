#include "place.h"

#include <stdio.h>
#include <string.h>

/// The chunk name as Lua stores it: '=' marks a name that is neither a file nor source text.
static char script[place_name_bytes + 1] = "=";

void place_set_script(const char *name) { snprintf(script, sizeof script, "=%s", name); }

int place_line(lua_State *L) {
    lua_Debug function;
    for (int level = 0; lua_getstack(L, level, &function); level++) {
        if (lua_getinfo(L, "Sl", &function) && function.currentline > 0 && strcmp(function.source, script) == 0) {
            return function.currentline;
        }
    }
    return 0;
}

int place_definition(lua_State *L) {
    lua_Debug function;
    return lua_getinfo(L, ">S", &function) && strcmp(function.source, script) == 0 ? function.linedefined : 0;
}

void place_write(lua_State *L, char text[place_bytes]) {
    const int line = place_line(L);
    text[0] = 0;
    if (line > 0) snprintf(text, place_bytes, "%s:%d: ", script + 1, line);
}
