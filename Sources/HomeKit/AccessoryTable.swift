internal import JSONText

/// The accessories, their characteristics by key, and the latest reported value of each characteristic.
struct AccessoryTable: Sendable {
    /// The limit of characteristics, which bounds the answer to `/accessories`. HAP 2.5.3.2 allows 100 services per
    /// accessory.
    static let limit = 1000

    private let accessories: [Accessory]
    private let characteristics: [CharacteristicKey: Characteristic]
    private var values: [CharacteristicKey: CharacteristicValue] = [:]

    init(_ accessories: [Accessory]) throws(HomeKitError) {
        var found: [CharacteristicKey: Characteristic] = [:]
        var ids: Set<UInt64> = []
        for accessory in accessories {
            guard accessory.id != 0, ids.insert(accessory.id).inserted else { throw .invalidAccessoryID(accessory.id) }
            var instances: Set<UInt64> = []
            for service in accessory.services {
                guard service.instance != 0, instances.insert(service.instance).inserted else {
                    throw .invalidInstance(CharacteristicKey(accessory.id, service.instance))
                }
                for characteristic in service.characteristics {
                    let key = CharacteristicKey(accessory.id, characteristic.instance)
                    guard characteristic.instance != 0, instances.insert(characteristic.instance).inserted else {
                        throw .invalidInstance(key)
                    }
                    found[key] = characteristic
                }
            }
        }
        guard found.count <= Self.limit else { throw .tooManyCharacteristics(found.count) }
        self.accessories = accessories
        characteristics = found
    }

    subscript(key: CharacteristicKey) -> Characteristic? { characteristics[key] }

    func value(of key: CharacteristicKey) -> CharacteristicValue? { values[key] }

    enum Outcome {
        case changed, unchanged
        /// The characteristic does not exist or is a press, or the value does not fit the format.
        case refused
    }

    mutating func tell(_ value: CharacteristicValue, of key: CharacteristicKey) -> Outcome {
        guard let characteristic = characteristics[key], !characteristic.isPress, let told = characteristic.told(value)
        else { return .refused }
        guard values[key] != told else { return .unchanged }
        values[key] = told
        return .changed
    }

    /// A hash of the data that controllers cache: services and characteristics without values (HAP 6.4, c#).
    var shape: [UInt8] {
        let text = AccessoryTable.json(accessories) { _ in nil }
        return Array(PairingCryptography.sha512(Array(text.utf8)).prefix(32))
    }

    /// Returns the attributes of all accessories as JSON (HAP 6.6.4).
    func attributes(subscribed: Set<CharacteristicKey>) -> String {
        Self.json(accessories) { key in (value: value(of: key)?.json ?? "null", isSubscribed: subscribed.contains(key))
        }
    }

    private typealias Present = (value: String, isSubscribed: Bool)

    private static func json(_ accessories: [Accessory], _ present: (CharacteristicKey) -> Present?) -> String {
        var all = JSONObject()
        all.add(
            "accessories",
            accessories.map { accessory in
                var object = JSONObject()
                object.add("aid", accessory.id)
                object.add("services", accessory.services.map { json($0, of: accessory.id, present) })
                return object
            })
        return all.text
    }

    private static func json(
        _ service: AccessoryService, of accessory: UInt64, _ present: (CharacteristicKey) -> Present?
    ) -> JSONObject {
        var object = JSONObject()
        object.add("iid", service.instance)
        object.add("type", service.type.description)
        object.add(
            "characteristics",
            service.characteristics.map { characteristic in
                var entry = JSONObject()
                entry.add("iid", characteristic.instance)
                entry.add("type", characteristic.type.description)
                entry.add("perms", characteristic.permissionNames)
                characteristic.addMeta(to: &entry)
                guard let present = present(CharacteristicKey(accessory, characteristic.instance)) else { return entry }
                if characteristic.permissions.contains(.pairedRead) { entry.add("value", json: present.value) }
                if characteristic.permissions.contains(.events) { entry.add("ev", present.isSubscribed) }
                return entry
            })
        if service.isPrimary { object.add("primary", true) }
        if service.isHidden { object.add("hidden", true) }
        if !service.linked.isEmpty {
            object.add("linked", json: "[" + service.linked.map { "\($0)" }.joined(separator: ",") + "]")
        }
        return object
    }
}

extension Characteristic {
    var permissionNames: [String] {
        CharacteristicPermission.allCases.filter(permissions.contains).map(\.rawValue)
    }

    /// Adds format, unit and limits (HAP 6.7.4.2, `meta`).
    func addMeta(to object: inout JSONObject) {
        object.add("format", format.rawValue)
        if let unit { object.add("unit", unit.rawValue) }
        if let minimum = limits.minimum { object.add("minValue", minimum) }
        if let maximum = limits.maximum { object.add("maxValue", maximum) }
        if let step = limits.step { object.add("minStep", step) }
        if let longest = limits.longestText { object.add("maxLen", longest) }
        if let name { object.add("description", name) }
        if !limits.validValues.isEmpty {
            object.add("valid-values", json: "[" + limits.validValues.map { "\($0)" }.joined(separator: ",") + "]")
        }
    }
}
