// Sends standard input as a UDP datagram and prints the answer in hexadecimal: exchange ADDRESS PORT.
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>

int main(int argc, char **argv) {
    struct sockaddr_in server = {.sin_family = AF_INET};
    struct timeval limit = {.tv_sec = 10};
    static unsigned char bytes[65536];
    if (argc != 3 || inet_pton(AF_INET, argv[1], &server.sin_addr) != 1) return 64;
    server.sin_port = htons(atoi(argv[2]));
    size_t length = fread(bytes, 1, sizeof bytes, stdin);
    int channel = socket(AF_INET, SOCK_DGRAM, 0);
    setsockopt(channel, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ssize_t count = -1;
    if (connect(channel, (struct sockaddr *)&server, sizeof server) == 0 && send(channel, bytes, length, 0) >= 0)
        count = recv(channel, bytes, sizeof bytes, 0);
    if (count < 0) {
        perror(argv[1]);
        return 1;
    }
    for (ssize_t index = 0; index < count; index++) printf("%02x", bytes[index]);
    putchar('\n');
    return 0;
}
