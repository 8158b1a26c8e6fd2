internal import Glibc

/// A display that is redrawn in place without flicker: only changes are written. The cursor is hidden while the screen
/// exists. ``close()``, the end of the value's lifetime, and the end of the process by `exit`, a signal or a trap
/// restore the terminal.
public struct LiveScreen: ~Copyable {
    /// The size of a terminal that does not report one.
    private static let usualSize = TerminalSize(columns: 80, rows: 24)

    private let device: TerminalDevice
    private let placement: Placement
    private let readsMouse: Bool
    private let colors: ColorDepth
    private var shown: [StyledLine] = []
    private var shownSize: TerminalSize?

    /// Creates a screen, or returns nil if the device cannot redraw lines (a pipe, a file, TERM=dumb); the caller then
    /// prints the lines. Only one live screen may exist at a time.
    ///
    /// - Parameter readsMouse: True if the terminal reports clicks and turns of the wheel, instead of selecting text.
    public init?(
        _ device: TerminalDevice = .standardOutput, capabilities: Capabilities, placement: Placement,
        readsMouse: Bool = false
    ) {
        guard capabilities.movesCursor else { return nil }
        precondition(Restoration.state.pointee.screen < 0, "one live screen at a time")
        self.device = device
        self.placement = placement
        self.readsMouse = readsMouse
        colors = capabilities.colors
        Restoration.prepare()
        let farewell = Array(self.farewell.utf8)
        Restoration.state.pointee.farewell.update(from: farewell, count: farewell.count)
        Restoration.state.pointee.farewellLength = farewell.count
        Restoration.state.pointee.screen = device.descriptor
        device.write(Array(greeting.utf8))
    }

    /// The current size of the terminal, which limits a frame.
    public var size: TerminalSize { device.size ?? LiveScreen.usualSize }

    /// Replaces the previous lines. Lines outside the screen are cut.
    @discardableResult public mutating func draw(_ lines: [StyledLine]) -> WriteResult {
        let size = self.size
        var output: [UInt8] = []
        if let shownSize, shownSize != size { output += eraseAll() }
        shownSize = size
        let frame = lines.prefix(size.rows).map { $0.truncated(to: size.columns) }
        output += redraw(from: shown, to: frame, placement: placement, colors: colors)
        shown = frame
        return device.write(output)
    }

    /// Makes the next ``draw(_:)`` redraw everything, because another program may have written to the screen.
    public mutating func invalidate() { device.write(Array(greeting.utf8) + eraseAll()) }

    private mutating func eraseAll() -> [UInt8] {
        let up = shown.count > 1 ? "\u{1B}[\(shown.count - 1)A" : ""
        shown = []
        switch placement {
        case .wholeScreen: return Array("\u{1B}[2J".utf8)
        case .inPlace: return Array((up + "\r\u{1B}[J").utf8)
        }
    }

    /// Closes the screen.
    public consuming func close() {}

    deinit {
        Restoration.state.pointee.screen = -1
        device.write(Array(farewell.utf8))
    }

    /// Hides the cursor and disables line wrap: if the terminal draws a character wider than expected, the rest of the
    /// screen keeps its position.
    private var greeting: String {
        let mouse = readsMouse ? "\u{1B}[?1000h\u{1B}[?1006h" : ""
        return switch placement {
        case .wholeScreen: "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\(mouse)\u{1B}[2J"
        case .inPlace: "\u{1B}[?25l\u{1B}[?7l\(mouse)"
        }
    }

    private var farewell: String {
        let mouse = readsMouse ? "\u{1B}[?1006l\u{1B}[?1000l" : ""
        return switch placement {
        case .wholeScreen: "\u{1B}[0m\(mouse)\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
        case .inPlace: "\u{1B}[0m\(mouse)\u{1B}[?7h\u{1B}[?25h\r\n"
        }
    }
}
