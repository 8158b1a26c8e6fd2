#include "CLinuxClocks.h"

#include <errno.h>
#include <sys/timex.h>

int clinuxclocks_is_synchronized(void) {
    struct timex state = {.modes = 0};
    if (adjtimex(&state) < 0) return -errno;
    return (state.status & STA_UNSYNC) == 0;
}
