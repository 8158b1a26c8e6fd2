/// What a service manager knows a driven line by. It has all that must still be true of the line when it comes back.
struct KeptLine: Hashable {
    static let prefix = "line."

    var key: LineKey
    var isActiveLow: Bool
    /// The consumer that the kernel was told.
    var consumer: String

    /// Printable ASCII without a colon, which is what a name of a descriptor may have.
    var name: String {
        let part = consumer.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
        return "\(Self.prefix)\(key.chip).\(key.offset).\(isActiveLow ? "low" : "high").\(String(part))"
    }

    /// Whether a kept line's name tells of the same line, however it was driven.
    func isSameLine(as name: String) -> Bool { name.hasPrefix("\(Self.prefix)\(key.chip).\(key.offset).") }

    /// Whether the line is what its name says. A chip that went and came back may have another one's name.
    func matches(_ line: LineCatalogue.Line) -> Bool {
        line.isUsed && line.isOutput && line.isActiveLow == isActiveLow && line.consumer == consumer
    }
}
