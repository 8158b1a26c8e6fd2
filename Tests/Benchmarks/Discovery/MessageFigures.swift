import DNSWire
import LinuxSystem
import ProtocolCore

/// Measures decoding and encoding of one message against ldns with the same bytes.
func messageFigures(_ setting: Setting) throws -> [Figure] {
    let count = setting.times(20_000, few: 2000)
    let message = MeasuredMessage.response
    let bytes = try message.encoded()
    let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    var (decoding, encoding, theirDecoding, theirEncoding): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
    for _ in 0..<setting.rounds {
        decoding.append(try nanoseconds(count) { try Message(decoding: bytes).answers.count })
        encoding.append(try nanoseconds(count) { try message.encoded().count })
        let theirs = try ChildProcess.numbers(2, from: setting.references + "/ldns_message", [hex, "\(count)"])
        theirDecoding.append(theirs[0])
        theirEncoding.append(theirs[1])
    }
    return [("decode", decoding, theirDecoding), ("encode", encoding, theirEncoding)].map { verb, ours, theirs in
        Figure(
            "\(verb) a response of 10 records", ours.median, "ns",
            against: Figure.Reference(name: "ldns", value: theirs.median), .ratioAtMost(1))
    }
}

/// Returns the mean time of one call. The results are summed, so that the compiler cannot remove the calls.
private func nanoseconds(_ count: Int, _ work: () throws -> Int) rethrows -> Double {
    let began = BootClock.now
    var sum = 0
    for _ in 0..<count { sum &+= try work() }
    let time = BootClock.now - began
    precondition(sum > 0, "nothing was done")
    return Double(time.wholeNanoseconds) / Double(count)
}

/// The answer of a plug to a browse query with two subtypes, with all additional records.
private enum MeasuredMessage {
    private static let type: Name = "_smartplug._tcp.local"
    private static let instance: Name = "Living Room Lamp._smartplug._tcp.local"
    private static let host: Name = "plug-1a2b3c.local"

    static var response: Message {
        Message(
            flags: [.response, .authoritative],
            answers: [
                Record(name: type, timeToLive: 4500, data: .ptr(instance)),
                Record(name: "_dimmer._sub._smartplug._tcp.local", timeToLive: 4500, data: .ptr(instance)),
                Record(name: "_meter._sub._smartplug._tcp.local", timeToLive: 4500, data: .ptr(instance)),
            ],
            additionals: [
                unique(instance, .srv(priority: 0, weight: 0, port: 4711, target: host)),
                unique(instance, .txt(text(["txtvers=1", "id=1a2b3c4d5e6f", "pv=1", "pair=0", "caps=relay,dimmer"]))),
                unique(host, .a(IPv4Address(192, 168, 1, 20))),
                unique(host, .aaaa(IPv6Address(high: 0xFE80_0000_0000_0000, low: 0x1234_56FF_FE78_9ABC))),
                unique(host, .aaaa(IPv6Address(high: 0x2001_0DB8_0000_0001, low: 0x1234_56FF_FE78_9ABC))),
                unique(instance, .nsec(next: instance, types: [.txt, .srv])),
                unique(host, .nsec(next: host, types: [.a, .aaaa])),
            ])
    }

    private static func unique(_ name: Name, _ data: RecordData) -> Record {
        Record(name: name, isCacheFlush: true, timeToLive: 120, data: data)
    }

    private static func text(_ strings: [String]) -> [UInt8] {
        strings.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    }
}
