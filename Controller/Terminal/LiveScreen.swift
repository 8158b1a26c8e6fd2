internal import Glibc

/// A display that is drawn again and again in the same place, without flicker: only what changed is written. The cursor is
/// hidden meanwhile; ``close()``, the end of the value's life, and the end of the process by `exit`, a signal or a trap
/// bring it back.
public struct LiveScreen: ~Copyable {
    /// For a terminal that does not tell its size.
    private static let usualSize = TerminalSize(columns: 80, rows: 24)

    private let device: TerminalDevice
    private let placement: Placement
    private let colors: ColorDepth
    private var shown: [StyledLine] = []
    private var shownSize: TerminalSize?

    /// Nil when lines cannot be drawn in place there (a pipe, a file, TERM=dumb): print them instead. There is one live
    /// screen at a time.
    public init?(_ device: TerminalDevice = .standardOutput, capabilities: Capabilities, placement: Placement) {
        guard capabilities.movesCursor else { return nil }
        precondition(Restoration.state.pointee.screen < 0, "one live screen at a time")
        self.device = device
        self.placement = placement
        colors = capabilities.colors
        Restoration.prepare()
        let farewell = Array(LiveScreen.farewell(placement).utf8)
        Restoration.state.pointee.farewell.update(from: farewell, count: farewell.count)
        Restoration.state.pointee.farewellLength = farewell.count
        Restoration.state.pointee.screen = device.descriptor
        device.write(Array(LiveScreen.greeting(placement).utf8))
    }

    /// What a frame may be at most, now.
    public var size: TerminalSize { device.size ?? LiveScreen.usualSize }

    /// Shows the lines in place of those drawn before; what is outside of the screen is cut.
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

    /// The next ``draw(_:)`` draws everything: the screen may have been written to by others.
    public mutating func invalidate() { device.write(Array(LiveScreen.greeting(placement).utf8) + eraseAll()) }

    private mutating func eraseAll() -> [UInt8] {
        let up = shown.count > 1 ? "\u{1B}[\(shown.count - 1)A" : ""
        shown = []
        switch placement {
        case .wholeScreen: return Array("\u{1B}[2J".utf8)
        case .inPlace: return Array((up + "\r\u{1B}[J").utf8)
        }
    }

    /// The same as letting go of the value, by name.
    public consuming func close() {}

    deinit {
        Restoration.state.pointee.screen = -1
        device.write(Array(LiveScreen.farewell(placement).utf8))
    }

    /// The cursor is hidden, and lines do not wrap: should the terminal take a character for wider than we do, the rest
    /// of the screen still stays where it is.
    private static func greeting(_ placement: Placement) -> String {
        switch placement {
        case .wholeScreen: "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J"
        case .inPlace: "\u{1B}[?25l\u{1B}[?7l"
        }
    }

    private static func farewell(_ placement: Placement) -> String {
        switch placement {
        case .wholeScreen: "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
        case .inPlace: "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\r\n"
        }
    }
}
