import CLinuxNetwork
package import DNSWire

/// The kernel's filter of a sleep proxy's packet socket, in classic BPF (bpf(4)). Frames that do not concern a sleeping
/// host stay in the kernel.
///
/// The program accepts frames that the given network cards sent, ARP packets and neighbour discovery about the given IP
/// addresses, and TCP SYNs and UDP datagrams to these addresses. It compares only the last 32 bits of a hardware
/// address or an IPv6 address, so a few more frames may pass.
package struct CaptureProgram: Hashable, Sendable {
    /// The frames to receive.
    package struct Selection: Hashable, Sendable {
        /// The addresses of sleeping hosts.
        package var addresses: Set<IPAddress>
        /// The hardware addresses of sleeping hosts: six bytes each.
        package var cards: Set<[UInt8]>

        /// Creates a selection.
        package init(addresses: Set<IPAddress>, cards: Set<[UInt8]>) {
            self.addresses = addresses
            self.cards = cards
        }

        /// True if no frame is selected.
        package var isEmpty: Bool { addresses.isEmpty && cards.isEmpty }
    }

    struct Instruction: Hashable {
        var code: UInt16
        /// The number of instructions to skip if the comparison is true or false.
        var whenTrue: UInt8 = 0
        var whenFalse: UInt8 = 0
        var value: UInt32
    }

    /// The maximum number of instructions that the kernel accepts (BPF_MAXINSNS).
    static let limit = 4096

    private(set) var instructions: [Instruction] = []

    /// Compiles the filter of an interface's socket. If it would exceed the kernel's limit, the program accepts frames
    /// about all addresses.
    package init(_ selection: Selection, interface: Int32) {
        append(selection, interface: interface)
        guard instructions.count > Self.limit else { return }
        instructions = []
        append(nil, interface: interface)
    }

    /// Calls the function with the instructions as C structures.
    func withInstructions<Result>(
        _ body: (UnsafePointer<clinuxnetwork_instruction>?, UInt16) -> Result
    ) -> Result {
        let converted = instructions.map {
            clinuxnetwork_instruction(
                code: $0.code, when_true: $0.whenTrue, when_false: $0.whenFalse, value: $0.value)
        }
        return converted.withUnsafeBufferPointer { body($0.baseAddress, UInt16(clamping: $0.count)) }
    }

    private enum Code {
        static let loadWord: UInt16 = 0x20  // BPF_LD | BPF_W | BPF_ABS
        static let loadHalf: UInt16 = 0x28  // BPF_LD | BPF_H | BPF_ABS
        static let loadByte: UInt16 = 0x30  // BPF_LD | BPF_B | BPF_ABS
        static let loadByteAtX: UInt16 = 0x50  // BPF_LD | BPF_B | BPF_IND
        static let headerLengthToX: UInt16 = 0xB1  // BPF_LDX | BPF_B | BPF_MSH
        static let and: UInt16 = 0x54  // BPF_ALU | BPF_AND | BPF_K
        static let jump: UInt16 = 0x05  // BPF_JMP | BPF_JA
        static let jumpIfEqual: UInt16 = 0x15  // BPF_JMP | BPF_JEQ | BPF_K
        static let jumpIfAtLeast: UInt16 = 0x35  // BPF_JMP | BPF_JGE | BPF_K
        static let jumpIfAnySet: UInt16 = 0x45  // BPF_JMP | BPF_JSET | BPF_K
        static let end: UInt16 = 0x06  // BPF_RET | BPF_K
        /// SKF_AD_OFF: the offset of a packet's metadata.
        static let metadata: UInt32 = 0xFFFF_F000
        /// SKF_AD_PKTTYPE and SKF_AD_IFINDEX.
        static let packetType = metadata + 4, interface = metadata + 8
    }

    private enum Offset {
        static let source: UInt32 = 6, type: UInt32 = 12, payload: UInt32 = 14
        static let arpSender = payload + 14, arpTarget = payload + 24
        static let ipv4Fragment = payload + 6, ipv4Protocol = payload + 9, ipv4Destination = payload + 16
        static let ipv6Protocol = payload + 6, ipv6Destination = payload + 24, ipv6Transport = payload + 40
        static let neighbourTarget = ipv6Transport + 8
        static let tcpFlags: UInt32 = 13
        /// The last 32 bits of an IPv6 address.
        static let ipv6Last: UInt32 = 12
    }

    /// Bits of TCP's flags: SYN only, and SYN together with ACK.
    private static let tcpSyn: UInt32 = 0x02, tcpSynAck: UInt32 = 0x12
    private static let tcp: UInt32 = 6, udp: UInt32 = 17, icmpv6: UInt32 = 58
    private static let neighbourSolicitation: UInt32 = 135, neighbourAdvertisement: UInt32 = 136

    private mutating func append(_ selection: Selection?, interface: Int32) {
        let cards = selection?.cards.map { Self.word($0.suffix(4)) }.sorted()
        let v4 = selection?.addresses.filter { $0.family == .v4 }.map { Self.word($0.bytes[...]) }.sorted()
        let v6 = selection?.addresses.filter { $0.family == .v6 }.map { Self.word($0.bytes.suffix(4)) }.sorted()

        // The program accepts only frames on this interface that other hosts sent to this host, to a group or to all
        // hosts. The packet types of these frames are below PACKET_OTHERHOST, which is 3.
        append(Code.loadWord, Code.packetType)
        rejectUnless(Code.jumpIfAtLeast, 3, isExpected: false)
        append(Code.loadWord, Code.interface)
        rejectUnless(Code.jumpIfEqual, UInt32(bitPattern: interface))
        if let cards {
            append(Code.loadWord, Offset.source + 2)
            accept(cards)
        }
        append(Code.loadHalf, Offset.type)
        branch(0x0806, to: Self.program { $0.appendARP(v4) })
        branch(0x0800, to: Self.program { $0.appendIPv4(v4) })
        branch(0x86DD, to: Self.program { $0.appendIPv6(v6) })
        append(Code.end, 0)
    }

    private mutating func appendARP(_ addresses: [UInt32]?) {
        for offset in [Offset.arpTarget, Offset.arpSender] {
            append(Code.loadWord, offset)
            accept(addresses)
        }
        append(Code.end, 0)
    }

    private mutating func appendIPv4(_ addresses: [UInt32]?) {
        // Later fragments have no transport header.
        append(Code.loadHalf, Offset.ipv4Fragment)
        rejectUnless(Code.jumpIfAnySet, 0x1FFF, isExpected: false)
        append(Code.loadByte, Offset.ipv4Protocol)
        let datagram = Self.program { datagram in
            datagram.append(Code.loadWord, Offset.ipv4Destination)
            datagram.accept(addresses)
            datagram.append(Code.end, 0)
        }
        branch(Self.udp, to: datagram)
        rejectUnless(Code.jumpIfEqual, Self.tcp)
        append(Code.headerLengthToX, Offset.payload)
        append(Code.loadByteAtX, Offset.payload + Offset.tcpFlags)
        appendIfSyn(datagram)
    }

    private mutating func appendIPv6(_ addresses: [UInt32]?) {
        append(Code.loadByte, Offset.ipv6Protocol)
        branch(
            Self.icmpv6,
            to: Self.program { neighbour in
                neighbour.append(Code.loadByte, Offset.ipv6Transport)
                neighbour.rejectUnless(Code.jumpIfAtLeast, Self.neighbourSolicitation)
                neighbour.rejectUnless(Code.jumpIfAtLeast, Self.neighbourAdvertisement + 1, isExpected: false)
                neighbour.append(Code.loadWord, Offset.neighbourTarget + Offset.ipv6Last)
                neighbour.accept(addresses)
                neighbour.append(Code.end, 0)
            })
        let datagram = Self.program { datagram in
            datagram.append(Code.loadWord, Offset.ipv6Destination + Offset.ipv6Last)
            datagram.accept(addresses)
            datagram.append(Code.end, 0)
        }
        branch(Self.udp, to: datagram)
        rejectUnless(Code.jumpIfEqual, Self.tcp)
        append(Code.loadByte, Offset.ipv6Transport + Offset.tcpFlags)
        appendIfSyn(datagram)
    }

    /// Continues with the program if the flags are those of the first segment of a connection.
    private mutating func appendIfSyn(_ program: [Instruction]) {
        append(Code.and, Self.tcpSynAck)
        rejectUnless(Code.jumpIfEqual, Self.tcpSyn)
        instructions += program
    }

    private mutating func append(_ code: UInt16, _ value: UInt32) {
        instructions.append(Instruction(code: code, value: value))
    }

    /// Rejects the frame and ends the program, unless the comparison has the expected result.
    private mutating func rejectUnless(_ comparison: UInt16, _ value: UInt32, isExpected: Bool = true) {
        instructions.append(
            Instruction(
                code: comparison, whenTrue: isExpected ? 1 : 0, whenFalse: isExpected ? 0 : 1, value: value))
        append(Code.end, 0)
    }

    /// Accepts the frame if the loaded value is one of `values`, or always if `values` is nil. The accepting
    /// instruction returns the number of bytes to deliver; 0xFFFF delivers the whole frame.
    private mutating func accept(_ values: [UInt32]?) {
        guard let values else { return append(Code.end, 0xFFFF) }
        for value in values {
            instructions.append(Instruction(code: Code.jumpIfEqual, whenTrue: 0, whenFalse: 1, value: value))
            append(Code.end, 0xFFFF)
        }
    }

    /// Runs `program` if the loaded value equals `value`. Each path of `program` must end with a return instruction.
    private mutating func branch(_ value: UInt32, to program: [Instruction]) {
        instructions.append(Instruction(code: Code.jumpIfEqual, whenTrue: 1, whenFalse: 0, value: value))
        append(Code.jump, UInt32(program.count))
        instructions += program
    }

    private static func program(_ append: (inout CaptureProgram) -> Void) -> [Instruction] {
        var program = CaptureProgram()
        append(&program)
        return program.instructions
    }

    private init() {}

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }
}
