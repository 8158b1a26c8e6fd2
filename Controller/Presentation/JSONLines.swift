import Foundation

/// Returns one JSON object on one line. The keys are in alphabetical order, so that two runs can be compared.
///
/// The characters U+007F to U+009F (DEL and the C1 controls) are escaped: JSON allows them, but a terminal may
/// interpret them as commands. The line separators U+2028 and U+2029 are escaped as well.
public func jsonLine(_ record: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(record) else {
        preconditionFailure("records hold only text and finite numbers")
    }
    let line = String(decoding: data, as: UTF8.self)
    guard line.unicodeScalars.contains(where: isCommand) else { return line }
    // Outside of strings JSON is ASCII, so such a character is always within a string and can be escaped.
    return line.unicodeScalars.reduce(into: "") { text, scalar in
        if isCommand(scalar) {
            text +=
                "\\u" + String(repeating: "0", count: scalar.value < 0x100 ? 2 : 0) + String(scalar.value, radix: 16)
        } else {
            text.unicodeScalars.append(scalar)
        }
    }
}

private func isCommand(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x7F...0x9F, 0x2028...0x2029: true
    case _: false
    }
}
