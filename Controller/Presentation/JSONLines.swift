import Foundation

/// One JSON object a line, keys in alphabetical order, so that two runs can be compared.
public func jsonLine(_ record: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(record) else {
        preconditionFailure("records hold only text and finite numbers")
    }
    return String(decoding: data, as: UTF8.self)
}
