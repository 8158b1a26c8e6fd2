import DNSWire
import Testing

@testable import LinuxNetwork

@Suite struct CaptureProgramTests {
    private static let card: [UInt8] = [2, 0, 0, 0xAA, 0xBB, 0xCC]
    private static let other: [UInt8] = [2, 0, 0, 1, 2, 3]
    private static let sleeper4 = IPAddress(bytes: [192, 168, 1, 9])!
    private static let awake4 = IPAddress(bytes: [192, 168, 1, 10])!
    private static let sleeper6 = IPAddress(bytes: [0xFE, 0x80] + Array(repeating: 0, count: 13) + [9])!
    private static let awake6 = IPAddress(bytes: [0xFE, 0x80] + Array(repeating: 0, count: 13) + [10])!
    private static let program = CaptureProgram(
        CaptureProgram.Selection(addresses: [sleeper4, sleeper6], cards: [card]), interface: 2)

    private static func frame(_ type: UInt16, from source: [UInt8] = other, _ payload: [UInt8]) -> [UInt8] {
        [2, 0, 0, 9, 9, 9] + source + [UInt8(type >> 8), UInt8(type & 0xFF)] + payload
    }

    private static func arp(sender: IPAddress, target: IPAddress) -> [UInt8] {
        frame(0x0806, [0, 1, 8, 0, 6, 4, 0, 1] + other + sender.bytes + other + target.bytes)
    }

    private static func ipv4(
        _ transport: UInt8, to target: IPAddress, fragment: UInt8 = 0, options: Int = 0, _ payload: [UInt8]
    ) -> [UInt8] {
        let header = [0x45 + UInt8(options), 0, 0, 0, 0, 0, 0, fragment, 64, transport, 0, 0, 10, 0, 0, 1]
        return frame(0x0800, header + target.bytes + Array(repeating: 0, count: options * 4) + payload)
    }

    private static func ipv6(_ transport: UInt8, to target: IPAddress, _ payload: [UInt8]) -> [UInt8] {
        frame(0x86DD, [0x60, 0, 0, 0, 0, 0, transport, 64] + awake6.bytes + target.bytes + payload)
    }

    private static func tcp(_ flags: UInt8) -> [UInt8] {
        [4, 0, 0, 80] + Array(repeating: 0, count: 9) + [flags] + Array(repeating: 0, count: 6)
    }

    private static func neighbour(_ type: UInt8, _ target: IPAddress) -> [UInt8] {
        ipv6(58, to: awake6, [type, 0, 0, 0, 0, 0, 0, 0] + target.bytes)
    }

    private static let datagram: [UInt8] = [4, 0, 2, 119, 0, 8, 0, 0]

    private static let accepted: [(String, [UInt8])] = [
        ("a frame of the card", frame(0x1234, from: card, [1])),
        ("ARP request for the address", arp(sender: awake4, target: sleeper4)),
        ("ARP announcement of the address", arp(sender: sleeper4, target: awake4)),
        ("SYN", ipv4(6, to: sleeper4, tcp(0x02))),
        ("SYN with options in the IPv4 header", ipv4(6, to: sleeper4, options: 2, tcp(0x02))),
        ("SYN with ECN flags", ipv4(6, to: sleeper4, tcp(0xC2))),
        ("datagram", ipv4(17, to: sleeper4, datagram)),
        ("IPv6 SYN", ipv6(6, to: sleeper6, tcp(0x02))),
        ("IPv6 datagram", ipv6(17, to: sleeper6, datagram)),
        ("solicitation", neighbour(135, sleeper6)), ("advertisement", neighbour(136, sleeper6)),
    ]

    private static let rejected: [(String, [UInt8])] = [
        ("another type", frame(0x1234, [1])),
        ("ARP about another address", arp(sender: awake4, target: awake4)),
        ("SYN and ACK", ipv4(6, to: sleeper4, tcp(0x12))), ("ACK", ipv4(6, to: sleeper4, tcp(0x10))),
        ("SYN to another address", ipv4(6, to: awake4, tcp(0x02))),
        ("datagram to another address", ipv4(17, to: awake4, datagram)),
        ("ping", ipv4(1, to: sleeper4, datagram)),
        ("a later fragment", ipv4(17, to: sleeper4, fragment: 1, datagram)),
        ("IPv6 ACK", ipv6(6, to: sleeper6, tcp(0x10))), ("IPv6 SYN to another address", ipv6(6, to: awake6, tcp(2))),
        ("IPv6 ping", ipv6(58, to: sleeper6, [128, 0, 0, 0] + Array(repeating: 0, count: 20))),
        ("router advertisement", neighbour(134, sleeper6)), ("redirect", neighbour(137, sleeper6)),
        ("solicitation of another address", neighbour(135, awake6)),
        ("a truncated ARP packet", frame(0x0806, [0, 1])), ("a truncated IPv4 packet", frame(0x0800, [0x45])),
    ]

    @Test("Frames about sleeping hosts pass, and all others stay in the kernel")
    func onlyFramesAboutSleepersPass() {
        for (name, frame) in Self.accepted { #expect(run(Self.program, frame) > 0, "\(name)") }
        for (name, frame) in Self.rejected { #expect(run(Self.program, frame) == 0, "\(name)") }
    }

    @Test("Frames that this host sent, frames for other hosts, and frames of other interfaces do not pass")
    func framesOfOthersStay() {
        let frame = Self.accepted[0].1
        for type: UInt32 in 0...2 { #expect(run(Self.program, frame, packetType: type) > 0) }
        for type: UInt32 in 3...4 { #expect(run(Self.program, frame, packetType: type) == 0) }
        #expect(run(Self.program, frame, interface: 3) == 0)
    }

    @Test("Without a selection no frame passes") func nothingIsSelected() {
        let program = CaptureProgram(CaptureProgram.Selection(addresses: [], cards: []), interface: 2)
        for (name, frame) in Self.accepted + Self.rejected { #expect(run(program, frame) == 0, "\(name)") }
    }

    @Test("If a program cannot compare all selected addresses, it passes the frames about every address")
    func aProgramHasALimit() {
        let many = (0..<2000).map { IPAddress(bytes: [10, 0, UInt8($0 >> 8), UInt8($0 & 0xFF)])! }
        let program = CaptureProgram(CaptureProgram.Selection(addresses: Set(many), cards: []), interface: 2)
        #expect(program.instructions.count <= CaptureProgram.limit)
        #expect(run(program, Self.ipv4(6, to: Self.awake4, Self.tcp(0x02))) > 0)
        #expect(run(program, Self.ipv4(6, to: Self.awake4, Self.tcp(0x10))) == 0)
    }

    /// Runs the program as the kernel does and returns the number of bytes to receive. A load outside of the frame ends
    /// the program with 0.
    private func run(
        _ program: CaptureProgram, _ frame: [UInt8], packetType: UInt32 = 0, interface: UInt32 = 2
    ) -> UInt32 {
        var (accumulator, index, next): (UInt32, UInt32, Int) = (0, 0, 0)
        func load(_ offset: UInt32, _ count: Int) -> UInt32? {
            guard Int(offset) + count <= frame.count else { return nil }
            return frame[Int(offset)..<(Int(offset) + count)].reduce(0) { $0 << 8 | UInt32($1) }
        }
        while true {
            let instruction = program.instructions[next]
            let value = instruction.value
            next += 1
            switch instruction.code {
            case 0x20 where value == 0xFFFF_F004: accumulator = packetType
            case 0x20 where value == 0xFFFF_F008: accumulator = interface
            case 0x20, 0x28, 0x30, 0x50:
                let count = [0x20: 4, 0x28: 2, 0x30: 1, 0x50: 1][instruction.code]!
                guard let loaded = load(value + (instruction.code == 0x50 ? index : 0), count) else { return 0 }
                accumulator = loaded
            case 0xB1:
                guard let loaded = load(value, 1) else { return 0 }
                index = (loaded & 0xF) * 4
            case 0x54: accumulator &= value
            case 0x05: next += Int(value)
            case 0x15, 0x35, 0x45:
                let isTrue =
                    switch instruction.code {
                    case 0x15: accumulator == value
                    case 0x35: accumulator >= value
                    default: accumulator & value != 0
                    }
                next += Int(isTrue ? instruction.whenTrue : instruction.whenFalse)
            case 0x06: return value
            default:
                Issue.record("unknown instruction \(instruction)")
                return 0
            }
        }
    }
}
