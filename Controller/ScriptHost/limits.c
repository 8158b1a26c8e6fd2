#include "limits.h"

#include <lua5.4/lauxlib.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>

#include "place.h"

// MARK: - Memory

static size_t used;
static bool was_refused;

/// The script's line cannot be determined here: since Lua 5.4.5 the stack is not valid while it is being enlarged.
static void *refuse(void) {
    was_refused = true;
    return NULL;
}

void *limits_allocate(void *unused, void *block, size_t old_size, size_t new_size) {
    (void)unused;
    // For a new block, `old_size` is the kind of object.
    if (block == NULL) old_size = 0;
    if (new_size == 0) {
        free(block);
        used -= old_size;
        return NULL;
    }
    if (new_size > old_size && new_size - old_size > limits_memory - used) return refuse();
    void *moved = realloc(block, new_size);
    // Lua requires that shrinking a block never fails.
    if (moved == NULL) return new_size <= old_size ? block : refuse();
    used += new_size - old_size;
    return moved;
}

size_t limits_used(void) { return used; }

bool limits_refused(void) {
    const bool result = was_refused;
    was_refused = false;
    return result;
}

// MARK: - Time

static volatile sig_atomic_t expired;
static lua_State *volatile running;

/// The hook that runs before the next instruction. It stays installed, so that a script that catches the error gets it
/// again immediately.
static void stop(lua_State *L, lua_Debug *activation) {
    (void)activation;
    if (!expired) {
        // This hook remained on a coroutine after a call that was stopped.
        lua_sethook(L, NULL, 0, 0);
        return;
    }
    char place[place_bytes];
    place_write(L, place);
    lua_pushfstring(L, "%sthe script computed for more than %d s and was stopped", place, limits_milliseconds / 1000);
    lua_error(L);
}

static void interrupt(lua_State *L) {
    lua_sethook(L, stop, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

/// lua_sethook may be called from a signal handler (Lua 5.4, section 4.7, and lua.c).
static void time_is_up(int number) {
    (void)number;
    expired = 1;
    if (running != NULL) interrupt(running);
}

void limits_prepare(void) {
    // The handler runs once; a second signal has the default action and ends the process.
    struct sigaction action = {.sa_handler = time_is_up, .sa_flags = SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGPROF, &action, NULL);
}

static struct timeval span(int milliseconds) {
    return (struct timeval){milliseconds / 1000, milliseconds % 1000 * 1000};
}

static void begin(lua_State *thread) {
    expired = 0;
    running = thread;
    const struct itimerval timer = {span(limits_grace_milliseconds), span(limits_milliseconds)};
    setitimer(ITIMER_PROF, &timer, NULL);
}

static void end(lua_State *thread) {
    const struct itimerval none = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &none, NULL);
    running = NULL;
    if (!expired) return;
    expired = 0;
    lua_sethook(thread, NULL, 0, 0);
    limits_prepare();
}

void limits_enter(lua_State *thread) {
    running = thread;
    if (expired) interrupt(thread);
}

// MARK: - An attempt

/// The Lua thread in which every attempt runs. An error leaves its stack unchanged, so the script's line can be read
/// even after a memory error, for which Lua calls no message handler.
static lua_State *attempts;

void limits_open(lua_State *L) {
    attempts = lua_newthread(L);
    luaL_ref(L, LUA_REGISTRYINDEX);
}

/// Calls the function from C. A coroutine cannot yield across a C function, so an attempt always runs to its end.
static int call(lua_State *thread) {
    lua_call(thread, lua_gettop(thread) - 1, 1);
    return 1;
}

/// Converts a thrown value to text within the limits, because `__tostring` may be a function of the script.
static int explain(lua_State *thread) {
    if (lua_type(thread, 1) == LUA_TSTRING) return 1;
    if (luaL_getmetafield(thread, 1, "__tostring") != LUA_TNIL) {
        luaL_tolstring(thread, 1, NULL);
    } else if (lua_isnumber(thread, 1)) {
        lua_tostring(thread, 1);
        lua_pushvalue(thread, 1);
    } else {
        lua_pushfstring(thread, "an error that is not text but %s", lua_isnil(thread, 1) ? "nil" : luaL_typename(thread, 1));
    }
    return 1;
}

/// Calls the function that is on the thread's stack below `count` arguments. Afterwards the stack has the result or the
/// error, and to-be-closed variables are closed. After a memory error, `place` is the script's line.
static int run(lua_State *thread, lua_State *L, int count, char place[place_bytes]) {
    int results;
    const int status = lua_resume(thread, L, count, &results);
    if (status == LUA_OK) return status;
    if (status == LUA_ERRMEM) place_write(thread, place);
    return lua_resetthread(thread);
}

int limits_attempt(lua_State *L) {
    lua_State *thread = attempts;
    const int count = lua_gettop(L);
    char place[place_bytes] = "";
    lua_pushcfunction(thread, call);
    lua_xmove(L, thread, count);
    begin(thread);
    int status = run(thread, L, count, place);
    const bool is_fine = status == LUA_OK;
    if (!is_fine && status != LUA_ERRMEM && lua_type(thread, -1) != LUA_TSTRING) {
        lua_pushcfunction(thread, explain);
        lua_insert(thread, -2);
        status = run(thread, L, 1, place);
    }
    end(thread);
    lua_pushboolean(L, is_fine);
    if (status == LUA_ERRMEM) {
        lua_pushfstring(L, "%snot enough memory: a script has at most %d MiB", place, (int)(limits_memory >> 20));
    } else if (is_fine || lua_type(thread, -1) == LUA_TSTRING) {
        lua_xmove(thread, L, 1);
    } else {
        lua_pushliteral(L, "an error whose text cannot be converted");
    }
    lua_settop(thread, 0);
    return 2;
}
