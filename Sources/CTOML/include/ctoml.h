#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Bytes of UTF-8; not ended by a zero.
struct ctoml_text {
    const char *bytes;
    size_t count;
};

enum ctoml_kind {
    CTOML_TABLE, ///< of the first level; inside another one it is CTOML_OTHER
    CTOML_STRING,
    CTOML_INTEGER,
    CTOML_FLOAT,
    CTOML_BOOLEAN,
    CTOML_TEXTS, ///< an array of strings and nothing else; each of them follows as a CTOML_ITEM
    CTOML_ITEM,
    CTOML_OTHER, ///< string says which kind, in TOML's word
};

/// A key and its value, or the beginning of a table.
struct ctoml_entry {
    struct ctoml_text table; ///< empty bytes (NULL): it stands before the first table
    struct ctoml_text key; ///< of a table: NULL
    enum ctoml_kind kind;
    struct ctoml_text string;
    int64_t integer;
    double number;
    bool boolean;
    uint32_t line; ///< counted from 1
};

/// Where and why a text is no TOML.
struct ctoml_fault {
    char reason[256]; ///< ended by a zero, cut off where it is longer
    uint32_t line;   ///< 0: unknown
    uint32_t column; ///< 0: unknown
};

/// Reads a text (TOML 1.0) and calls `report` for each table and each key of the first two levels. The texts live for the time
/// of the call only.
///
/// Returns false, and fills `fault`, where it is no TOML; then nothing was reported.
bool ctoml_read(
    const char *text, size_t length, void *context,
    void (*report)(void *context, const struct ctoml_entry *entry), struct ctoml_fault *fault);

#ifdef __cplusplus
}
#endif
