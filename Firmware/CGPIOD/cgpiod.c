#include "cgpiod.h"

#include <gpiod.h>

// Only the first interface has bulks of lines.
#ifdef GPIOD_LINE_BULK_INITIALIZER
int cgpiod_interface(void) { return 1; }
#else
int cgpiod_interface(void) { return 2; }
#endif
