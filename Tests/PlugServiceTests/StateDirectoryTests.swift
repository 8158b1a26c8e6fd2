import Appliance
import DurableFiles
import PlugProtocol
import Testing

@testable import PlugService

@Suite struct StateDirectoryTests {
    private let temporary = TemporaryDirectory()
    private let boot = BootID(bytes: (0..<16).map { UInt8($0) * 16 })!

    private func open() throws -> StateDirectory {
        var random = SystemRandomNumberGenerator()
        return try StateDirectory(temporary.path, random: &random)
    }

    @Test func theIdIsDrawnOnceAndKept() throws {
        var ids: Set<PlugID> = []
        for _ in 0..<3 { ids.insert(try open().id) }
        #expect(ids.count == 1)
        #expect(temporary.text("id") == "\(ids.first!)\n")
    }

    @Test func aNewPlugBeginsAtOneAndHasNoState() throws {
        let directory = try open()
        #expect(try directory.nextSequence() == 1)
        #expect(try directory.storedState() == nil)
    }

    @Test func whatIsWrittenIsRead() throws {
        let directory = try open()
        for state in [
            StoredState(relayOn: true, level: DimLevel(percent: 12.5), milliwattHours: .max), StoredState(),
        ] {
            try directory.write(state, boot: boot)
            let (read, readBoot) = try #require(try directory.storedState())
            #expect(read == state && readBoot == boot)
        }
        try directory.write(nextSequence: 4711)
        #expect(try directory.nextSequence() == 4711)
        #expect(temporary.text("state") == "off 1000 0 00102030405060708090a0b0c0d0e0f0\n")
    }

    @Test func aSecondOwnerIsRefusedUntilTheFirstHasGone() throws {
        var first: StateDirectory? = try open()
        let error = #expect(throws: FileError.self) { try open() }
        #expect(error.map { "\($0)" }?.hasPrefix("\(temporary.path) is in use by process ") == true)
        #expect(error?.hint?.hasPrefix("stop process ") == true)
        #expect(first != nil)
        first = nil
        _ = try open()
    }

    @Test(arguments: ["", "0123456789a", "0123456789AB", "../../etc/ab", "0123456789ab cd", "\u{0}"])
    func aDamagedIdIsNamed(text: String) throws {
        try temporary.write(text, to: "id")
        #expect(
            message { _ = try open() } == """
                \(temporary.path)/id is damaged: expected twelve lower-case hexadecimal digits
                hint: move the file away; the plug starts without what it held
                """)
    }

    @Test(arguments: ["", "0", "-1", "1.5", "x", "18446744073709551615", "9223372036854775808", "99999999999999999999"])
    func aDamagedSequenceIsNamed(text: String) throws {
        try temporary.write(text, to: "sequence")
        let directory = try open()
        #expect(
            message { _ = try directory.nextSequence() } == """
                \(temporary.path)/sequence is damaged: expected a whole number from 1 to 9223372036854775807
                hint: move the file away; the plug starts without what it held
                """)
    }

    @Test(
        arguments: [
            "", "on", "maybe 1000 0 00102030405060708090a0b0c0d0e0f0", "on 1001 0 00102030405060708090a0b0c0d0e0f0",
            "on 1000 -1 00102030405060708090a0b0c0d0e0f0", "on 1000 0 00102030405060708090a0b0c0d0e0f",
            "on 1000 0 0010203040506070809ga0b0c0d0e0f0", "on 1000 0 00102030405060708090a0b0c0d0e0f0 more",
        ])
    func aDamagedStateIsNamed(text: String) throws {
        try temporary.write(text, to: "state")
        let directory = try open()
        #expect(
            message { _ = try directory.storedState() } == """
                \(temporary.path)/state is damaged: expected relay (on or off), level, milliwatt-hours and boot id
                hint: move the file away; the plug starts without what it held
                """)
    }

    @Test func aFileThatIsMuchTooLargeIsNotRead() throws {
        try temporary.write(String(repeating: "1", count: 5000), to: "sequence")
        let directory = try open()
        #expect(message { _ = try directory.nextSequence() }?.contains("larger than 4096 bytes") == true)
    }

    private func message(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return "\(error)"
        }
    }
}
