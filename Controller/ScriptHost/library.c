#include "library.h"

#include <lua5.4/lauxlib.h>
#include <lua5.4/lualib.h>
#include <stdbool.h>

#include "limits.h"

/// Lua's own functions. They are called directly, so that their error messages have the script's line.
static lua_CFunction load, set_metatable, resume, close_thread, wrap;

/// Replaces `load`. Accepts only text, whatever `mode` is, because compiled code can corrupt the process.
static int load_text(lua_State *L) {
    if (lua_gettop(L) < 3) lua_settop(L, 3);
    lua_pushliteral(L, "t");
    lua_replace(L, 3);
    return load(L);
}

/// Replaces `setmetatable`. Rejects finalizers, because they would run at any time, outside of the time limit.
static int set_metatable_without_finalizer(lua_State *L) {
    if (lua_istable(L, 2)) {
        lua_pushliteral(L, "__gc");
        if (lua_rawget(L, 2) != LUA_TNIL) return luaL_error(L, "scripts do not support finalizers: remove '__gc'");
        lua_pop(L, 1);
    }
    return set_metatable(L);
}

// MARK: - Coroutines: the time limit must interrupt the coroutine that runs

/// Returns true if the coroutine is suspended, has not started or has ended. Otherwise it is running or waits for a
/// coroutine that it resumed: resuming or closing it is then an error, and none of its code runs.
static bool rests(lua_State *thread) {
    lua_Debug frame;
    return lua_status(thread) != LUA_OK || !lua_getstack(thread, 0, &frame);
}

static int resume_entered(lua_State *L) {
    lua_State *thread = lua_tothread(L, 1);
    if (thread != NULL && rests(thread)) limits_enter(thread);
    const int results = resume(L);
    limits_enter(L);
    return results;
}

static int close_entered(lua_State *L) {
    lua_State *thread = lua_tothread(L, 1);
    if (thread != NULL && rests(thread)) limits_enter(thread);
    const int results = close_thread(L);
    limits_enter(L);
    return results;
}

static int call_wrapped(lua_State *L) {
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    const int results = resume_entered(L);
    if (lua_toboolean(L, -results)) return results - 1;
    // As in Lua's own wrap, an error closes the coroutine's pending to-be-closed variables.
    lua_State *thread = lua_tothread(L, lua_upvalueindex(1));
    if (lua_status(thread) != LUA_OK && lua_status(thread) != LUA_YIELD) {
        limits_enter(thread);
        lua_resetthread(thread);
        limits_enter(L);
    }
    return lua_error(L);
}

static int wrap_entered(lua_State *L) {
    wrap(L);
    // Only the coroutine in the upvalue of Lua's wrapper is needed.
    lua_getupvalue(L, -1, 1);
    lua_pushcclosure(L, call_wrapped, 1);
    return 1;
}

// MARK: -

/// Replaces a function in the table on top of the stack. Returns the previous function.
static lua_CFunction replace(lua_State *L, const char *name, lua_CFunction function) {
    lua_getfield(L, -1, name);
    lua_CFunction former = lua_tocfunction(L, -1);
    lua_pop(L, 1);
    lua_pushcfunction(L, function);
    lua_setfield(L, -2, name);
    return former;
}

void library_open(lua_State *L) {
    static const luaL_Reg libraries[] = {
        {LUA_GNAME, luaopen_base},        {LUA_COLIBNAME, luaopen_coroutine}, {LUA_TABLIBNAME, luaopen_table},
        {LUA_STRLIBNAME, luaopen_string}, {LUA_UTF8LIBNAME, luaopen_utf8},    {LUA_MATHLIBNAME, luaopen_math},
        {LUA_OSLIBNAME, luaopen_os},
    };
    for (unsigned i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        luaL_requiref(L, libraries[i].name, libraries[i].func, 1);
        lua_pop(L, 1);
    }
    lua_pushglobaltable(L);
    load = replace(L, "load", load_text);
    set_metatable = replace(L, "setmetatable", set_metatable_without_finalizer);
    lua_pop(L, 1);
    lua_getglobal(L, LUA_COLIBNAME);
    resume = replace(L, "resume", resume_entered);
    close_thread = replace(L, "close", close_entered);
    wrap = replace(L, "wrap", wrap_entered);
    lua_pop(L, 1);
}

/// Pushes a copy of the table on top of the stack. Tables in it are copied too, down to the given depth.
static void push_copy(lua_State *L, int depth) {
    const int source = lua_gettop(L), copy = source + 1;
    luaL_checkstack(L, 5, NULL);
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, source) != 0;) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        if (depth > 0 && lua_istable(L, -1) && !lua_rawequal(L, -1, source)) {
            push_copy(L, depth - 1);
            lua_remove(L, -2);
        }
        lua_settable(L, copy);
    }
}

void library_push_copy(lua_State *L) {
    lua_pushglobaltable(L);
    push_copy(L, 1);
    lua_remove(L, -2);
}
