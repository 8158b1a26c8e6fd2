import Glibc
import Testing

@testable import Terminal

/// A pseudo-terminal. Writes to `keyboard` are typed input, and reads from it return the program's output.
private final class PseudoTerminal: Sendable {
    let keyboard: Int32
    let device: TerminalDevice

    init() throws {
        keyboard = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(keyboard >= 0)
        var unlocked: Int32 = 0
        var number: Int32 = 0
        try #require(ioctl(keyboard, UInt(0x4004_5431), &unlocked) == 0, "TIOCSPTLCK")
        try #require(ioctl(keyboard, UInt(0x8004_5430), &number) == 0, "TIOCGPTN")
        device = TerminalDevice(descriptor: open("/dev/pts/\(number)", O_RDWR | O_NOCTTY))
        try #require(device.descriptor >= 0)
    }

    func resize(columns: UInt16, rows: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(keyboard, UInt(TIOCSWINSZ), &size)
    }

    func type(_ bytes: [UInt8]) { _ = write(keyboard, bytes, bytes.count) }

    var modes: termios {
        var modes = termios()
        tcgetattr(device.descriptor, &modes)
        return modes
    }

    /// Reads output until it contains `end`, and returns it.
    func shown(upTo end: String) -> String {
        var output: [UInt8] = []
        while !String(decoding: output, as: UTF8.self).contains(end) {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(keyboard, &buffer, buffer.count)
            guard count > 0 else { break }
            output += buffer.prefix(count)
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Hangs up the terminal. The descriptor number stays in use until `deinit`.
    func hangUp() { _ = dup2(device.descriptor, keyboard) }

    deinit {
        close(keyboard)
        close(device.descriptor)
    }
}

@Suite(.serialized) struct DeviceTests {
    private let capabilities = Capabilities(environment: ["TERM": "xterm", "LANG": "C.UTF-8"], isTerminal: true)

    @Test("Output to a closed pipe returns a result and raises no signal") func closedPipeIsAResultAndNoSignal() {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let device = TerminalDevice(descriptor: ends[1])
        #expect(!device.isTerminal && device.size == nil)
        #expect(device.print(StyledLine("a")) == .written)
        close(ends[0])
        #expect(device.print(StyledLine("b")) == .closed)
        close(ends[1])
        #expect(device.print(StyledLine("c")) == .failed(EBADF))
        var pending = sigset_t()
        sigpending(&pending)
        #expect(sigismember(&pending, SIGPIPE) == 0)
    }

    @Test("Output to a pipe has no styles, and a pipe has no live screen") func pipeGetsPlainLines() {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let device = TerminalDevice(descriptor: ends[1])
        #expect(device.capabilities.colors == .none)
        if LiveScreen(device, capabilities: device.capabilities, placement: .inPlace) != nil {
            Issue.record("a pipe has a live screen")
        }
        #expect(TerminalInput(TerminalDevice(descriptor: ends[0])) == nil)
        device.print(StyledLine("on", Style(.green)), colors: device.capabilities.colors)
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = read(ends[0], &buffer, buffer.count)
        #expect(buffer.prefix(count) == ArraySlice("on\n".utf8))
        for end in ends { close(end) }
    }

    @Test("Keys are decoded, and closing the input restores the terminal's modes")
    func keyboardGivesKeysAndIsPutBack() async throws {
        let terminal = try PseudoTerminal()
        #expect(terminal.device.isTerminal)
        let before = terminal.modes
        let input = try #require(TerminalInput(terminal.device))
        #expect(terminal.modes.c_lflag & tcflag_t(ICANON | ECHO | ISIG) == 0)
        terminal.type(Array("q\u{1B}[Aé\u{03}".utf8) + [0x1B])
        var keys: [TerminalEvent] = []
        for await event in input.events {
            keys.append(event)
            if keys.count == 5 { break }
        }
        #expect(keys == [.character("q"), .up, .character("é"), .interrupt, .escape].map(TerminalEvent.key))
        input.close()
        #expect(terminal.modes.c_lflag == before.c_lflag && terminal.modes.c_iflag == before.c_iflag)
        input.close()
    }

    @Test("A resize is reported with the new size") func resizeIsReported() async throws {
        let terminal = try PseudoTerminal()
        terminal.resize(columns: 100, rows: 30)
        #expect(terminal.device.size == TerminalSize(columns: 100, rows: 30))
        let input = try #require(TerminalInput(terminal.device))
        terminal.resize(columns: 60, rows: 20)
        // The kernel signals only the terminal's foreground process group, to which a test process does not belong.
        kill(getpid(), SIGWINCH)
        for await event in input.events {
            #expect(event == .resized(TerminalSize(columns: 60, rows: 20)))
            break
        }
        input.close()
    }

    @Test("The events end when the terminal hangs up") func inputEndsWithItsTerminal() async throws {
        let terminal = try PseudoTerminal()
        let input = try #require(TerminalInput(terminal.device))
        terminal.hangUp()
        for await event in input.events { Issue.record("unexpected \(event)") }
    }

    @Test("A released input restores the terminal's modes") func releasedInputPutsTheKeyboardBack() throws {
        let terminal = try PseudoTerminal()
        do {
            let input = try #require(TerminalInput(terminal.device))
            #expect(terminal.modes.c_lflag & tcflag_t(ICANON) == 0)
            withExtendedLifetime(input) {}
        }
        #expect(terminal.modes.c_lflag & tcflag_t(ICANON) != 0)
    }

    @Test("A closed live screen restores the terminal") func liveScreenLeavesTheTerminalAsItWas() throws {
        let terminal = try PseudoTerminal()
        terminal.resize(columns: 20, rows: 3)
        do {
            guard var screen = LiveScreen(terminal.device, capabilities: capabilities, placement: .wholeScreen) else {
                Issue.record("no live screen")
                return
            }
            let lines = (0..<9).map { StyledLine("A line that is longer than the screen \($0)") }
            #expect(screen.draw(lines) == .written)
            screen.close()
        }
        let output = terminal.shown(upTo: "\u{1B}[?1049l")
        #expect(
            output.hasPrefix("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J\u{1B}[1;1HA line that is long…\u{1B}[2;1H"))
        #expect(output.hasSuffix("\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"))
        #expect(!output.contains("\u{1B}[4;1H"))
    }

    @Test("A resized screen is drawn completely") func resizedScreenIsDrawnAnew() throws {
        let terminal = try PseudoTerminal()
        terminal.resize(columns: 20, rows: 3)
        guard var screen = LiveScreen(terminal.device, capabilities: capabilities, placement: .inPlace) else {
            Issue.record("no live screen")
            return
        }
        screen.draw([StyledLine("one"), StyledLine("two")])
        terminal.resize(columns: 30, rows: 4)
        screen.draw([StyledLine("one"), StyledLine("two")])
        screen.close()
        let output = terminal.shown(upTo: "\u{1B}[?25h")
        #expect(output.contains("\u{1B}[1A\r\u{1B}[J\rone"))
    }
}
