// Enters the sandbox of scripts, and then attempts in native code the action that its argument names. It prints `closed`
// before the attempt, and `OUT` after the attempt. A forbidden action must end the process, so that `OUT` is never printed.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "cage.h"

static pid_t parent;

static void open_file(void) { syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY); }
static void create_file(void) { syscall(SYS_openat, AT_FDCWD, "/tmp/from-the-cage", O_WRONLY | O_CREAT, 0600); }
static void list_folder(void) { syscall(SYS_getdents64, 0, NULL, 0); }
static void make_socket(void) { socket(AF_INET, SOCK_DGRAM, 0); }
static void make_local_socket(void) { socket(AF_UNIX, SOCK_STREAM, 0); }
static void send_message(void) { send(STDOUT_FILENO, "x", 1, 0); }
static void fork_process(void) { syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }
static void start_thread(void) { syscall(SYS_clone, 0x10f00, 0, 0, 0, 0); }
static void execute(void) { execl("/bin/true", "true", NULL); }
static void trace(void) { ptrace(PTRACE_ATTACH, parent, 0, 0); }
static void read_other(void) { process_vm_readv(parent, &(struct iovec){&parent, 1}, 1, &(struct iovec){&parent, 1}, 1, 0); }
static void kill_parent(void) { kill(parent, 0); }
static void control_process(void) { prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }
static void write_elsewhere(void) { syscall(SYS_write, STDERR_FILENO, "x", 1); }
static void read_elsewhere(void) { char byte; syscall(SYS_read, 7, &byte, 1); }
static void duplicate(void) { syscall(SYS_dup, STDOUT_FILENO); }
static void map_code(void) { mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }
static void map_file(void) { mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 0, 0); }
static void protect_memory(void) { mprotect((void *)0x10000, 4096, PROT_READ | PROT_EXEC); }
static void raise_limit(void) { setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, 64}); }
static void set_alarm(void) { setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {1, 0}}, NULL); }
static void catch_signal(void) { signal(SIGTERM, SIG_IGN); }
static void become_root(void) { syscall(SYS_setuid, 0); }
static void sleep_long(void) { nanosleep(&(struct timespec){1, 0}, NULL); }
static void set_clock(void) { clock_settime(CLOCK_REALTIME, &(struct timespec){0, 0}); }
static void ring(void) { syscall(SYS_io_uring_setup, 1, NULL); }

/// Allowed actions, which the filter must not stop.
static void use_memory(void) {
    char *block = malloc(4 << 20);
    memset(block, 1, 4 << 20);
    free(block);
}
static void compute(void) {
    setitimer(ITIMER_PROF, &(struct itimerval){{0, 0}, {0, 100000}}, NULL);
    for (;;) {}
}
static void fill_memory(void) {
    size_t taken = 0;
    while (taken < (size_t)1 << 30 && malloc(1 << 20) != NULL) taken += 1 << 20;
    // An allocation beyond the memory limit must fail. Then the process ends here, without printing OUT.
    if (taken <= cage_memory) _exit(0);
}

static const struct { const char *name; void (*act)(void); } attempts[] = {
    {"open", open_file}, {"create", create_file}, {"getdents", list_folder}, {"socket", make_socket},
    {"unix-socket", make_local_socket}, {"send", send_message}, {"fork", fork_process}, {"thread", start_thread},
    {"execve", execute}, {"ptrace", trace}, {"process_vm_readv", read_other}, {"kill", kill_parent}, {"prctl", control_process},
    {"write-2", write_elsewhere}, {"read-7", read_elsewhere}, {"dup", duplicate}, {"mmap-code", map_code},
    {"mmap-file", map_file}, {"mprotect", protect_memory}, {"setrlimit", raise_limit}, {"alarm", set_alarm},
    {"sigaction", catch_signal}, {"setuid", become_root}, {"nanosleep", sleep_long}, {"settime", set_clock},
    {"io_uring", ring}, {"memory", use_memory}, {"compute", compute}, {"fill", fill_memory},
};

int main(int count, char **arguments) {
    if (count != 2) return 64;
    parent = getppid();
    const char *step;
    const int error = cage_close(&step);
    if (error != 0) {
        fprintf(stderr, "%s: %s\n", step, strerror(error));
        return 71;
    }
    if (write(STDOUT_FILENO, "closed\n", 7) != 7) return 74;
    for (unsigned i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        if (strcmp(attempts[i].name, arguments[1]) != 0) continue;
        attempts[i].act();
        _exit(write(STDOUT_FILENO, "OUT\n", 4) == 4 ? 0 : 74);
    }
    _exit(64);
}
