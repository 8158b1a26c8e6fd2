#include <stddef.h>

/// A file of the page, as it is sent.
struct dashboard_file {
    /// The path in the page: "app.js".
    const char *path;
    const unsigned char *bytes;
    size_t length;
};

/// Returns the array of all files. It ends with an entry whose path is NULL.
const struct dashboard_file *dashboard_files(void);

/// The OpenAPI 3.1 document of the API, in JSON.
extern const struct dashboard_file dashboard_openapi;
