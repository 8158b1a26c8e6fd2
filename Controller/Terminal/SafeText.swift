/// A text from outside made safe to print: what would control the terminal is gone, line ends and tabs are spaces. An
/// escape sequence loses its escape and is left as the harmless characters that followed it.
public func safeText(_ untrusted: String) -> String {
    guard untrusted.unicodeScalars.contains(where: { safeScalar($0) != $0 }) else { return untrusted }
    return String(String.UnicodeScalarView(untrusted.unicodeScalars.compactMap(safeScalar)))
}

private func safeScalar(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
    switch scalar.value {
    case 0x09...0x0D, 0x85, 0x2028, 0x2029: " "
    // The control characters of ASCII, and those above it, which some terminals obey as well.
    case 0..<0x20, 0x7F..<0xA0: nil
    // Overrides of the writing direction would turn the rest of the line around.
    case 0x202A...0x202E, 0x2066...0x2069: nil
    default: scalar
    }
}
