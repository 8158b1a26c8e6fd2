import Automation
public import LinuxSystem
import PlugModel
import RuleModel

/// A time, as it is sent to a script.
public struct ScriptTime: Hashable, Sendable {
    /// Seconds since 1970, UTC.
    public var at: Double
    /// Seconds that local time is ahead of UTC at that time.
    public var offset: Int
    /// The offsets of local time at other times. Nil if the host has them already, or if ``offset`` applies at all
    /// times.
    public var zone: LocalOffsets?

    /// Creates a time: seconds since 1970, and the offset of local time in seconds.
    public init(at: Double, offset: Int = 0, zone: LocalOffsets? = nil) {
        self.at = at
        self.offset = offset
        self.zone = zone
    }
}

/// The requests to a script host, each a line of JSON with its line feed.
enum HostRequest {
    /// Returns the request to load a script.
    ///
    /// - Parameter state: the stored state of the script, as one line of JSON.
    static func load(name: String, source: String, state: String?, time: ScriptTime) -> [UInt8] {
        var json = JSONText("{\"load\":{")
        json.entry("name", text: name)
        json.entry("source", text: source)
        if let state { json.entry("state", json: state) }
        json.entry(time)
        return json.line(closing: "}}\n")
    }

    /// Returns the request to call a function of the script.
    ///
    /// - Parameter plugs: the plugs whose state differs from the last one that the host received.
    static func call(_ call: ScriptCall, plugs: some Sequence<PlugView>, time: ScriptTime) -> [UInt8] {
        var json = JSONText("{\"call\":{")
        json.entry("handler", number: Double(call.handler.index))
        json.entry(time)
        json.open("event", "{")
        json.entry("id", hexadecimal: call.id.bytes)
        json.entry("rule", text: call.firing.rule)
        json.entry("why", text: call.firing.cause.description)
        if let plug = call.firing.cause.plug { json.entry("plug", text: plug) }
        if let value = call.firing.cause.value { json.entry("value", number: value) }
        json.close("}")
        var isFirst = true
        for view in plugs {
            if isFirst { json.open("plugs", "[") }
            isFirst = false
            json.element("{")
            json.entry("name", text: view.name)
            json.entry("connected", truth: view.isConnected)
            if let isOn = view.isOn { json.entry("on", truth: isOn) }
            if let level = view.level { json.entry("level", number: Double(level.permille) / 10) }
            if let power = view.activePower { json.entry("power", number: power) }
            json.close("}")
        }
        if !isFirst { json.close("]") }
        return json.line(closing: "}}\n")
    }
}

/// Builds JSON text, entry by entry.
struct JSONText {
    private static let digits = Array("0123456789abcdef".utf8)

    private var bytes: [UInt8] = []

    init(_ opening: StaticString) {
        bytes.reserveCapacity(512)
        write(opening)
    }

    mutating func entry(_ time: ScriptTime) {
        entry("at", number: time.at)
        entry("offset", number: Double(time.offset))
        guard let zone = time.zone else { return }
        open("zone", "[")
        let numbers = [zone.initial] + zone.changes.flatMap { [$0.second, $0.offset] }
        bytes += numbers.map(String.init).joined(separator: ",").utf8
        close("]")
    }

    mutating func entry(_ key: StaticString, text: String) {
        begin(key)
        quote(text)
    }

    mutating func entry(_ key: StaticString, hexadecimal: [UInt8]) {
        begin(key)
        write("\"")
        for byte in hexadecimal {
            bytes.append(Self.digits[Int(byte >> 4)])
            bytes.append(Self.digits[Int(byte & 15)])
        }
        write("\"")
    }

    /// Adds a number. Omits a number that is not finite, because JSON cannot express it.
    mutating func entry(_ key: StaticString, number: Double) {
        guard number.isFinite else { return }
        begin(key)
        if let whole = Int(exactly: number) { bytes += "\(whole)".utf8 } else { bytes += "\(number)".utf8 }
    }

    mutating func entry(_ key: StaticString, truth: Bool) {
        begin(key)
        write(truth ? "true" : "false")
    }

    mutating func entry(_ key: StaticString, json: String) {
        begin(key)
        bytes += json.utf8
    }

    mutating func open(_ key: StaticString, _ bracket: StaticString) {
        begin(key)
        write(bracket)
    }

    mutating func element(_ bracket: StaticString) {
        separate()
        write(bracket)
    }

    mutating func close(_ bracket: StaticString) { write(bracket) }

    consuming func line(closing: StaticString) -> [UInt8] {
        write(closing)
        return bytes
    }

    private mutating func separate() {
        if let last = bytes.last, last != UInt8(ascii: "{"), last != UInt8(ascii: "[") {
            bytes.append(UInt8(ascii: ","))
        }
    }

    private mutating func begin(_ key: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        write(key)
        write("\":")
    }

    private mutating func write(_ text: StaticString) {
        bytes += UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    private mutating func quote(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case UInt8(ascii: "\n"): write("\\n")
            case 0..<0x20:
                write("\\u00")
                bytes.append(byte < 16 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
                bytes.append(Self.digits[Int(byte & 15)])
            case _: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
