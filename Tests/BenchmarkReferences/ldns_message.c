// Measures the parser and the writer of ldns: ldns_message HEX COUNT parses and writes a DNS message COUNT times.
// Prints the mean nanoseconds of parsing, then those of writing.
#include <ldns/ldns.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(int ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "%s failed\n", what);
    exit(1);
}

static double nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

int main(int argc, char **argv) {
    check(argc == 3, "reading the arguments");
    size_t size = strlen(argv[1]) / 2;
    uint8_t *bytes = malloc(size);
    for (size_t index = 0; index < size; index++) check(sscanf(argv[1] + 2 * index, "%2hhx", &bytes[index]) == 1, "hex");
    int count = atoi(argv[2]);
    ldns_pkt *packet;

    double began = nanoseconds();
    for (int turn = 0; turn < count; turn++) {
        check(ldns_wire2pkt(&packet, bytes, size) == LDNS_STATUS_OK, "ldns_wire2pkt");
        ldns_pkt_free(packet);
    }
    printf("%f\n", (nanoseconds() - began) / count);

    check(ldns_wire2pkt(&packet, bytes, size) == LDNS_STATUS_OK, "ldns_wire2pkt");
    began = nanoseconds();
    for (int turn = 0; turn < count; turn++) {
        uint8_t *written;
        size_t length;
        check(ldns_pkt2wire(&written, packet, &length) == LDNS_STATUS_OK, "ldns_pkt2wire");
        LDNS_FREE(written);
    }
    printf("%f\n", (nanoseconds() - began) / count);
}
