import PlugModel

/// The text format of the list of paired plugs. Each line has the plug's id, its key in hexadecimal digits and its
/// name, separated by spaces. If the plug has announced a next key, that key follows the current key after a comma. A
/// name may contain spaces; a newline in a name is written as a space.
///
/// The text is parsed as bytes, because some characters combine with a preceding space.
package enum PairedPlugsText {
    /// A line without a valid plug, counted from 1.
    package struct DamagedLine: Error, Hashable { package let number: Int }

    private static let space = UInt8(ascii: " ")
    private static let comma = UInt8(ascii: ",")
    private static let newline = UInt8(ascii: "\n")
    private static let digits = Array("0123456789abcdef".utf8)

    /// Returns the file's bytes.
    package static func bytes(of plugs: [PairedPlugs.Entry]) -> [UInt8] {
        plugs.flatMap { plug -> [UInt8] in
            let keys = [plug.key, plug.nextKey].compactMap(\.self).map { key in
                key.bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
            }
            let key = Array(keys.joined(separator: [comma]))
            let name = plug.name.utf8.map { $0 == newline ? space : $0 }
            return Array(plug.id.rawValue.utf8) + [space] + key + [space] + name + [newline]
        }
    }

    /// Parses the file. Empty lines are skipped.
    package static func parse(_ bytes: [UInt8]) throws(DamagedLine) -> [PairedPlugs.Entry] {
        var plugs: [PairedPlugs.Entry] = []
        for (index, line) in bytes.split(separator: newline, omittingEmptySubsequences: false).enumerated()
        where !line.isEmpty {
            guard let plug = entry(line) else { throw DamagedLine(number: index + 1) }
            plugs.append(plug)
        }
        return plugs
    }

    private static func entry(_ line: ArraySlice<UInt8>) -> PairedPlugs.Entry? {
        let words = line.split(separator: space, maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count == 3, let id = PlugID(rawValue: String(decoding: words[0], as: UTF8.self)),
            let name = String(validating: words[2], as: UTF8.self)
        else { return nil }
        let keys = words[1].split(separator: comma, omittingEmptySubsequences: false).map(key)
        guard (1...2).contains(keys.count), let own = keys[0], let last = keys[keys.count - 1] else { return nil }
        return PairedPlugs.Entry(id: id, key: own, nextKey: keys.count == 2 ? last : nil, name: name)
    }

    private static func key(_ text: ArraySlice<UInt8>) -> PublicKey? {
        let values = text.compactMap { digits.firstIndex(of: $0) }
        guard values.count == text.count, values.count.isMultiple(of: 2) else { return nil }
        return PublicKey(
            bytes: stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) })
    }
}
