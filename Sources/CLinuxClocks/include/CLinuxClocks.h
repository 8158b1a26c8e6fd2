/* Calls of the kernel that Swift's module of the C library does not show. */
#ifndef C_LINUX_CLOCKS_H
#define C_LINUX_CLOCKS_H

/* 1 while something keeps the wall clock in step (adjtimex(2) without STA_UNSYNC), 0 while nothing does. */
int clinuxclocks_is_synchronized(void);

#endif
