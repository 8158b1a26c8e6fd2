#pragma once
#include <stddef.h>

/// A connection to a PostgreSQL server by libpq, which is loaded by the first connection. A call waits at most for its
/// `patience` in milliseconds, and at most 100 ms after `smartplug_pg_give_up`. Only `smartplug_pg_give_up` may run at
/// the same time as another function, on any thread.
typedef struct smartplug_pg smartplug_pg;
typedef struct smartplug_pg_rows smartplug_pg_rows;

/// The reason of a failure.
typedef struct {
    char text[400];
    /// The SQLSTATE of the server's answer; empty if the server sent none.
    char state[6];
} smartplug_pg_fault;

/// Creates an unconnected link; NULL if no memory is available.
smartplug_pg *smartplug_pg_new(void);

/// Connects; call it once. The settings are those of libpq, with NULL after the last. Returns 0, or -1 on failure.
int smartplug_pg_connect(
    smartplug_pg *link, const char *const *keywords, const char *const *values, int patience, smartplug_pg_fault *fault);

/// Makes the current and all further calls fail. Safe on any thread until the link is freed.
void smartplug_pg_give_up(smartplug_pg *link);

/// Runs one statement with texts for $1, $2 ... (a NULL pointer is an SQL null), or, without values, several
/// statements. Returns the rows of the last statement, or NULL on failure.
smartplug_pg_rows *smartplug_pg_run(
    smartplug_pg *link, const char *sql, const char *const *values, int count, int patience, smartplug_pg_fault *fault);
int smartplug_pg_row_count(const smartplug_pg_rows *rows);
int smartplug_pg_column_count(const smartplug_pg_rows *rows);
/// Returns a value as text; NULL for null.
const char *smartplug_pg_value(const smartplug_pg_rows *rows, int row, int column, size_t *length);
void smartplug_pg_rows_free(smartplug_pg_rows *rows);

/// Sends data after a COPY ... FROM STDIN. Returns 0, or -1 on failure.
int smartplug_pg_copy(smartplug_pg *link, const char *bytes, size_t length, int patience, smartplug_pg_fault *fault);
int smartplug_pg_copy_end(smartplug_pg *link, int patience, smartplug_pg_fault *fault);

void smartplug_pg_free(smartplug_pg *link);
