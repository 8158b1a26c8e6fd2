import LinuxSystem
import PlugModel
import PlugProtocol
import Synchronization
import TestSupport
import Testing

@testable import PlugClient

@Suite struct CursorMemoryTests {
    private let folder = TestFolder()
    private var directory: String { folder.path + "/controller" }
    private let other = PlugID(rawValue: "ffffffffffff")!

    private func report(_ update: PlugUpdate, of plug: String = "Lamp") -> PlugReport {
        PlugReport(plug: plug, at: WallTime.now, update: update)
    }

    private func event(_ sequence: SequenceNumber) -> PlugUpdate {
        .event(PlugEvent(sequence: sequence, boot: boot, time: .zero, kind: .buttonPressed(.single)), age: .zero)
    }

    private func welcome(_ id: PlugID) -> PlugUpdate {
        var bench = FollowedBench()
        var identity = lamp
        identity.id = id
        bench.server = PlugServer(
            identity: identity, access: .knowing(), journal: EventJournal(), state: PlugState(relayOn: false))
        bench.locateAndConnect()
        return bench.updates[0]
    }

    private func memory() throws -> CursorMemory { try CursorMemory(directory) { Issue.record("\($0)") } }

    @Test("The stored event numbers of all plugs are read when the directory is opened again")
    func whatWasShownIsKnownTheNextTime() async throws {
        let memory = try memory()
        #expect(await memory.known.isEmpty)
        for update in [welcome(lamp.id), event(4), event(5)] { await memory.took(report(update)) }
        for update in [welcome(other), .following(after: 0)] { await memory.took(report(update, of: "Kettle")) }
        await memory.finish()
        #expect(try await self.memory().known == [lamp.id: 5, other: 0])
        #expect(try FileStore().read(directory + "/cursors", limit: 1000).count == 17 - 2 + 15)
    }

    @Test("After a gap, the last number of the gap is stored for the plug")
    func aGapIsShownUpToItsEndAndABeginningBeforeAnything() async throws {
        let memory = try memory()
        for update in [welcome(lamp.id), .following(after: 3), .gap(Gap(from: 4, to: 99, reason: .powerLost))] {
            await memory.took(report(update))
        }
        await memory.finish()
        #expect(try await self.memory().known == [lamp.id: 99])
    }

    @Test("Programs that share the directory keep each other's event numbers")
    func programsThatShareItKeepWhatTheOthersSaw() async throws {
        let (first, second) = (try memory(), try memory())
        for update in [welcome(lamp.id), event(4)] { await first.took(report(update)) }
        for update in [welcome(other), event(7)] { await second.took(report(update, of: "Kettle")) }
        await first.finish()
        await second.finish()
        #expect(try await memory().known == [lamp.id: 4, other: 7])
    }

    @Test("The last numbers are written after another program has released the lock")
    func theLastNumbersWaitForTheLock() async throws {
        let memory = try memory()
        let lock = Mutex<DirectoryLock?>(try DirectoryLock(directory))
        for update in [welcome(lamp.id), event(4)] { await memory.took(report(update)) }
        async let end: Void = memory.finish()
        try await Task.sleep(for: .milliseconds(150))
        lock.withLock { $0 = nil }
        await end
        #expect(try await self.memory().known == [lamp.id: 4])
    }

    @Test("Repeated write failures are reported once") func aDiskThatRefusesIsComplainedOfOnce() async throws {
        let complaints = Mutex<[FileError]>([])
        let memory = try CursorMemory(directory) { error in complaints.withLock { $0.append(error) } }
        // A directory has the name of the file. The write then fails even for root, which ignores permissions.
        try FileStore().makeDirectories(directory + "/cursors/x")
        await memory.took(report(welcome(lamp.id)))
        for sequence in 1...3 as ClosedRange<SequenceNumber> {
            await memory.took(report(event(sequence)))
            await memory.finish()
        }
        #expect(complaints.withLock { $0.count } == 1)
    }

    @Test("A directory that cannot be created is an error") func aDirectoryThatCannotBeMadeIsAnError() throws {
        try FileStore().replace(directory, with: [1])
        #expect(throws: FileError.self) { try memory() }
    }

    @Test("Above the limit, the plug that was updated longest ago is removed first")
    func theOneNotHeardOfForLongestIsForgottenFirst() {
        var list = CursorList([])
        func plug(_ number: Int) -> PlugID {
            let digits = String(number, radix: 16)
            return PlugID(rawValue: String(repeating: "0", count: 12 - digits.count) + digits)!
        }
        for number in 0..<CursorList.limit { list.set(1, of: plug(number)) }
        list.set(2, of: plug(0))
        list.set(1, of: plug(5000))
        #expect(list.numbers.count == CursorList.limit)
        #expect(list.numbers[plug(0)] == 2 && list.numbers[plug(1)] == nil && list.numbers[plug(5000)] == 1)
        #expect(list.bytes.count < CursorList.byteLimit)
    }

    @Test("The valid lines of a damaged file are read") func fuzzedFilesAreReadAsFarAsTheyMakeSense() {
        var random = Fuzzing.random(31)
        var list = CursorList([])
        list.set(12, of: lamp.id)
        list.set(9_223_372_036_854_775_807, of: other)
        let valid = list.bytes
        #expect(CursorList(valid).numbers == list.numbers)
        for _ in FuzzRounds(2000) {
            var bytes = valid
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            let read = CursorList(bytes)
            #expect(read.numbers.count <= 3)
            #expect(CursorList(read.bytes).numbers == read.numbers)
        }
    }
}
