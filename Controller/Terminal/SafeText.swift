/// Returns untrusted text in printable form: removes control characters, and replaces line ends and tabs with spaces.
/// An escape sequence loses its escape character, and its harmless rest remains.
public func safeText(_ untrusted: String) -> String {
    guard untrusted.unicodeScalars.contains(where: { safeScalar($0) != $0 }) else { return untrusted }
    return String(String.UnicodeScalarView(untrusted.unicodeScalars.compactMap(safeScalar)))
}

private func safeScalar(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
    switch scalar.value {
    case 0x09...0x0D, 0x85, 0x2028, 0x2029: " "
    // The control characters of ASCII, and the C1 ones, which some terminals execute as well.
    case 0..<0x20, 0x7F..<0xA0: nil
    // Overrides of the writing direction would reverse the rest of the line.
    case 0x202A...0x202E, 0x2066...0x2069: nil
    default: scalar
    }
}
