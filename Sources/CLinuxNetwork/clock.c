#include "CLinuxNetwork.h"

#include <errno.h>
#include <sys/timex.h>

int clinuxnetwork_clock_is_synchronized(void) {
    struct timex state = {.modes = 0};
    if (adjtimex(&state) < 0) return -errno;
    return (state.status & STA_UNSYNC) == 0;
}
