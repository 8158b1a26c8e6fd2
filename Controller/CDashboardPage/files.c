#include "dashboard_page.h"

// The page is part of the program: nothing has to be installed beside it, and nothing can be of another version.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "page/index.html"
};

const struct dashboard_file dashboard_files[] = {
    {"index.html", index_html, sizeof index_html},
    {NULL, NULL, 0},
};
