import ConfigurationFiles

/// The location of one line of the board, and its active level.
public struct LineConfiguration: Hashable, Sendable {
    /// The location of a line.
    public enum Place: Hashable, Sendable, CustomStringConvertible {
        /// The name in the kernel's device tree: "GPIO17".
        case named(String)
        /// - Parameter chip: the chip's device, such as /dev/gpiochip0.
        case numbered(chip: String, offset: Int)

        /// The location for messages.
        public var description: String {
            switch self {
            case .named(let name): "line \(name)"
            case .numbered(let chip, let offset): "line \(offset) of \(chip)"
            }
        }
    }

    /// The location of the line.
    public var place: Place
    /// True if the line is active at a low level.
    public var isActiveLow: Bool

    /// Creates a line.
    public init(_ place: Place, isActiveLow: Bool = false) {
        self.place = place
        self.isActiveLow = isActiveLow
    }
}

extension ConfigurationReader.Table {
    /// The offsets on one chip; the kernel supports no higher ones.
    private static let offsets = 0...1023

    /// Reads `line`, or `chip` and `offset`. Reports an error if both are missing.
    ///
    /// - Parameters:
    ///   - prefix: the prefix of the keys `line` and `offset` for a part with two lines; `chip` and `active_low` apply
    ///     to both lines.
    ///   - isWanted: true to report a missing line.
    func line(
        _ prefix: String = "", chip: String?, isActiveLow: Bool, isWanted: Bool = true
    ) -> LineConfiguration? {
        let (nameKey, offsetKey) = (prefix + "line", prefix + "offset")
        let name = text(nameKey, "a line's name")
        let offset = integer(offsetKey, Self.offsets)
        switch (name, offset) {
        case (let name?, nil):
            if has(offsetKey) { return nil }
            return used(LineConfiguration(.named(name), isActiveLow: isActiveLow), nameKey)
        case (nil, let offset?):
            if has(nameKey) { return nil }
            guard let chip else {
                if !has("chip") { wrong(.missing("the device of the GPIO chip to which \(offsetKey) refers"), "chip") }
                return nil
            }
            let place = LineConfiguration.Place.numbered(chip: chip, offset: offset)
            return used(LineConfiguration(place, isActiveLow: isActiveLow), offsetKey)
        case (.some, .some):
            wrong(.needless("\(nameKey) already selects the line: remove one of the two keys"), offsetKey)
            return nil
        case (nil, nil):
            if isWanted, !has(nameKey), !has(offsetKey) {
                wrong(.missing("the line: its name, or chip and \(offsetKey)"), nameKey)
            }
            return nil
        }
    }

    /// Reads the device of a GPIO chip; gpiochip0 means /dev/gpiochip0.
    func chip() -> String? {
        text("chip", "a GPIO chip's device such as /dev/gpiochip0").map { $0.hasPrefix("/") ? $0 : "/dev/" + $0 }
    }

    private func used(_ line: LineConfiguration, _ key: String) -> LineConfiguration {
        reader.use(line.place, "line", by: name, key)
        return line
    }
}
