#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// UTF-8 text, not null-terminated.
struct ctoml_text {
    const char *bytes;
    size_t count;
};

enum ctoml_kind {
    CTOML_TABLE, ///< a table of the first level; a nested table is CTOML_OTHER
    CTOML_STRING,
    CTOML_INTEGER,
    CTOML_FLOAT,
    CTOML_BOOLEAN,
    CTOML_TEXTS, ///< an array of strings only; each string follows as a CTOML_ITEM
    CTOML_ITEM,
    CTOML_OTHER, ///< any other type; `string` has its name for a user
};

/// A key with its value, or the start of a table.
struct ctoml_entry {
    struct ctoml_text table; ///< NULL bytes for a key before the first table
    struct ctoml_text key; ///< NULL bytes for the start of a table
    enum ctoml_kind kind;
    struct ctoml_text string;
    int64_t integer;
    double number;
    bool boolean;
    uint32_t line; ///< counted from 1
};

/// The location and reason of a syntax error.
struct ctoml_fault {
    char reason[256]; ///< null-terminated, truncated if it is longer
    uint32_t line;   ///< counted from 1; 0 if unknown
    uint32_t column; ///< counted from 1; 0 if unknown
};

/// Parses a text (TOML 1.0) and calls `report` for each table and each key of the first two levels. The texts in an
/// entry are valid only during the call.
///
/// Returns false and fills `fault` if the text is not TOML; then nothing was reported.
bool ctoml_read(
    const char *text, size_t length, void *context,
    void (*report)(void *context, const struct ctoml_entry *entry), struct ctoml_fault *fault);

#ifdef __cplusplus
}
#endif
