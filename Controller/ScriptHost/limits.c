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
/// Where memory was refused last: Lua's own error does not say it.
static char refused_place[place_bytes];

static lua_State *volatile running;

static void *refuse(void) {
    was_refused = true;
    if (running != NULL) place_write(running, refused_place);
    return NULL;
}

void *limits_allocate(void *unused, void *block, size_t old_size, size_t new_size) {
    (void)unused;
    // Of a new block Lua tells its kind there.
    if (block == NULL) old_size = 0;
    if (new_size == 0) {
        free(block);
        used -= old_size;
        return NULL;
    }
    if (new_size > old_size && new_size - old_size > limits_memory - used) return refuse();
    void *moved = realloc(block, new_size);
    // Lua relies on that a block can be made smaller.
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

/// Runs before the next instruction, wherever that is. It stays, so that whoever catches the error gets it again at once.
static void stop(lua_State *L, lua_Debug *activation) {
    (void)activation;
    if (!expired) {
        // A coroutine that was left over from a call that was stopped.
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

/// lua_sethook is made to be called by a signal (Lua 5.4, section 4.7, and lua.c).
static void time_is_up(int number) {
    (void)number;
    expired = 1;
    if (running != NULL) interrupt(running);
}

void limits_prepare(void) {
    // Only once: the second signal finds no handler, and ends the process.
    struct sigaction action = {.sa_handler = time_is_up, .sa_flags = SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGPROF, &action, NULL);
}

static struct timeval span(int milliseconds) {
    return (struct timeval){milliseconds / 1000, milliseconds % 1000 * 1000};
}

static void begin(lua_State *L) {
    expired = 0;
    running = L;
    const struct itimerval timer = {span(limits_grace_milliseconds), span(limits_milliseconds)};
    setitimer(ITIMER_PROF, &timer, NULL);
}

static void end(lua_State *L) {
    const struct itimerval none = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &none, NULL);
    running = NULL;
    if (!expired) return;
    expired = 0;
    lua_sethook(L, NULL, 0, 0);
    limits_prepare();
}

void limits_enter(lua_State *thread) {
    running = thread;
    if (expired) interrupt(thread);
}

// MARK: - An attempt

/// Makes text of whatever was thrown, while the limits hold: `__tostring` is the script's.
static int explain(lua_State *L) {
    if (lua_type(L, 1) == LUA_TSTRING) return 1;
    if (luaL_getmetafield(L, 1, "__tostring") != LUA_TNIL) {
        luaL_tolstring(L, 1, NULL);
    } else if (lua_isnumber(L, 1)) {
        lua_tostring(L, 1);
        lua_pushvalue(L, 1);
    } else {
        lua_pushfstring(L, "an error that is no text, but %s", lua_isnil(L, 1) ? "nil" : luaL_typename(L, 1));
    }
    return 1;
}

int limits_attempt(lua_State *L) {
    lua_pushcfunction(L, explain);
    lua_insert(L, 1);
    begin(L);
    const int status = lua_pcall(L, lua_gettop(L) - 2, 1, 1);
    end(L);
    lua_pushboolean(L, status == LUA_OK);
    lua_insert(L, 2);
    if (status == LUA_ERRMEM) {
        lua_pushfstring(
            L, "%snot enough memory: a script has at most %d MiB", refused_place, (int)(limits_memory >> 20));
        lua_replace(L, 3);
    } else if (status != LUA_OK && lua_type(L, 3) != LUA_TSTRING) {
        lua_pushliteral(L, "an error whose text cannot be told");
        lua_replace(L, 3);
    }
    return 2;
}
