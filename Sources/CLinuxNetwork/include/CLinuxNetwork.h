/* What Swift cannot do itself, because it takes C structures and macros that its module of the C library does not show. Each
   function returns -errno where it fails; those that open sockets return non-blocking, close-on-exec descriptors. */
#ifndef C_LINUX_NETWORK_H
#define C_LINUX_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

/* An rtnetlink socket subscribed to changes of links and addresses. */
int clinuxnetwork_open_rtnetlink(void);

/* An rtnetlink socket for requests: it hears only the answers to them. */
int clinuxnetwork_open_route_control(void);

/* A packet socket of one interface and one ethertype: whole frames as they came, and whole frames out, past the kernel's own
   protocols. It receives neither what this host sends nor frames of the interface's VLANs. With `dhcp`, only UDP datagrams to port 68 in unfragmented IPv4 packets. */
int clinuxnetwork_open_packet(int interface, uint16_t ethertype, bool dhcp, const char **step);

/* Sends a datagram that begins with its UDP header along the kernel's routes through the interface. 0 when it is on its way. */
int clinuxnetwork_send_udp(
    int interface, const uint8_t source[4], const uint8_t destination[4], const uint8_t *datagram, int length,
    const char **step);

/* A UDP socket that has the port and takes nothing. */
int clinuxnetwork_keep_udp_port(uint16_t port, const char **step);

/* A UDP socket for multicast on one interface: bound to the port (shared with other programs), member of the group there,
   sending there with the given hop limit, and heard by other sockets of this host. Addresses are bytes in network order; a
   source of 0.0.0.0 lets the kernel choose. One that is bound to the group gets no unicast packet, and so takes none from other
   programs on the port. On failure *step names the call that failed. */
int clinuxnetwork_open_multicast4(
    int interface, uint16_t port, const uint8_t group[4], bool bound_to_group, const uint8_t source[4], int hop_limit,
    const char **step);
int clinuxnetwork_open_multicast6(
    int interface, uint16_t port, const uint8_t group[16], bool bound_to_group, int hop_limit, const char **step);

#endif
