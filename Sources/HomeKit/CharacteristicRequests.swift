internal import JSONText

/// The result of reading or writing a characteristic (HAP 6.7.1.4, table 6-11).
public enum HomeKitStatus: Int, Hashable, Sendable {
    case success = 0
    case insufficientPrivileges = -70401
    case unableToCommunicate = -70402
    case busy = -70403
    case readOnly = -70404
    case writeOnly = -70405
    case notificationUnsupported = -70406
    case outOfResources = -70407
    case timedOut = -70408
    case doesNotExist = -70409
    case invalidValue = -70410
    case insufficientAuthorization = -70411
    case notAllowedNow = -70412
}

/// The reasons why a request is rejected.
enum RequestFault: Error {
    /// The request has an invalid format.
    case malformed
    /// A required part is missing or out of range.
    case unprocessable
}

/// The request `GET /characteristics` (HAP 6.7.4).
struct CharacteristicRead {
    /// The limit of characteristics per request.
    static let limit = 256

    private(set) var keys: [CharacteristicKey] = []
    private(set) var wantsMeta = false
    private(set) var wantsPermissions = false
    private(set) var wantsType = false
    private(set) var wantsEvents = false

    init(query: String?) throws(RequestFault) {
        for part in (query ?? "").split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { throw .malformed }
            switch pair[0] {
            case "id":
                for id in pair[1].split(separator: ",", omittingEmptySubsequences: false) {
                    let numbers = id.split(separator: ".", omittingEmptySubsequences: false)
                    guard numbers.count == 2, let accessory = UInt64(numbers[0]), let instance = UInt64(numbers[1])
                    else { throw .malformed }
                    guard keys.count < Self.limit else { throw .unprocessable }
                    keys.append(CharacteristicKey(accessory, instance))
                }
            case "meta": wantsMeta = try Self.flag(pair[1])
            case "perms": wantsPermissions = try Self.flag(pair[1])
            case "type": wantsType = try Self.flag(pair[1])
            case "ev": wantsEvents = try Self.flag(pair[1])
            case _: break
            }
        }
        guard !keys.isEmpty else { throw .unprocessable }
    }

    private static func flag(_ text: Substring) throws(RequestFault) -> Bool {
        switch text {
        case "1", "true": true
        case "0", "false": false
        case _: throw .malformed
        }
    }

    func answer(_ table: AccessoryTable, subscribed: Set<CharacteristicKey>) -> HTTPResponse {
        let entries = keys.map { key in (key, read(key, table)) }
        let isWhole = entries.allSatisfy { $0.1.status == .success }
        var answer = JSONObject()
        answer.add(
            "characteristics",
            entries.map { key, result in
                var entry = JSONObject()
                entry.add("aid", key.accessory)
                entry.add("iid", key.instance)
                if let value = result.value { entry.add("value", json: value) }
                if !isWhole { entry.add("status", result.status.rawValue) }
                guard let characteristic = table[key] else { return entry }
                if wantsType { entry.add("type", characteristic.type.description) }
                if wantsPermissions { entry.add("perms", characteristic.permissionNames) }
                if wantsMeta { characteristic.addMeta(to: &entry) }
                if wantsEvents { entry.add("ev", subscribed.contains(key)) }
                return entry
            })
        return HTTPResponse(isWhole ? .ok : .multiStatus, .json(answer.text))
    }

    private func read(_ key: CharacteristicKey, _ table: AccessoryTable) -> (value: String?, status: HomeKitStatus) {
        guard let characteristic = table[key] else { return (nil, .doesNotExist) }
        guard characteristic.permissions.contains(.pairedRead) else { return (nil, .writeOnly) }
        if characteristic.isPress { return ("null", .success) }
        guard let value = table.value(of: key) else { return (nil, .unableToCommunicate) }
        return (value.json, .success)
    }
}

/// The request `PUT /characteristics` (HAP 6.7.2), which writes values and changes subscriptions.
struct CharacteristicWrite {
    struct Entry {
        var key: CharacteristicKey
        var value: CharacteristicValue?
        var subscribes: Bool?
        var wantsResponse = false
    }

    /// The limit of entries per request.
    static let limit = 128

    private(set) var entries: [Entry] = []
    /// The id of the preceding `/prepare`, or nil if the write names none.
    private(set) var preparation: UInt64?

    init(_ body: [UInt8]) throws(RequestFault) {
        var found: [Entry?] = []
        var preparation: UInt64?
        do {
            try JSONReader.read(body) { reader throws(JSONError) in
                try reader.object { key, reader throws(JSONError) in
                    switch key {
                    case "characteristics":
                        try reader.list { reader throws(JSONError) in
                            guard found.count < Self.limit else { throw reader.fault("too many characteristics") }
                            found.append(try Self.entry(&reader))
                        }
                    case "pid": preparation = UInt64(try reader.numeral())
                    case _: try reader.skip()
                    }
                }
            }
        } catch { throw .malformed }
        entries = found.compactMap { $0 }
        guard !found.isEmpty, entries.count == found.count else { throw .unprocessable }
        self.preparation = preparation
    }

    /// Reads an entry. Returns nil if an id is missing or is not a whole number.
    private static func entry(_ reader: inout JSONReader) throws(JSONError) -> Entry? {
        var (accessory, instance): (UInt64?, UInt64?)
        var entry = Entry(key: CharacteristicKey(0, 0))
        try reader.object { key, reader throws(JSONError) in
            switch key {
            case "aid": accessory = UInt64(try reader.numeral())
            case "iid": instance = UInt64(try reader.numeral())
            case "value": entry.value = try value(&reader)
            case "ev": entry.subscribes = try flag(&reader)
            case "r": entry.wantsResponse = try flag(&reader) ?? false
            // The server ignores the additional authorization data, and the flag that marks writes of controllers away
            // from home.
            case "authData", "remote": try reader.skip()
            case _: try reader.skip()
            }
        }
        guard let accessory, let instance else { return nil }
        entry.key = CharacteristicKey(accessory, instance)
        return entry
    }

    private static func flag(_ reader: inout JSONReader) throws(JSONError) -> Bool? {
        switch try value(&reader) {
        case .boolean(let flag): flag
        case .whole(let number): number != 0
        case .number, .text, .bytes, nil: nil
        }
    }

    private static func value(_ reader: inout JSONReader) throws(JSONError) -> CharacteristicValue? {
        switch reader.next() {
        case UInt8(ascii: "\""): return .text(try reader.text())
        case UInt8(ascii: "t") where reader.word("true"): return .boolean(true)
        case UInt8(ascii: "f") where reader.word("false"): return .boolean(false)
        case UInt8(ascii: "n") where reader.word("null"): return nil
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            // No format has nested values.
            throw reader.fault("nested value")
        case _:
            let numeral = try reader.numeral()
            if let whole = Int64(numeral) { return .whole(whole) }
            guard let number = Double(numeral) else { throw reader.fault("invalid number") }
            return .number(number)
        }
    }

    /// Parses `PUT /prepare` (HAP 6.7.2.4): its id, and the time for which it is valid.
    static func preparation(_ body: [UInt8]) throws(RequestFault) -> (id: UInt64, time: Duration) {
        var (id, milliseconds): (UInt64?, UInt64?)
        do {
            try JSONReader.read(body) { reader throws(JSONError) in
                try reader.object { key, reader throws(JSONError) in
                    switch key {
                    case "pid": id = UInt64(try reader.numeral())
                    case "ttl": milliseconds = UInt64(try reader.numeral())
                    case _: try reader.skip()
                    }
                }
            }
        } catch { throw .malformed }
        guard let id, let milliseconds else { throw .unprocessable }
        return (id, .milliseconds(Int64(min(milliseconds, longestPreparation))))
    }

    /// The longest time in milliseconds for which a preparation can be valid. A longer requested time is reduced to it.
    private static let longestPreparation: UInt64 = 600_000

    /// Returns the results of all entries as JSON (HAP 6.7.2.2).
    static func answer(_ entries: [PendingWrite.Entry]) -> String {
        list(
            entries.map { entry in
                var object = object(entry.key)
                object.add("status", entry.status.rawValue)
                if entry.wantsResponse, let value = entry.value { object.add("value", json: value.json) }
                return object
            })
    }

    /// Returns the body of an event (HAP 6.8).
    static func event(_ values: [(CharacteristicKey, CharacteristicValue)]) -> String {
        list(
            values.map { key, value in
                var object = object(key)
                object.add("value", json: value.json)
                return object
            })
    }

    private static func object(_ key: CharacteristicKey) -> JSONObject {
        var object = JSONObject()
        object.add("aid", key.accessory)
        object.add("iid", key.instance)
        return object
    }

    private static func list(_ objects: [JSONObject]) -> String {
        var all = JSONObject()
        all.add("characteristics", objects)
        return all.text
    }
}
