#include <stddef.h>

/// A file of the page, as it is sent.
struct dashboard_file {
    /// Its path in the page: "app.js".
    const char *path;
    const unsigned char *bytes;
    size_t length;
};

/// Every file of the page; the one after the last has no path.
const struct dashboard_file *dashboard_files(void);

/// What describes the API: OpenAPI 3.1, JSON.
extern const struct dashboard_file dashboard_openapi;
