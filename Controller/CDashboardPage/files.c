#include "dashboard_page.h"

// The page is part of the program: nothing has to be installed beside it, and nothing can be of another version.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "page/index.html"
};

static const struct dashboard_file files[] = {
    {"index.html", index_html, sizeof index_html},
    {NULL, NULL, 0},
};

const struct dashboard_file *dashboard_files(void) { return files; }
