#ifndef KEY_FENCE_H
#define KEY_FENCE_H

#include <stdint.h>

enum fence_kind { fence_folder, fence_link, fence_other };

/// The identity and the kind of a file. If the file system records birth times, no two files have the same device,
/// inode and birth time; otherwise the birth time is zero.
struct fence_file {
    uint64_t device;
    uint64_t inode;
    int64_t birth_seconds;
    uint32_t birth_nanoseconds;
    /// The number of hard links.
    uint32_t links;
    enum fence_kind kind;
};

enum fence_access {
    fence_read_only,
    /// For a folder: its contents may also be moved and linked to other folders, and folders in it may be removed.
    fence_read_and_move,
};

/// Returns the Landlock ABI version that this process can use; 0 if Landlock is not available.
int fence_version(void);

/// Creates a ruleset. Until `fence_allow` adds rules, it denies reading any file, moving a file to another folder, and
/// removing a folder. Returns its descriptor; -1 on an error, with errno.
int fence_make(void);

/// Opens a file, a folder or a link with O_PATH, and stores its identity. Returns the descriptor; -1 on an error, with
/// errno.
int fence_look(const char *path, int follows_links, struct fence_file *file);

/// Allows access to the file of a descriptor that `fence_look` returned. If it is a folder, allows access to all
/// current and future files in the folder.
///
/// Returns 0, or the error number (errno.h).
int fence_allow(int fence, int place, enum fence_access access);

/// Restricts the calling thread, and everything that it starts afterwards, forever.
///
/// Returns 0, or the error number (errno.h).
int fence_enter(int fence);

#endif
