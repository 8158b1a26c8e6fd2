#ifndef KEY_FENCE_H
#define KEY_FENCE_H

/// The version of Landlock that this kernel has and lets this process use; 0 for none.
int fence_version(void);

/// A fence that lets nothing be read yet: a descriptor; -1 where there is none, and errno says why.
int fence_make(void);

/// Lets a file, or all that a folder holds now and later, be read, moved and linked. A link, and what is gone, is left out.
///
/// Returns 0, or the error's number (errno.h).
int fence_allow(int fence, const char *path);

/// Puts the calling thread, and all that it starts from then on, behind the fence, for good.
///
/// Returns 0, or the error's number (errno.h).
int fence_enter(int fence);

#endif
