/// A number that the kernel shows in an attribute file, times what it counts in.
struct AttributeNumber: Sendable {
    let file: any AttributeFile
    /// The file's number times this is in SI units.
    let unit: Double

    /// - Throws: ``MeterFault/impossible(_:)`` for what is no number.
    func value() throws(KernelFault) -> Double {
        let text: String
        do { text = try file.read() } catch { throw .file(error) }
        // A kernel's number has at most 20 digits, a point and a sign; a longer text is none.
        guard text.utf8.count <= 32, let number = Double(text), number.isFinite else {
            throw .impossible("\"\(text.prefix(32))\" is no number")
        }
        return number * unit
    }
}

/// What keeps a value of the kernel from being read.
enum KernelFault: Error {
    case file(HardwareFault)
    case impossible(String)
}
