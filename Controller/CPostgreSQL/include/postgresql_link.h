#pragma once
#include <stddef.h>

/// A connection to a PostgreSQL server by libpq, which is loaded when the first is opened. No call waits longer than its patience in
/// milliseconds, or longer than a moment after `smartplug_pg_give_up`, which may come from any thread; all else is for one thread at a time.
typedef struct smartplug_pg smartplug_pg;
typedef struct smartplug_pg_rows smartplug_pg_rows;

/// Why something failed.
typedef struct {
    char text[400];
    /// SQLSTATE of the server's answer; empty where the server did not say it.
    char state[6];
} smartplug_pg_fault;

/// NULL where there is no memory.
smartplug_pg *smartplug_pg_new(void);

/// Once; settings of libpq, NULL behind the last. Zero, or -1 where it failed.
int smartplug_pg_connect(
    smartplug_pg *link, const char *const *keywords, const char *const *values, int patience, smartplug_pg_fault *fault);

/// From now on everything fails. From any thread, until it is freed.
void smartplug_pg_give_up(smartplug_pg *link);

/// Runs one statement with texts for $1, $2 ... (NULL: null), or without any, several. Gives the rows of the last; NULL where it failed.
smartplug_pg_rows *smartplug_pg_run(
    smartplug_pg *link, const char *sql, const char *const *values, int count, int patience, smartplug_pg_fault *fault);
int smartplug_pg_row_count(const smartplug_pg_rows *rows);
int smartplug_pg_column_count(const smartplug_pg_rows *rows);
/// As text; NULL: null.
const char *smartplug_pg_value(const smartplug_pg_rows *rows, int row, int column, size_t *length);
void smartplug_pg_rows_free(smartplug_pg_rows *rows);

/// After COPY ... FROM STDIN was run. Zero, or -1 where it failed.
int smartplug_pg_copy(smartplug_pg *link, const char *bytes, size_t length, int patience, smartplug_pg_fault *fault);
int smartplug_pg_copy_end(smartplug_pg *link, int patience, smartplug_pg_fault *fault);

void smartplug_pg_free(smartplug_pg *link);
