/// Names a characteristic of all accessories: accessory id and instance id (HAP 2.6).
public struct CharacteristicKey: Hashable, Sendable, Comparable, CustomStringConvertible {
    public var accessory: UInt64
    public var instance: UInt64

    public init(_ accessory: UInt64, _ instance: UInt64) { (self.accessory, self.instance) = (accessory, instance) }

    public var description: String { "\(accessory).\(instance)" }

    public static func < (left: Self, right: Self) -> Bool {
        (left.accessory, left.instance) < (right.accessory, right.instance)
    }
}

/// Something that can be read, written or told (HAP 6.6.3).
public struct Characteristic: Hashable, Sendable {
    public var instance: UInt64
    public var type: AccessoryType
    public var permissions: Set<CharacteristicPermission>
    public var format: CharacteristicFormat
    public var unit: CharacteristicUnit?
    public var limits: CharacteristicLimits
    /// For people, of characteristics that Apple does not know.
    public var name: String?

    public init(
        _ instance: UInt64, _ type: AccessoryType, _ permissions: Set<CharacteristicPermission>,
        _ format: CharacteristicFormat, unit: CharacteristicUnit? = nil, limits: CharacteristicLimits = .none,
        name: String? = nil
    ) {
        (self.instance, self.type, self.permissions, self.format) = (instance, type, permissions, format)
        (self.unit, self.limits, self.name) = (unit, limits, name)
    }

    /// A press is told at once, each for itself, and cannot be read (HAP 9.75).
    public var isPress: Bool { type == .programmableSwitchEvent }

    /// The value that a controller wrote, in the characteristic's format; nil where the characteristic cannot have it.
    func written(_ value: CharacteristicValue) -> CharacteristicValue? {
        switch (format, value) {
        case (.boolean, .boolean): return value
        // Controllers write 0 and 1, too.
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

    /// The value that the accessory itself told; numbers outside are moved to the nearest that is possible, since controllers refuse the whole
    /// accessory otherwise. nil where it is of another format.
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
            for character in text where short.utf8.count + character.utf8.count <= longest { short.append(character) }
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

/// Characteristics that belong together (HAP 6.6.2).
public struct AccessoryService: Hashable, Sendable {
    public var instance: UInt64
    public var type: AccessoryType
    public var characteristics: [Characteristic]
    public var isPrimary: Bool
    public var isHidden: Bool
    /// Instance ids of services that belong to this one.
    public var linked: [UInt64]

    public init(
        _ instance: UInt64, _ type: AccessoryType, _ characteristics: [Characteristic], isPrimary: Bool = false,
        isHidden: Bool = false, linked: [UInt64] = []
    ) {
        (self.instance, self.type, self.characteristics) = (instance, type, characteristics)
        (self.isPrimary, self.isHidden, self.linked) = (isPrimary, isHidden, linked)
    }
}

/// One device (HAP 6.6.1); the first of a bridge has the id 1.
public struct Accessory: Hashable, Sendable {
    public var id: UInt64
    public var services: [AccessoryService]

    public init(_ id: UInt64, _ services: [AccessoryService]) { (self.id, self.services) = (id, services) }
}

/// Why accessories are not as HAP has them (HAP 2.6.1): ids are not zero, and different from each other.
public enum AccessoryMistake: Error, Hashable, Sendable, CustomStringConvertible {
    case tooMany(Int)
    case invalidAccessoryID(UInt64)
    case invalidInstance(CharacteristicKey)

    public var description: String {
        switch self {
        case .tooMany(let count): "\(count) characteristics: an accessory server has at most \(AccessoryTable.limit)"
        case .invalidAccessoryID(let id): "accessory id \(id) is zero or comes twice"
        case .invalidInstance(let key):
            "instance id \(key.instance) of accessory \(key.accessory) is zero or comes twice"
        }
    }
}
