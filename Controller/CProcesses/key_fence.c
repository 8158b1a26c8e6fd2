#define _GNU_SOURCE
#include "key_fence.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int fence_version(void) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version < 0 ? 0 : (int)version;
}

// The rights to move files and to remove folders. Without these restrictions, a program could move or link a file to
// another folder and read it there, or rename a folder so that its path no longer leads to the secrets. Landlock ABI 1
// has no right for moves and always refuses them.
static __u64 moving(void) {
    return LANDLOCK_ACCESS_FS_REMOVE_DIR | (fence_version() < 2 ? 0 : LANDLOCK_ACCESS_FS_REFER);
}

int fence_make(void) {
    struct landlock_ruleset_attr rules = {.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE | moving()};
    return (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
}

int fence_look(const char *path, int follows_links, struct fence_file *file) {
    const int place = open(path, O_PATH | O_CLOEXEC | (follows_links ? 0 : O_NOFOLLOW));
    if (place < 0) return -1;
    struct statx status;
    if (statx(place, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &status) != 0) {
        const int error = errno;
        close(place);
        errno = error;
        return -1;
    }
    const int has_birth = (status.stx_mask & STATX_BTIME) != 0;
    *file = (struct fence_file){
        .device = makedev(status.stx_dev_major, status.stx_dev_minor),
        .inode = status.stx_ino,
        .birth_seconds = has_birth ? status.stx_btime.tv_sec : 0,
        .birth_nanoseconds = has_birth ? status.stx_btime.tv_nsec : 0,
        .links = status.stx_nlink,
        .kind = S_ISDIR(status.stx_mode) ? fence_folder : S_ISLNK(status.stx_mode) ? fence_link : fence_other,
    };
    return place;
}

int fence_allow(int fence, int place, enum fence_access access) {
    struct landlock_path_beneath_attr rule = {
        .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | (access == fence_read_and_move ? moving() : 0),
        .parent_fd = place,
    };
    return syscall(SYS_landlock_add_rule, fence, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0 ? 0 : errno;
}

int fence_enter(int fence) {
    // A program that could gain privileges (set-user-ID) could escape the restrictions.
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    return syscall(SYS_landlock_restrict_self, fence, 0) == 0 ? 0 : errno;
}
