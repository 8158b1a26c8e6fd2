/* Sockets and constants that Swift cannot make itself. Every function returns a descriptor or 0, or -errno. */
#ifndef C_LINUX_NETWORK_H
#define C_LINUX_NETWORK_H

#include <stdint.h>

/* An rtnetlink socket subscribed to changes of links and addresses, non-blocking and close-on-exec. */
int clinuxnetwork_open_rtnetlink(void);

#endif
