/* Calls that need C structures and macros that Swift's module of the C library does not export. On failure each
 * function returns -errno. Functions that open sockets return non-blocking, close-on-exec descriptors. `*step` is
 * set to the name of the call that failed. */
#ifndef C_LINUX_NETWORK_H
#define C_LINUX_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

/* Opens an rtnetlink socket that is subscribed to changes of links and addresses. */
int clinuxnetwork_open_rtnetlink(void);

/* Opens an rtnetlink socket for requests. It receives only the answers to them. */
int clinuxnetwork_open_route_control(void);

/* Opens a packet socket for one interface and one ethertype. It receives and sends whole frames, bypassing the
 * kernel's protocols. It does not receive frames that this host sends, or frames of the interface's VLANs. With
 * `dhcp` it receives only UDP datagrams to port 68 in unfragmented IPv4 packets. */
int clinuxnetwork_open_packet(int interface, uint16_t ethertype, bool dhcp, const char **step);

/* An instruction of a filter: sock_filter of <linux/filter.h>. */
struct clinuxnetwork_instruction {
    uint16_t code;
    uint8_t when_true, when_false;
    uint32_t value;
};

/* Opens a packet socket for all frames of one interface that the filter accepts. */
int clinuxnetwork_open_capture(
    int interface, const struct clinuxnetwork_instruction *instructions, uint16_t count, const char **step);

/* Replaces the filter of a packet socket. */
int clinuxnetwork_set_filter(int descriptor, const struct clinuxnetwork_instruction *instructions, uint16_t count);

/* Makes the interface accept a hardware multicast group on behalf of the socket, or no longer. */
int clinuxnetwork_change_group(int descriptor, int interface, const uint8_t group[6], bool join);

/* Sends a datagram, which begins with its UDP header, through the interface by the kernel's routes. Returns 0 when
 * the kernel has accepted it. */
int clinuxnetwork_send_udp(
    int interface, const uint8_t source[4], const uint8_t destination[4], const uint8_t *datagram, int length,
    const char **step);

/* Opens a UDP socket that occupies the port and receives nothing. */
int clinuxnetwork_keep_udp_port(uint16_t port, const char **step);

/* Opens a UDP socket for multicast on one interface. It is bound to the port (shared with other programs), a member
 * of the group on the interface, and sends there with the given hop limit. Other sockets of this host also receive its
 * packets. Addresses are in network byte order; with a source of 0.0.0.0 the kernel chooses one. With `bound_to_group`
 * the socket receives no unicast packets, so that they reach the other programs on the port. */
int clinuxnetwork_open_multicast4(
    int interface, uint16_t port, const uint8_t group[4], bool bound_to_group, const uint8_t source[4], int hop_limit,
    const char **step);
int clinuxnetwork_open_multicast6(
    int interface, uint16_t port, const uint8_t group[16], bool bound_to_group, int hop_limit, const char **step);

#endif
