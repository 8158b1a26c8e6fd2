package import Appliance
import PlugModel
import ProtocolCore

/// The format of the line with the remote settings: `name=Lamp;power-on=last;auto-off=600000;power-limit=20000` with
/// ``EscapedText``; auto-off in milliseconds, the limit in tenths of a watt. Settings that no controller has changed
/// are omitted.
package enum SettingsText {
    /// Returns the line for the settings.
    package static func text(_ settings: StoredSettings) -> String {
        var fields: [[UInt8]] = []
        if let name = settings.name { fields.append(Array("name=".utf8) + EscapedText.bytes(of: name)) }
        if let powerOn = settings.powerOn { fields.append(Array("power-on=\(powerOn.rawValue)".utf8)) }
        if let autoOff = settings.autoOff {
            fields.append(Array("auto-off=\(autoOff.wholeNanoseconds / 1_000_000)".utf8))
        }
        if let limit = settings.powerLimit { fields.append(Array("power-limit=\(limit)".utf8)) }
        if let lock = settings.childLock { fields.append(Array("child-lock=\(lock)".utf8)) }
        if let span = settings.lightOff { fields.append(Array("light-off=\(span)".utf8)) }
        return String(decoding: Array(fields.joined(separator: [EscapedText.separator])), as: UTF8.self)
    }

    /// Parses the line. Returns nil if it is not valid. Keys of a later firmware are ignored.
    package static func parse(_ text: String) -> StoredSettings? {
        var settings = StoredSettings()
        for field in text.utf8.split(separator: EscapedText.separator) {
            guard let sign = field.firstIndex(of: UInt8(ascii: "=")),
                let key = String(field[..<sign]),
                let value = EscapedText.text(field[field.index(after: sign)...]), settings.set(key, value)
            else { return nil }
        }
        return settings
    }
}

extension StoredSettings {
    /// Stores a value. Returns false if it is not valid or the key is repeated.
    fileprivate mutating func set(_ key: String, _ value: String) -> Bool {
        switch key {
        case "name":
            guard name == nil, (1...PlugWire.maximumName).contains(value.utf8.count) else { return false }
            name = value
        case "power-on":
            guard powerOn == nil, let state = PowerOnState(rawValue: value) else { return false }
            powerOn = state
        case "auto-off":
            guard autoOff == nil, let milliseconds = UInt32(value) else { return false }
            autoOff = .milliseconds(Int64(milliseconds))
        case "power-limit":
            guard powerLimit == nil, let limit = UInt32(value) else { return false }
            powerLimit = limit
        case "child-lock":
            guard childLock == nil, let lock = Bool(value) else { return false }
            childLock = lock
        case "light-off":
            guard lightOff == nil, let span = DailySpan(text: value) else { return false }
            lightOff = span
        case _: break
        }
        return true
    }
}
