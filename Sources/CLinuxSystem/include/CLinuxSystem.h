/* System calls that Swift's module of the C library does not export. */
#ifndef CLINUXSYSTEM_H
#define CLINUXSYSTEM_H

/* Returns 1 if a time service keeps the wall clock synchronized (adjtimex(2) without STA_UNSYNC), 0 if none does, and a
   negative value if the query failed. */
int clinuxsystem_is_synchronized(void);

/* Names the calling thread. The kernel keeps 15 bytes of the name. */
void clinuxsystem_name_thread(const char *name);

#endif
