#ifndef KEY_FENCE_H
#define KEY_FENCE_H

#include <stdint.h>

enum fence_kind { fence_folder, fence_link, fence_other };

/// A file of the file system, whatever it is called: no two files have the same numbers and the same time of birth. The time is zero if
/// the file system does not record it.
struct fence_file {
    uint64_t device;
    uint64_t inode;
    int64_t birth_seconds;
    uint32_t birth_nanoseconds;
    /// Its names (hard links).
    uint32_t links;
    enum fence_kind kind;
};

enum fence_access {
    fence_read_only,
    /// Of a folder: what it holds may also be moved and linked elsewhere, and folders in it may be removed.
    fence_read_and_move,
};

/// The version of Landlock that this kernel has and lets this process use; 0 for none.
int fence_version(void);

/// A fence that lets nothing be read yet: a descriptor; -1 where there is none, and errno says why.
int fence_make(void);

/// Opens a file, a folder or a link as a place in the file system, without reading it: a descriptor; -1 on an error, and errno says why.
int fence_look(const char *path, int follows_links, struct fence_file *file);

/// Allows access to a place that `fence_look` opened: to a file, or to all files that a folder holds now and later.
///
/// Returns 0, or the error's number (errno.h).
int fence_allow(int fence, int place, enum fence_access access);

/// Puts the calling thread, and all that it starts from then on, behind the fence, for good.
///
/// Returns 0, or the error's number (errno.h).
int fence_enter(int fence);

#endif
