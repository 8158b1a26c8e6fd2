import DNSWire

/// Decodes messages from standard input, one per line in hexadecimal digits, and prints each for comparison with
/// another decoder: `ID FLAGS`, then for each question a space and `NAME/TYPE/CLASS`, and for each record a space and
/// `SECTION:NAME/TYPE/CLASS/TTL/DATA`. Numbers and bytes are in hexadecimal digits. Names and data are uncompressed.
/// The class includes the top bit of the packet's class field (unicast question or cache flush). A message that cannot
/// be decoded is printed as `malformed` with the reason.
@main
enum DecodeMessages {
    static func main() {
        while let line = readLine() {
            do {
                print(description(try Message(decoding: bytes(line))))
            } catch {
                print("malformed: \(error)")
            }
        }
    }

    private static func bytes(_ line: String) -> [UInt8] {
        let digits = line.compactMap { $0.hexDigitValue.map(UInt8.init) }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private static func description(_ message: Message) -> String {
        let questions = message.questions.map { question in
            let classBits = question.recordClass.rawValue | (question.wantsUnicast ? 0x8000 : 0)
            return "\(hex(question.name.bytes))/\(hex(question.type.rawValue))/\(hex(classBits))"
        }
        let sections = [("an", message.answers), ("ns", message.authorities), ("ar", message.additionals)]
        let records = sections.flatMap { section, records in
            records.map { record in
                let classBits = record.recordClass.rawValue | (record.isCacheFlush ? 0x8000 : 0)
                return "\(section):\(hex(record.name.bytes))/\(hex(record.type.rawValue))/\(hex(classBits))/"
                    + "\(hex(record.timeToLive))/\(hex(record.data.uncompressedBytes))"
            }
        }
        return (["\(hex(message.id))", "\(hex(message.flags.rawValue))"] + questions + records).joined(separator: " ")
    }

    private static func hex(_ value: some BinaryInteger) -> String { String(value, radix: 16) }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
