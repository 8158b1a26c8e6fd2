#define _GNU_SOURCE
#include "key_fence.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int fence_version(void) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version < 0 ? 0 : (int)version;
}

// What was moved elsewhere could be read there. The first version refuses that anyway and does not know the right.
static __u64 moving(void) { return fence_version() < 2 ? 0 : LANDLOCK_ACCESS_FS_REFER; }

int fence_make(void) {
    struct landlock_ruleset_attr rules = {.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE | moving()};
    return (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
}

int fence_allow(int fence, const char *path) {
    int place = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (place < 0) return errno == ENOENT ? 0 : errno;
    struct stat status;
    int error = fstat(place, &status) == 0 ? 0 : errno;
    if (error == 0 && !S_ISLNK(status.st_mode)) {
        struct landlock_path_beneath_attr rule = {
            .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | (S_ISDIR(status.st_mode) ? moving() : 0),
            .parent_fd = place,
        };
        if (syscall(SYS_landlock_add_rule, fence, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) error = errno;
    }
    close(place);
    return error;
}

int fence_enter(int fence) {
    // What may gain rights could take the fence down.
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    return syscall(SYS_landlock_restrict_self, fence, 0) == 0 ? 0 : errno;
}
