#define _GNU_SOURCE
#include "CLinuxNetwork.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int failed(int descriptor, const char *name, const char **step) {
    int error = errno;
    *step = name;
    if (descriptor >= 0) close(descriptor);
    return -error;
}

/* The filters drop frames that this host sent (type 4) and frames for other hosts (type 3), which a promiscuous
 * interface receives. They also drop frames of other interfaces: a socket of `eth0` receives the frames that the
 * kernel has passed on to its VLAN `eth0.20`, or to a bond of which it is a port; for these, SKF_AD_IFINDEX is the
 * other interface's index. If a VLAN has no interface, its frames have the type for other hosts. With `dhcp` the
 * filter accepts only unfragmented UDP datagrams to port 68; the ethertype of the socket restricts it to IPv4. Jump
 * offsets count the instructions to skip. */
#define OWN_INTERFACE 3 /* the instruction that compares with the interface's index, which is written into it */
static const struct sock_filter only_received[] = {
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE),
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, PACKET_OTHERHOST, 3, 0),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_IFINDEX),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, 0xFFFF),
    BPF_STMT(BPF_RET | BPF_K, 0),
};
static const struct sock_filter only_dhcp[] = {
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE),
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, PACKET_OTHERHOST, 10, 0),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_IFINDEX),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 8),
    BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 14 + 6), /* flags and fragment offset */
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x3FFF, 6, 0),
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 14 + 9), /* protocol */
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 4),
    BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 14), /* length of the IPv4 header */
    BPF_STMT(BPF_LD | BPF_H | BPF_IND, 14 + 2), /* destination port */
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 68, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, 0xFFFF),
    BPF_STMT(BPF_RET | BPF_K, 0),
};
static struct sock_filter nothing[] = {BPF_STMT(BPF_RET | BPF_K, 0)};

static int filter(int descriptor, struct sock_filter *instructions, unsigned short count) {
    struct sock_fprog program = {.len = count, .filter = instructions};
    return setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}
#define FILTER(descriptor, instructions) filter(descriptor, instructions, sizeof instructions / sizeof *instructions)

/* Attaches the filter for the frames of one interface. */
static int filter_interface(int descriptor, int interface, bool dhcp) {
    struct sock_filter instructions[sizeof only_dhcp / sizeof *only_dhcp];
    size_t size = dhcp ? sizeof only_dhcp : sizeof only_received;
    memcpy(instructions, dhcp ? only_dhcp : only_received, size);
    instructions[OWN_INTERFACE].k = interface;
    return filter(descriptor, instructions, size / sizeof *instructions);
}

int clinuxnetwork_open_packet(int interface, uint16_t ethertype, bool dhcp, const char **step) {
    /* Without a protocol the socket receives nothing until it is bound, so no frame arrives before the filter is
     * attached. */
    int descriptor = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return failed(descriptor, "socket", step);
    if (filter_interface(descriptor, interface, dhcp) < 0) return failed(descriptor, "SO_ATTACH_FILTER", step);
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ethertype), .sll_ifindex = interface};
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0) return failed(descriptor, "bind", step);
    return descriptor;
}

_Static_assert(sizeof(struct clinuxnetwork_instruction) == sizeof(struct sock_filter), "the same layout");

int clinuxnetwork_set_filter(int descriptor, const struct clinuxnetwork_instruction *instructions, uint16_t count) {
    return filter(descriptor, (struct sock_filter *)instructions, count) < 0 ? -errno : 0;
}

int clinuxnetwork_open_capture(
    int interface, const struct clinuxnetwork_instruction *instructions, uint16_t count, const char **step) {
    int descriptor = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return failed(descriptor, "socket", step);
    if (filter(descriptor, (struct sock_filter *)instructions, count) < 0)
        return failed(descriptor, "SO_ATTACH_FILTER", step);
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = interface};
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0) return failed(descriptor, "bind", step);
    return descriptor;
}

int clinuxnetwork_change_group(int descriptor, int interface, const uint8_t group[6], bool join) {
    struct packet_mreq request = {.mr_ifindex = interface, .mr_type = PACKET_MR_MULTICAST, .mr_alen = 6};
    memcpy(request.mr_address, group, 6);
    int name = join ? PACKET_ADD_MEMBERSHIP : PACKET_DROP_MEMBERSHIP;
    return setsockopt(descriptor, SOL_PACKET, name, &request, sizeof request) < 0 ? -errno : 0;
}

int clinuxnetwork_send_udp(
    int interface, const uint8_t source[4], const uint8_t destination[4], const uint8_t *datagram, int length,
    const char **step) {
    int descriptor = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_UDP);
    if (descriptor < 0) return failed(descriptor, "socket", step);
    /* Without this filter the open socket would receive a copy of every UDP datagram that arrives at the host. */
    if (FILTER(descriptor, nothing) < 0) return failed(descriptor, "SO_ATTACH_FILTER", step);
    char name[IF_NAMESIZE];
    if (if_indextoname(interface, name) == NULL) return failed(descriptor, "if_indextoname", step);
    if (setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, name, strlen(name) + 1) < 0)
        return failed(descriptor, "SO_BINDTODEVICE", step);
    struct sockaddr_in from = {.sin_family = AF_INET}, to = {.sin_family = AF_INET};
    memcpy(&from.sin_addr, source, 4);
    memcpy(&to.sin_addr, destination, 4);
    if (bind(descriptor, (struct sockaddr *)&from, sizeof from) < 0) return failed(descriptor, "bind", step);
    if (sendto(descriptor, datagram, length, 0, (struct sockaddr *)&to, sizeof to) < 0)
        return failed(descriptor, "sendto", step);
    close(descriptor);
    return 0;
}

int clinuxnetwork_keep_udp_port(uint16_t port, const char **step) {
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return failed(descriptor, "socket", step);
    if (FILTER(descriptor, nothing) < 0) return failed(descriptor, "SO_ATTACH_FILTER", step);
    /* Another DHCP client on this host, for another interface, may use the port too. */
    int on = 1;
    if (setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0)
        return failed(descriptor, "SO_REUSEADDR", step);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0) return failed(descriptor, "bind", step);
    return descriptor;
}
