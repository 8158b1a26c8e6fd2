public import PlugModel

/// What a person standing at the plug can do, as one line of text on the panel socket.
public enum PanelRequest: Hashable, Sendable {
    /// `press single|double|long`: pushes the simulated button.
    case press(ButtonPress)
    /// `press hold MILLISECONDS`: holds the simulated button down for so long, from 1 to 60000.
    case hold(Int)
    /// `load TEXT`: changes what is plugged in; the simulated load reads the text.
    case load(String)
    /// `status`: what the plug is doing, as one line of JSON.
    case status
    /// `calibrate WATTS [VOLTS]`: finds the meter's calibration with the load that is plugged in.
    case calibrate(KnownLoad)
    /// `reset`: sets the plug back to factory state.
    case reset
    /// `controllers`: who is paired with the plug, a line each.
    case controllers
    /// `remove FINGERPRINT`: forgets a controller; the fingerprint's beginning is enough.
    case remove(String)
    /// `code CODE`: gives the plug this setup code in place of the one that it has. Whoever asks draws it.
    case code(SetupCode)
    /// `rotate-key`, `rotate-key now`: gives the plug another key once its controllers know that, or without waiting for them.
    case rotateKey(now: Bool)

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
                "\"\(line)\" is none of: press KIND, load TEXT, calibrate WATTS [VOLTS], status, controllers, "
                    + "remove FINGERPRINT, code CODE, rotate-key, reset")
        }
    }

    private static func press(_ kind: String) throws(PanelError) -> PanelRequest {
        if let press = ButtonPress(rawValue: kind) { return .press(press) }
        let words = kind.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, words[0] == "hold" else {
            throw PanelError("a button is pressed single, double or long, or held, not \"\(kind)\"")
        }
        guard let milliseconds = Int(words[1]), holds.contains(milliseconds), "\(milliseconds)" == words[1] else {
            throw PanelError("a button is held for 1 to \(holds.upperBound) milliseconds, not \"\(words[1])\"")
        }
        return .hold(milliseconds)
    }

    private static func load(_ text: String) throws(PanelError) -> KnownLoad {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let numbers = words.compactMap { Double($0) }.filter(\.isFinite)
        guard (1...2).contains(words.count), numbers.count == words.count else {
            throw PanelError("a load is WATTS or WATTS VOLTS, not \"\(text)\"")
        }
        return KnownLoad(power: numbers[0], voltage: numbers.count == 2 ? numbers[1] : nil)
    }

    /// Never repeats the text: it may be a code with a slip in it.
    private static func code(_ text: String) throws(PanelError) -> SetupCode {
        do throws(SetupCodeError) { return try SetupCode(text: text) } catch { throw PanelError("\(error)") }
    }

    /// Milliseconds of a hold that can be asked for.
    private static let holds = 1...60_000

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

/// A request that the panel did not carry out, or could not be asked.
public struct PanelError: Error, CustomStringConvertible, Sendable {
    public let description: String
    public init(_ description: String) { self.description = description }
}

enum PanelLimits {
    /// Bytes of a request's line: stops a writer that never ends its line.
    static let request = 4096
    /// Bytes of an answer's line: the status of a host with the most interfaces that are told has room.
    static let answer = 32_768
    /// Bytes of a Unix socket's path that the kernel takes, its closing zero left out.
    static let socketPath = 107
}
