#include "CLinuxSystem.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/timex.h>

int clinuxsystem_is_synchronized(void) {
    struct timex state = {.modes = 0};
    if (adjtimex(&state) < 0) return -errno;
    return (state.status & STA_UNSYNC) == 0;
}

void clinuxsystem_name_thread(const char *name) { prctl(PR_SET_NAME, name); }
