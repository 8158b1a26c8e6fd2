public import PlugModel

/// A request of a local user, as one line of text on the panel socket.
public enum PanelRequest: Hashable, Sendable {
    /// `press single|double|long`: presses the simulated button.
    case press(ButtonPress)
    /// `press hold MILLISECONDS`: holds the simulated button down for 1 to 60000 ms.
    case hold(Int)
    /// `load TEXT`: changes the simulated load. The text is parsed by `PluggedLoad`.
    case load(String)
    /// `status`: returns the state of the plug as one line of JSON.
    case status
    /// `calibrate WATTS [VOLTS]`: calibrates the meter with the connected load.
    case calibrate(KnownLoad)
    /// `reset`: resets the plug to factory state.
    case reset
    /// `controllers`: lists the paired controllers, one per line.
    case controllers
    /// `remove FINGERPRINT`: removes a controller. The beginning of the fingerprint is enough if it is unique.
    case remove(String)
    /// `code CODE`: replaces the setup code. The client generates the new code.
    case code(SetupCode)
    /// `rotate-key`, `rotate-key now`: replaces the plug's key when no controller delays the new one any longer, or at
    /// once.
    case rotateKey(now: Bool)

    /// Parses a line of the panel socket.
    ///
    /// - Throws: ``PanelError`` if the line is not a valid request.
    public init(line: String) throws(PanelError) {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        switch (words.first, words.dropFirst().first) {
        case ("press", let kind?):
            self = try Self.press(kind)
        case ("load", let text?): self = .load(text)
        case ("calibrate", let load?): self = .calibrate(try Self.load(load))
        case ("status", nil): self = .status
        case ("reset", nil): self = .reset
        case ("controllers", nil): self = .controllers
        case ("remove", let fingerprint?): self = .remove(fingerprint)
        case ("rotate-key", nil): self = .rotateKey(now: false)
        case ("rotate-key", "now"?): self = .rotateKey(now: true)
        case ("code", let text?): self = .code(try Self.code(text))
        default:
            throw PanelError(
                "unknown request \"\(line)\"; the requests are press KIND, press hold MILLISECONDS, load TEXT, calibrate WATTS [VOLTS], status, controllers, "
                    + "remove FINGERPRINT, code CODE, rotate-key [now], reset")
        }
    }

    private static func press(_ kind: String) throws(PanelError) -> PanelRequest {
        if let press = ButtonPress(rawValue: kind) { return .press(press) }
        let words = kind.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, words[0] == "hold" else {
            throw PanelError("a button press must be single, double, long or hold, not \"\(kind)\"")
        }
        guard let milliseconds = Int(words[1]), holds.contains(milliseconds), "\(milliseconds)" == words[1] else {
            throw PanelError("a button can be held for 1 to \(holds.upperBound) milliseconds, not \"\(words[1])\"")
        }
        return .hold(milliseconds)
    }

    private static func load(_ text: String) throws(PanelError) -> KnownLoad {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let numbers = words.compactMap { Double($0) }.filter(\.isFinite)
        guard (1...2).contains(words.count), numbers.count == words.count else {
            throw PanelError("a load must be WATTS or WATTS VOLTS, not \"\(text)\"")
        }
        return KnownLoad(power: numbers[0], voltage: numbers.count == 2 ? numbers[1] : nil)
    }

    /// Parses a setup code. The error never contains the text, which may be a valid code with a typing error.
    private static func code(_ text: String) throws(PanelError) -> SetupCode {
        do throws(SetupCodeError) { return try SetupCode(text: text) } catch { throw PanelError("\(error)") }
    }

    /// The allowed durations of a hold in milliseconds.
    private static let holds = 1...60_000

    /// The line of the request, without a line end.
    package var line: String {
        switch self {
        case .hold(let milliseconds): "press hold \(milliseconds)"
        case .press(let press): "press \(press.rawValue)"
        case .load(let text): "load \(text)"
        case .calibrate(let load):
            (["calibrate", "\(load.power)"] + [load.voltage].compactMap { $0.map { "\($0)" } }).joined(separator: " ")
        case .status: "status"
        case .reset: "reset"
        case .controllers: "controllers"
        case .remove(let fingerprint): "remove \(fingerprint)"
        case .code(let code): "code \(code.text)"
        case .rotateKey(let now): now ? "rotate-key now" : "rotate-key"
        }
    }
}

/// The reason why the panel refused a request or could not be reached.
public struct PanelError: Error, CustomStringConvertible, Sendable {
    /// The message for the user.
    public let description: String
    /// Creates an error with a message for the user.
    public init(_ description: String) { self.description = description }
}

enum PanelLimits {
    /// The maximum number of bytes of a request, so that a client that never ends its line cannot use up memory.
    static let request = 4096
    /// The maximum number of bytes of an answer. The status of a host with the most reported interfaces fits.
    static let answer = 32_768
    /// The maximum number of bytes of a Unix socket's path without its final zero (sockaddr_un).
    static let socketPath = 107
}
