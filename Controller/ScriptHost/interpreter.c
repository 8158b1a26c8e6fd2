#include "interpreter.h"

#include <lua5.4/lauxlib.h>
#include <lua5.4/lua-cjson.h>
#include <lua5.4/lualib.h>

#include "limits.h"
#include "library.h"
#include "place.h"
#include "prelude.h"

/// The registry reference of the function that answers a line.
static int answering = LUA_NOREF;

static int where(lua_State *L) {
    char place[place_bytes];
    place_write(L, place);
    lua_pushstring(L, place);
    return 1;
}

/// Returns the script's line that is being executed. After a tail call, or in a coroutine, the stack may have no frame
/// of the script. The result is then the line at which the given function is defined.
static int line(lua_State *L) {
    const int line = place_line(L);
    lua_settop(L, 1);
    lua_pushinteger(L, line > 0 ? line : place_definition(L));
    return 1;
}

static int name_script(lua_State *L) {
    place_set_script(luaL_checkstring(L, 1));
    return 0;
}

/// Runs each file of the prelude with a shared table that scripts cannot access. Each file has its own globals, which
/// scripts cannot change.
static int prepare(lua_State *L) {
    limits_open(L);
    library_open(L);
    library_push_copy(L);
    static const luaL_Reg functions[] = {
        {"attempt", limits_attempt}, {"where", where}, {"line", line}, {"nameScript", name_script}, {NULL, NULL},
    };
    luaL_newlib(L, functions);
    lua_pushcfunction(L, luaopen_cjson);
    lua_call(L, 0, 1);
    lua_setfield(L, -2, "json");
    lua_pushglobaltable(L);
    lua_setfield(L, -2, "globals");
    for (const struct prelude_file *file = prelude_files; file->name != NULL; file++) {
        if (luaL_loadbufferx(L, file->text, file->length, file->name, "t") != LUA_OK) return lua_error(L);
        lua_pushvalue(L, 1);
        lua_setupvalue(L, -2, 1);
        lua_pushvalue(L, -2);
        lua_call(L, 1, 0);
    }
    lua_getfield(L, -1, "answer");
    answering = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

lua_State *interpreter_open(void) {
    lua_State *L = lua_newstate(limits_allocate, NULL);
    if (L == NULL) return NULL;
    lua_pushcfunction(L, prepare);
    if (lua_pcall(L, 0, 0, 0) != LUA_OK) return NULL;
    lua_gc(L, LUA_GCCOLLECT);
    return L;
}

/// Creates the Lua string in a protected call, because the allocation may fail.
static int answer(lua_State *L) {
    const size_t length = (size_t)lua_tointeger(L, 2);
    lua_rawgeti(L, LUA_REGISTRYINDEX, answering);
    lua_pushlstring(L, lua_touserdata(L, 1), length);
    lua_call(L, 1, 2);
    return 2;
}

int interpreter_answer(lua_State *L, const char *line, size_t length) {
    lua_settop(L, 0);
    lua_pushcfunction(L, answer);
    lua_pushlightuserdata(L, (void *)line);
    lua_pushinteger(L, (lua_Integer)length);
    return lua_pcall(L, 2, 2, 0);
}
