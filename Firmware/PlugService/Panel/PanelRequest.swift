public import PlugProtocol

/// What a person standing at the plug can do, as one line of text on the panel socket.
public enum PanelRequest: Hashable, Sendable {
    /// `press single|double|long`: pushes the simulated button.
    case press(ButtonPress)
    /// `load TEXT`: changes what is plugged in; the simulated load reads the text.
    case load(String)
    /// `status`: what the plug is doing, as one line of JSON.
    case status
    /// `reset`: sets the plug back to factory state.
    case reset

    public init(line: String) throws(PanelError) {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        switch (words.first, words.dropFirst().first) {
        case ("press", let kind?):
            guard let press = ButtonPress(rawValue: kind) else {
                throw PanelError("a button is pressed single, double or long, not \"\(kind)\"")
            }
            self = .press(press)
        case ("load", let text?): self = .load(text)
        case ("status", nil): self = .status
        case ("reset", nil): self = .reset
        default: throw PanelError("\"\(line)\" is none of: press single|double|long, load TEXT, status, reset")
        }
    }

    package var line: String {
        switch self {
        case .press(let press): "press \(press.rawValue)"
        case .load(let text): "load \(text)"
        case .status: "status"
        case .reset: "reset"
        }
    }
}

/// A request that the panel did not carry out, or could not be asked.
public struct PanelError: Error, CustomStringConvertible, Sendable {
    public let description: String
    public init(_ description: String) { self.description = description }
}

enum PanelLimits {
    /// Bytes of a request's or an answer's line: stops a writer that never ends its line.
    /// The status of a host with the most interfaces that are told has room.
    static let line = 32_768
    /// Bytes of a Unix socket's path that the kernel takes, its closing zero left out.
    static let socketPath = 107
}
