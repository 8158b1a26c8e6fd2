/// The identity of a driven line in the service manager. It contains all properties that must still apply when the
/// service manager returns the line.
struct KeptLine: Hashable {
    static let prefix = "line."

    var key: LineKey
    var isActiveLow: Bool
    /// The consumer name in the kernel.
    var consumer: String

    /// The name: printable ASCII without a colon, as required for descriptors.
    var name: String {
        let part = consumer.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
        return "\(Self.prefix)\(key.chip).\(key.offset).\(isActiveLow ? "low" : "high").\(String(part))"
    }

    /// Returns true if the name is for the same line, even with different properties.
    func isSameLine(as name: String) -> Bool { name.hasPrefix("\(Self.prefix)\(key.chip).\(key.offset).") }

    /// Returns true if the line in the kernel has the properties that the name states. After a chip was removed,
    /// another chip may have its name.
    func matches(_ line: LineCatalogue.Line) -> Bool {
        line.isUsed && line.isOutput && line.isActiveLow == isActiveLow && line.consumer == consumer
    }
}
