import DNSWire

/// Reads messages, one a line in hexadecimal digits, and says of each what it holds, for comparison with another decoder: a line
/// `ID FLAGS`, then each question as ` NAME/TYPE/CLASS` and each record as ` SECTION:NAME/TYPE/CLASS/TTL/DATA`; numbers and
/// bytes in hexadecimal digits, names and data uncompressed, classes as on the wire. Or `malformed` and why.
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
