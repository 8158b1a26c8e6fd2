#include "prelude.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const char words[] = {
#embed "prelude/words.lua"
};
static const char json[] = {
#embed "prelude/json.lua"
};
static const char state[] = {
#embed "prelude/state.lua"
};
static const char plugs[] = {
#embed "prelude/plugs.lua"
};
static const char effects[] = {
#embed "prelude/effects.lua"
};
static const char triggers[] = {
#embed "prelude/triggers.lua"
};
static const char reduced[] = {
#embed "prelude/reduced.lua"
};
static const char lines[] = {
#embed "prelude/lines.lua"
};

const struct prelude_file prelude_files[] = {
    {"=prelude/words.lua", words, sizeof words},
    {"=prelude/json.lua", json, sizeof json},
    {"=prelude/state.lua", state, sizeof state},
    {"=prelude/plugs.lua", plugs, sizeof plugs},
    {"=prelude/effects.lua", effects, sizeof effects},
    {"=prelude/triggers.lua", triggers, sizeof triggers},
    {"=prelude/reduced.lua", reduced, sizeof reduced},
    {"=prelude/lines.lua", lines, sizeof lines},
    {NULL, NULL, 0},
};
