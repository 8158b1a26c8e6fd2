import PlugProtocol
import ProtocolCore
import Testing

@testable import Automation

@Suite("The stored form of the rules' memory")
struct HouseMemoryFormatTests {
    private static let boots = [UInt8(1), 2].map { BootID(bytes: [UInt8](repeating: $0, count: 16))! }
    private static let then = HostMoment(boot: boots[0], instant: .at(100), nanosecondsSince1970: 5_000_000_000)

    private static func memory() -> HouseMemory {
        var memory = HouseMemory()
        var random = SeededRandom(seed: 1)
        for (name, cursor) in [("Hall", 7), ("Büro \"Lampe\"\n", nil), ("", SequenceNumber.max)] as [(_, UInt64?)] {
            memory.plugs.append(.init(id: PlugID(drawnFrom: &random), name: name, cursor: cursor))
        }
        memory.lastFired = ["By button": .at(99), "Movie night": .at(-3)]
        let commands: [PlugCommand] = [
            .setRelay(on: true, autoOff: nil), .setRelay(on: false, autoOff: .seconds(3)), .identify,
            .resetProtection,
            .setLevel(DimLevel(percent: 30), transition: .milliseconds(1500)),
        ]
        for (index, command) in commands.enumerated() {
            let request = CommandRequest(id: RequestID(drawnFrom: &random), plug: "Lamp", command: command)
            memory.commands.append(
                .init(
                    request: request, plug: PlugID(drawnFrom: &random), rule: "By button",
                    cause: "Hall: button pressed (single)", event: index == 0 ? nil : UInt64(index),
                    until: .at(105 + Double(index))))
        }
        return memory
    }

    private static let bytes = memory().encoded(at: then)

    private func read(boot: BootID = boots[0], at seconds: Double, wall: Int64) throws -> HouseMemory {
        let now = HostMoment(boot: boot, instant: .at(seconds), nanosecondsSince1970: wall * 1_000_000_000)
        return try HouseMemory(decoding: Self.bytes, at: now)
    }

    @Test("In the same boot it is read as it was written, whatever the wall clock says")
    func same() throws {
        #expect(try read(at: 102, wall: 5) == Self.memory())
        #expect(try read(at: 102, wall: 0) == Self.memory())
    }

    @Test(
        "In another boot times move by the wall clock; where that stands before the writing, no command is worth sending"
    )
    func anotherBoot() throws {
        // Written at 100 s; 3 s have passed, and this boot's clock stands at 1 s.
        let later = try read(boot: Self.boots[1], at: 1, wall: 8)
        #expect(later.lastFired == ["By button": .at(-3), "Movie night": .at(-105)])
        #expect(later.commands.map(\.until) == [.at(3), .at(4), .at(5), .at(6), .at(7)])
        #expect(later.plugs == Self.memory().plugs)
        let unknown = try read(boot: Self.boots[1], at: 1, wall: 4)
        #expect(unknown.lastFired == ["By button": .at(1), "Movie night": .at(1)])
        #expect(unknown.commands.allSatisfy { $0.until == .at(1) })
    }

    @Test("A command is never worth more time than a new one, nor a rule fired in the future")
    func clamped() throws {
        let early = try read(at: 90, wall: 5)
        #expect(early.commands.allSatisfy { $0.until == .at(90) } && early.lastFired["By button"] == .at(90))
        var memory = Self.memory()
        memory.commands[0].until = .at(1000)
        memory.lastFired = ["By button": .at(1000)]
        let read = try HouseMemory(decoding: memory.encoded(at: Self.then), at: Self.then)
        #expect(read.commands[0].until == .at(110) && read.lastFired["By button"] == .at(100))
    }

    @Test("A full memory is below the limit of the file")
    func size() throws {
        var memory = HouseMemory()
        var random = SeededRandom(seed: 2)
        let name = String(repeating: "n", count: 63)
        for number in 0..<HouseMemory.maximumPlugs {
            memory.plugs.append(.init(id: PlugID(drawnFrom: &random), name: name, cursor: UInt64(number)))
        }
        for number in 0..<5000 {
            memory.lastFired["\(number)" + String(repeating: "r", count: 300)] = .at(Double(number))
        }
        var command = Self.memory().commands[0]
        command.cause = String(repeating: "ü", count: 1000)
        memory.commands = Array(repeating: command, count: HouseMemory.maximumCommands)
        let bytes = memory.encoded(at: Self.then)
        #expect(bytes.count < HouseMemory.sizeLimit)
        let read = try HouseMemory(decoding: bytes, at: Self.then)
        #expect(read.plugs == memory.plugs && read.lastFired.count == HouseMemory.maximumCooldowns)
        #expect(read.commands[1023].cause == String(repeating: "ü", count: 127))
    }

    @Test("Every byte that is cut off, added or changed is noticed")
    func damage() {
        func fault(_ bytes: [UInt8]) -> MemoryFault? {
            do {
                _ = try HouseMemory(decoding: bytes, at: Self.then)
                return nil
            } catch {
                return error
            }
        }
        for count in Self.bytes.indices { #expect(fault(Array(Self.bytes[..<count])) != nil, "\(count) bytes") }
        #expect(fault(Self.bytes + [0])?.reason == .checksum)
        for index in Self.bytes.indices {
            var bytes = Self.bytes
            bytes[index] ^= 0x20
            #expect(fault(bytes) != nil, "byte \(index)")
        }
    }
}
