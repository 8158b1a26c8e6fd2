#define _GNU_SOURCE
#include "crash_report.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

// The handler may interrupt any code, including the allocator. It only calls functions that signal-safety(7) allows,
// and only uses its stack.

static const struct { int number; const char *name; } signals[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGILL, "SIGILL"}, {SIGTRAP, "SIGTRAP"},
    {SIGFPE, "SIGFPE"}, {SIGABRT, "SIGABRT"}, {SIGSYS, "SIGSYS"},
};
enum { signal_count = sizeof signals / sizeof signals[0] };

// The limit of frames above the fault. More would add little, and the report has a size limit.
enum { most_frames = 32 };
// Frames more than this many bytes above the stack pointer are ignored, so that a damaged chain does not lead through
// the whole memory.
enum { longest_stack = 1 << 20 };

static atomic_int report = -1;
static atomic_flag is_reporting = ATOMIC_FLAG_INIT;
static bool is_installed;
static struct sigaction before[signal_count];
// The program's address range in memory, and its offset to the addresses in its file.
static uintptr_t program_start, program_end, program_bias;

struct text {
    char bytes[160];
    size_t length;
};

static void add(struct text *text, const char *words) {
    for (; *words != 0 && text->length < sizeof text->bytes; words++) text->bytes[text->length++] = *words;
}

static void add_number(struct text *text, uint64_t number, unsigned base) {
    char digits[24];
    size_t first = sizeof digits;
    digits[--first] = 0;
    do {
        digits[--first] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number != 0);
    add(text, digits + first);
}

static void add_hexadecimal(struct text *text, uint64_t number) {
    add(text, "0x");
    add_number(text, number, 16);
}

static void write_line(struct text *text) {
    add(text, "\n");
    // A failed write is ignored, because the handler cannot report it.
    ssize_t written = write(atomic_load(&report), text->bytes, text->length);
    (void)written;
    text->length = 0;
}

static void write_place(uintptr_t place) {
    struct text line = {.length = 0};
    if (place >= program_start && place < program_end) {
        add(&line, "plugd+");
        add_hexadecimal(&line, place - program_bias);
    } else {
        add_hexadecimal(&line, place);
        add(&line, " in a library");
    }
    write_line(&line);
}

// Follows the chain of frame pointers, which Swift and C code here maintain. Only addresses above the stack pointer are
// read.
static void write_frames(uintptr_t frame, uintptr_t stack) {
    uintptr_t last = stack;
    for (int count = 0; count < most_frames; count++) {
        if (frame < last || frame - stack > longest_stack || frame % sizeof(uintptr_t) != 0) return;
        const uintptr_t *here = (const uintptr_t *)frame;
        if (here[1] == 0) return;
        write_place(here[1]);
        last = frame + 1;
        frame = here[0];
    }
}

static void write_stack(const ucontext_t *context) {
#if defined(__x86_64__)
    const greg_t *registers = context->uc_mcontext.gregs;
    write_place((uintptr_t)registers[REG_RIP]);
    write_frames((uintptr_t)registers[REG_RBP], (uintptr_t)registers[REG_RSP]);
#elif defined(__aarch64__)
    write_place(context->uc_mcontext.pc);
    write_place(context->uc_mcontext.regs[30]);
    write_frames(context->uc_mcontext.regs[29], context->uc_mcontext.sp);
#elif defined(__arm__)
    // The frame layout on 32-bit ARM depends on the compiler.
    write_place(context->uc_mcontext.arm_pc);
    write_place(context->uc_mcontext.arm_lr);
#else
    (void)context;
#endif
}

static void write_cause(int signal, const siginfo_t *information) {
    struct text line = {.length = 0};
    add(&line, "signal ");
    for (int index = 0; index < signal_count; index++) {
        if (signals[index].number == signal) add(&line, signals[index].name);
    }
    if (information->si_code > 0) {
        add(&line, " at address ");
        add_hexadecimal(&line, (uintptr_t)information->si_addr);
    } else if (information->si_pid != getpid()) {
        add(&line, " sent by process ");
        add_number(&line, (uint64_t)information->si_pid, 10);
    }
    write_line(&line);
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    char thread[17] = {0};
    prctl(PR_GET_NAME, thread);
    add_number(&line, (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000, 10);
    add(&line, " ms after boot, thread ");
    add(&line, thread);
    write_line(&line);
}

static void handle(int signal, siginfo_t *information, void *context) {
    // If two threads fail at once, only the first one writes a report.
    if (atomic_load(&report) >= 0 && !atomic_flag_test_and_set(&is_reporting)) {
        write_cause(signal, information);
        write_stack(context);
    }
    // Restores the previous action. The signal is raised again when this handler returns.
    for (int index = 0; index < signal_count; index++) {
        if (signals[index].number == signal) sigaction(signal, &before[index], NULL);
    }
    raise(signal);
}


static void note_build(const struct dl_phdr_info *object, const ElfW(Phdr) *segment, struct text *line) {
    uintptr_t place = object->dlpi_addr + segment->p_vaddr;
    const uintptr_t end = place + segment->p_memsz;
    while (place + sizeof(ElfW(Nhdr)) <= end) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)place;
        const char *name = (const char *)(note + 1);
        const unsigned char *bytes = (const unsigned char *)name + ((note->n_namesz + 3) & ~3u);
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
            add(line, "build ");
            for (unsigned index = 0; index < note->n_descsz && index < 20; index++) {
                if (bytes[index] < 16) add(line, "0");
                add_number(line, bytes[index], 16);
            }
            return;
        }
        place = (uintptr_t)bytes + ((note->n_descsz + 3) & ~3u);
    }
}

// Reads the first object, which is the program itself.
static int look_at(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    struct text *line = context;
    program_bias = object->dlpi_addr;
    program_start = UINTPTR_MAX;
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[index];
        const uintptr_t start = program_bias + segment->p_vaddr;
        if (segment->p_type == PT_LOAD) {
            if (start < program_start) program_start = start;
            if (start + segment->p_memsz > program_end) program_end = start + segment->p_memsz;
        } else if (segment->p_type == PT_NOTE && line->length == 0) {
            note_build(object, segment, line);
        }
    }
    return 1;
}

int ccrashreport_begin(const char *path, const char *header) {
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return errno;
    struct text build = {.length = 0};
    dl_iterate_phdr(look_at, &build);
    const size_t length = strlen(header);
    if (write(file, header, length) != (ssize_t)length) {
        const int error = errno;
        close(file);
        return error;
    }
    const int last = atomic_exchange(&report, file);
    if (last >= 0) close(last);
    if (build.length > 0) write_line(&build);
    if (is_installed) return 0;
    is_installed = true;
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    // A fault in the handler ends the process immediately and keeps the output so far.
    sigfillset(&action.sa_mask);
    for (int index = 0; index < signal_count; index++) {
        if (sigaction(signals[index].number, &action, &before[index]) != 0) return errno;
    }
    return 0;
}

void ccrashreport_end(void) {
    const int last = atomic_exchange(&report, -1);
    if (last >= 0) close(last);
}
