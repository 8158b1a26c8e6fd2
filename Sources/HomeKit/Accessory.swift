import ProtocolCore

/// Identifies a characteristic among all accessories: accessory id and instance id (HAP 2.6).
public struct CharacteristicKey: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The accessory id.
    public var accessory: UInt64
    /// The instance id within the accessory.
    public var instance: UInt64

    /// Creates a key from accessory id and instance id.
    public init(_ accessory: UInt64, _ instance: UInt64) { (self.accessory, self.instance) = (accessory, instance) }

    public var description: String { "\(accessory).\(instance)" }

    public static func < (left: Self, right: Self) -> Bool {
        (left.accessory, left.instance) < (right.accessory, right.instance)
    }
}

/// A value of an accessory that controllers can read, write or subscribe to (HAP 6.6.3).
public struct Characteristic: Hashable, Sendable {
    /// The instance id, unique within the accessory.
    public var instance: UInt64
    /// The type.
    public var type: AccessoryType
    /// The operations that controllers may use.
    public var permissions: Set<CharacteristicPermission>
    /// The format of the value.
    public var format: CharacteristicFormat
    /// The unit of the value, if it has one.
    public var unit: CharacteristicUnit?
    /// The limits of the value.
    public var limits: CharacteristicLimits
    /// A human-readable name for characteristics that Apple does not define, or nil.
    public var name: String?

    /// Creates a characteristic.
    public init(
        _ instance: UInt64, _ type: AccessoryType, _ permissions: Set<CharacteristicPermission>,
        _ format: CharacteristicFormat, unit: CharacteristicUnit? = nil, limits: CharacteristicLimits = .none,
        name: String? = nil
    ) {
        (self.instance, self.type, self.permissions, self.format) = (instance, type, permissions, format)
        (self.unit, self.limits, self.name) = (unit, limits, name)
    }

    /// True for a button press. A press is sent immediately in its own event, and a read returns null (HAP 9.75).
    public var isPress: Bool { type == .programmableSwitchEvent }

    /// Converts a controller's value to the characteristic's format. Returns nil if the value is not valid.
    func written(_ value: CharacteristicValue) -> CharacteristicValue? {
        switch (format, value) {
        case (.boolean, .boolean): return value
        // Controllers also write 0 and 1.
        case (.boolean, .whole(let number)): return number == 0 || number == 1 ? .boolean(number == 1) : nil
        case (.float, .whole(let number)): return checked(Double(number)).map { .number($0) }
        case (.float, .number(let number)): return checked(number).map { .number($0) }
        case (.string, .text(let text)):
            return text.utf8.count <= limits.longestText ?? CharacteristicLimits.commonTextLength ? value : nil
        case (.tlv8, .text(let text)), (.data, .text(let text)):
            guard text.utf8.count <= 2 * CharacteristicLimits.bytesLimit, let bytes = Base64.decode(text),
                bytes.count <= CharacteristicLimits.bytesLimit
            else { return nil }
            return .bytes(bytes)
        case (_, .number(let number)):
            guard let whole = Int64(exactly: number) else { return nil }
            return written(.whole(whole))
        case (_, .boolean(let flag)): return format.wholeNumbers == nil ? nil : written(.whole(flag ? 1 : 0))
        case (_, .whole(let number)):
            guard let range = format.wholeNumbers, range.contains(number), checked(Double(number)) != nil,
                limits.validValues.isEmpty || limits.validValues.contains(number)
            else { return nil }
            return value
        case (_, .text), (_, .bytes): return nil
        }
    }

    private func checked(_ number: Double) -> Double? {
        guard number.isFinite, number >= limits.minimum ?? number, number <= limits.maximum ?? number else {
            return nil
        }
        return number
    }

    /// Converts the accessory's own value to the characteristic's format. Clamps numbers to the limits and shortens
    /// long texts, because controllers reject an accessory with a value outside its limits. Returns nil if the value
    /// does not fit the format.
    func told(_ value: CharacteristicValue) -> CharacteristicValue? {
        func moved(_ number: Double) -> Double {
            min(max(number, limits.minimum ?? number), limits.maximum ?? max(number, limits.minimum ?? number))
        }
        switch (format, value) {
        case (.float, .number(let number)): return number.isFinite ? .number(moved(number)) : nil
        case (.float, .whole(let number)): return .number(moved(Double(number)))
        case (.string, .text(let text)):
            let longest = limits.longestText ?? CharacteristicLimits.commonTextLength
            guard text.utf8.count > longest else { return value }
            var short = ""
            for character in text {
                guard short.utf8.count + character.utf8.count <= longest else { break }
                short.append(character)
            }
            return .text(short)
        case (.tlv8, .bytes(let bytes)), (.data, .bytes(let bytes)):
            return bytes.count <= CharacteristicLimits.bytesLimit ? value : nil
        case (_, .whole(let number)) where format.wholeNumbers != nil:
            guard let range = format.wholeNumbers else { return nil }
            let inside = min(max(number, range.lowerBound), range.upperBound)
            let near = moved(Double(inside))
            return near == Double(inside) ? .whole(inside) : Int64(exactly: near.rounded()).map { .whole($0) }
        case (_, _): return written(value)
        }
    }
}

/// A group of related characteristics (HAP 6.6.2).
public struct AccessoryService: Hashable, Sendable {
    /// The instance id, unique within the accessory.
    public var instance: UInt64
    /// The type.
    public var type: AccessoryType
    /// The characteristics of the service.
    public var characteristics: [Characteristic]
    /// True if this is the main service of the accessory.
    public var isPrimary: Bool
    /// True if controllers do not show the service to users.
    public var isHidden: Bool
    /// The instance ids of linked services.
    public var linked: [UInt64]

    /// Creates a service.
    public init(
        _ instance: UInt64, _ type: AccessoryType, _ characteristics: [Characteristic], isPrimary: Bool = false,
        isHidden: Bool = false, linked: [UInt64] = []
    ) {
        (self.instance, self.type, self.characteristics) = (instance, type, characteristics)
        (self.isPrimary, self.isHidden, self.linked) = (isPrimary, isHidden, linked)
    }
}

/// One device (HAP 6.6.1). The first accessory of a bridge has the id 1.
public struct Accessory: Hashable, Sendable {
    /// The accessory id, nonzero and unique.
    public var id: UInt64
    /// The services of the accessory.
    public var services: [AccessoryService]

    /// Creates an accessory.
    public init(_ id: UInt64, _ services: [AccessoryService]) { (self.id, self.services) = (id, services) }
}
