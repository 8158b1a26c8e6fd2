/* Sockets that Swift cannot make itself, because their options and addresses are C structures and macros.
   Each function returns a non-blocking, close-on-exec descriptor, or -errno. */
#ifndef C_LINUX_NETWORK_H
#define C_LINUX_NETWORK_H

#include <stdint.h>

/* An rtnetlink socket subscribed to changes of links and addresses. */
int clinuxnetwork_open_rtnetlink(void);

/* A UDP socket for multicast on one interface: bound to the port (shared with other programs), member of the group there,
   sending there with the given hop limit, and heard by other sockets of this host. Addresses are bytes in network order; a
   source of 0.0.0.0 lets the kernel choose. On failure *step names the call that failed. */
int clinuxnetwork_open_multicast4(
    int interface, uint16_t port, const uint8_t group[4], const uint8_t source[4], int hop_limit, const char **step);
int clinuxnetwork_open_multicast6(
    int interface, uint16_t port, const uint8_t group[16], int hop_limit, const char **step);

#endif
