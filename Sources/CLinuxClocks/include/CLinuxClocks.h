/* System calls that Swift's module of the C library does not export. */
#ifndef C_LINUX_CLOCKS_H
#define C_LINUX_CLOCKS_H

/* Returns 1 if a time service keeps the wall clock synchronized (adjtimex(2) without STA_UNSYNC), 0 if none does, and a
   negative value if the query failed. */
int clinuxclocks_is_synchronized(void);

#endif
