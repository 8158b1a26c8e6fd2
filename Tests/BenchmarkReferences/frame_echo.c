// The minimal program that answers a TCP SYN with a magic packet, as a reference: `frame_echo INTERFACE`. It reads every
// frame from a packet socket without a filter and sends one frame of 116 bytes per SYN. Prints "ready" and runs until it is killed.
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { ether_type = 12, protocol = 23, flags = 47, syn = 2, magic = 0x0842 };

static void check(int ok, const char *what) {
    if (ok) return;
    perror(what);
    exit(1);
}

int main(int count, char **words) {
    if (count != 2) return 64;
    int link = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
    struct sockaddr_ll place = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(words[1])};
    check(link >= 0 && bind(link, (struct sockaddr *)&place, sizeof place) == 0, words[1]);
    puts("ready");
    fflush(stdout);
    for (;;) {
        unsigned char frame[2048], answer[116];
        struct sockaddr_ll from;
        socklen_t size = sizeof from;
        ssize_t length = recvfrom(link, frame, sizeof frame, 0, (struct sockaddr *)&from, &size);
        check(length >= 0, "receive");
        if (from.sll_pkttype == PACKET_OUTGOING || length < 54 || frame[ether_type] != 0x08 || frame[ether_type + 1] != 0 ||
            frame[protocol] != 6 || frame[flags] != syn)
            continue;
        memset(answer, 0xff, sizeof answer);
        memcpy(answer + 6, frame, 6);
        answer[ether_type] = magic >> 8;
        answer[ether_type + 1] = magic & 0xff;
        // The magic packet names the sender of the SYN as the card to wake. The benchmark needs only a frame of the same size.
        for (int copy = 0; copy < 16; copy++) memcpy(answer + 20 + 6 * copy, frame + 6, 6);
        check(send(link, answer, sizeof answer, 0) == sizeof answer, "send");
    }
}
