#define _GNU_SOURCE
#include "CLinuxNetwork.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct option {
    int level, name;
    const void *value;
    socklen_t size;
    const char *step;
};

static const int on = 1, off = 0;

static int failed(int descriptor, const char *name, const char **step) {
    int error = errno;
    *step = name;
    if (descriptor >= 0) close(descriptor);
    return -error;
}

/* Creates a UDP socket, sets the options and binds it. */
static int open_bound(
    int family, const struct option *options, int count, const struct sockaddr *address, socklen_t size, const char **step) {
    int descriptor = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return failed(descriptor, "socket", step);
    /* Sockets share a port only if they have one of these options in common. Other responders may set only one. */
    if (setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0) return failed(descriptor, "SO_REUSEADDR", step);
    if (setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) < 0) return failed(descriptor, "SO_REUSEPORT", step);
    for (int i = 0; i < count; i++) {
        if (setsockopt(descriptor, options[i].level, options[i].name, options[i].value, options[i].size) < 0)
            return failed(descriptor, options[i].step, step);
    }
    if (bind(descriptor, address, size) < 0) return failed(descriptor, "bind", step);
    return descriptor;
}

int clinuxnetwork_open_multicast4(
    int interface, uint16_t port, const uint8_t group[4], bool bound_to_group, const uint8_t source[4], int hop_limit,
    const char **step) {
    struct ip_mreqn membership = {.imr_ifindex = interface}, sending = {.imr_ifindex = interface};
    memcpy(&membership.imr_multiaddr, group, 4);
    memcpy(&sending.imr_address, source, 4);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    if (bound_to_group) memcpy(&address.sin_addr, group, 4);
    const struct option options[] = {
        {IPPROTO_IP, IP_MULTICAST_IF, &sending, sizeof sending, "IP_MULTICAST_IF"},
        {IPPROTO_IP, IP_MULTICAST_TTL, &hop_limit, sizeof hop_limit, "IP_MULTICAST_TTL"},
        {IPPROTO_IP, IP_TTL, &hop_limit, sizeof hop_limit, "IP_TTL"},
        {IPPROTO_IP, IP_MULTICAST_LOOP, &on, sizeof on, "IP_MULTICAST_LOOP"},
        /* If this option were on, the socket would also receive packets of groups that other sockets of this host
         * joined on other interfaces. */
        {IPPROTO_IP, IP_MULTICAST_ALL, &off, sizeof off, "IP_MULTICAST_ALL"},
        {IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership, sizeof membership, "IP_ADD_MEMBERSHIP"},
    };
    return open_bound(
        AF_INET, options, sizeof options / sizeof *options, (struct sockaddr *)&address, sizeof address, step);
}

int clinuxnetwork_open_multicast6(
    int interface, uint16_t port, const uint8_t group[16], bool bound_to_group, int hop_limit, const char **step) {
    struct ipv6_mreq membership = {.ipv6mr_interface = interface};
    memcpy(&membership.ipv6mr_multiaddr, group, 16);
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    if (bound_to_group) {
        memcpy(&address.sin6_addr, group, 16);
        address.sin6_scope_id = interface;
    }
    const struct option options[] = {
        {IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on, "IPV6_V6ONLY"},
        {IPPROTO_IPV6, IPV6_MULTICAST_IF, &interface, sizeof interface, "IPV6_MULTICAST_IF"},
        {IPPROTO_IPV6, IPV6_MULTICAST_HOPS, &hop_limit, sizeof hop_limit, "IPV6_MULTICAST_HOPS"},
        {IPPROTO_IPV6, IPV6_UNICAST_HOPS, &hop_limit, sizeof hop_limit, "IPV6_UNICAST_HOPS"},
        {IPPROTO_IPV6, IPV6_MULTICAST_LOOP, &on, sizeof on, "IPV6_MULTICAST_LOOP"},
        {IPPROTO_IPV6, IPV6_MULTICAST_ALL, &off, sizeof off, "IPV6_MULTICAST_ALL"},
        {IPPROTO_IPV6, IPV6_JOIN_GROUP, &membership, sizeof membership, "IPV6_JOIN_GROUP"},
    };
    return open_bound(
        AF_INET6, options, sizeof options / sizeof *options, (struct sockaddr *)&address, sizeof address, step);
}
