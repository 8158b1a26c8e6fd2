#include <sys/prctl.h>

#include "CLinuxDevices.h"

void clinuxdevices_name_thread(const char *name) { prctl(PR_SET_NAME, name); }
