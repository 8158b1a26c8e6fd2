// Sends one line to a program on a Unix socket and prints its answer: ask SOCKET LINE. Tests use ask instead of
// `plugd status`, because under emulation ask takes a tenth of the time.
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval limit = {.tv_sec = 10};
    char answer[65536];
    ssize_t length;
    if (argc != 3) return 64;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", argv[1]);
    int channel = socket(AF_UNIX, SOCK_STREAM, 0);
    setsockopt(channel, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(channel, (struct sockaddr *)&address, sizeof address) < 0 || dprintf(channel, "%s\n", argv[2]) < 0) {
        perror(argv[1]);
        return 1;
    }
    while ((length = read(channel, answer, sizeof answer)) > 0) {
        fwrite(answer, 1, length, stdout);
        if (memchr(answer, '\n', length)) return 0;
    }
    return 1;
}
