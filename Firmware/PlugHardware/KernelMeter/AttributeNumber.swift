/// A number in a kernel attribute file, multiplied by its unit.
struct AttributeNumber: Sendable {
    let file: any AttributeFile
    /// The factor from the file's number to SI units.
    let unit: Double

    /// - Throws: ``KernelFault/file(_:)`` if the file cannot be read, ``KernelFault/impossible(_:)`` if its text is not
    ///   a number.
    func value() throws(KernelFault) -> Double {
        let text: String
        do { text = try file.read() } catch { throw .file(error) }
        // A kernel number has at most 20 digits, a point and a sign.
        guard text.utf8.count <= 32, let number = Double(text), number.isFinite else {
            throw .impossible("\"\(text.prefix(32))\" is not a number")
        }
        return number * unit
    }
}

/// The reason why a kernel value cannot be read.
enum KernelFault: Error {
    case file(HardwareFault)
    case impossible(String)
}
