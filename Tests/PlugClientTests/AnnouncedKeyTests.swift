import Glibc
import LinuxSystem
import NIOCore
import NIOPosix
import PlugModel
import PlugProtocol
import PlugTransport
import ProtocolCore
import Synchronization
import TestSupport
import Testing

@testable import PlugClient

private func key(_ number: Int) -> PublicKey { PublicKey(madeUp: UInt64(1000 + number)) }

/// The kernel's file calls with a delay of 200 ms for each synchronization. Counts the replaced files and the
/// synchronizations on event loops.
private final class SlowDisk: FileCalls {
    private let kernel = LinuxFileCalls()
    private let counts = Mutex((replaced: 0, onEventLoop: 0))

    var replaced: Int { counts.withLock { $0.replaced } }
    var onEventLoop: Int { counts.withLock { $0.onEventLoop } }

    func synchronize(_ descriptor: Int32) throws(SystemError) {
        if MultiThreadedEventLoopGroup.currentEventLoop != nil { counts.withLock { $0.onEventLoop += 1 } }
        usleep(200_000)
        try kernel.synchronize(descriptor)
    }
    func rename(_ path: String, to newPath: String) throws(SystemError) {
        counts.withLock { $0.replaced += 1 }
        try kernel.rename(path, to: newPath)
    }

    func open(_ path: String, _ purpose: OpenPurpose) throws(SystemError) -> Int32 { try kernel.open(path, purpose) }
    func close(_ descriptor: Int32) { kernel.close(descriptor) }
    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        try kernel.read(descriptor, into: buffer)
    }
    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        try kernel.write(descriptor, bytes)
    }
    func length(_ descriptor: Int32) throws(SystemError) -> Int { try kernel.length(descriptor) }
    func setMode(_ descriptor: Int32, to mode: UInt32) throws(SystemError) { try kernel.setMode(descriptor, to: mode) }
    func truncate(_ descriptor: Int32, to length: Int) throws(SystemError) {
        try kernel.truncate(descriptor, to: length)
    }
    func access(_ descriptor: Int32) throws(SystemError) -> FileAccess { try kernel.access(descriptor) }
    func link(_ path: String, to newPath: String) throws(SystemError) { try kernel.link(path, to: newPath) }
    func remove(_ path: String) throws(SystemError) { try kernel.remove(path) }
    func makeDirectory(_ path: String, mode: UInt32) throws(SystemError) { try kernel.makeDirectory(path, mode: mode) }
    func isDirectory(_ path: String) -> Bool { kernel.isDirectory(path) }
    func names(in directory: String) throws(SystemError) -> [String] { try kernel.names(in: directory) }
    func lock(_ descriptor: Int32) throws(SystemError) { try kernel.lock(descriptor) }
    func unlock(_ descriptor: Int32) { kernel.unlock(descriptor) }
}

/// A plug on a real connection that announces keys on request of the test.
private actor AnnouncingPlug: ConnectionOwner {
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }
    nonisolated let loop: any EventLoop
    /// Receives an element for each confirmation of the newest key.
    nonisolated let confirmations: AsyncStream<Void>
    private let confirming: AsyncStream<Void>.Continuation
    private var server = PlugServer(
        identity: lamp, access: .knowing(), journal: EventJournal(), state: PlugState(relayOn: false))
    private var connections: [ConnectionID: Connection] = [:]

    init(on loop: any EventLoop) {
        self.loop = loop
        (confirmations, confirming) = AsyncStream.makeStream(of: Void.self)
    }

    func opened(_ connection: Connection) {
        connection.markPaired()
        connections[connection.id] = connection
        handle(.shell(.opened(PlugServer.Opening(connection.id, peer: connection.peer))))
    }
    func received(_ bytes: [UInt8], on id: ConnectionID) { handle(.shell(.received(id, bytes))) }
    func writable(_ isWritable: Bool, on id: ConnectionID) { handle(.shell(.writable(id, isWritable))) }
    func closed(_ id: ConnectionID) { handle(.shell(.closed(id))) }

    func announce(_ keys: [PublicKey]) {
        for key in keys { handle(.shell(.nextKey(key))) }
    }

    private func handle(_ event: PlugServer.Event) {
        for action in server.handle(event, now: BootClock.now) {
            switch action {
            case .shell(.send(let id, let bytes)): connections[id]?.send(bytes)
            case .shell(.close(let id, _)): connections[id]?.close()
            case .perform(let request, _, _, _):
                handle(.commandOutcome(request, .done(PlugState(relayOn: true), event: nil)))
            case .keep: confirming.yield()
            case .shell, .fetch, .record, .factoryReset, .fetchAudit, .keepCode:
                break
            }
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct AnnouncedKeyFloodTests {
    @Test("A plug that announces many next keys causes at most four writes, none on the event loop")
    func flood() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let folder = TestFolder()
        let disk = SlowDisk()
        let paired = PairedPlugs(directory: folder.path, files: FileStore(calls: disk))
        try await paired.add(PairedPlugs.Entry(id: lamp.id, key: .plug, name: "Lamp"))
        let before = disk.replaced
        let plug = AnnouncingPlug(on: loop)
        let listener = try await Listener.start(
            on: loop, identity: TransportIdentity(), loopbackOnly: true, owner: plug)
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: Int(listener.port))
        let dialer = Dialer(identity: TransportIdentity())
        let machine = PlugFollower(controllerName: "Desk", cursor: .now, stateOptions: StateOptions(), seed: 1)
        let followed = FollowedPlug(name: "Lamp", machine: machine, eventLoop: loop) { followed in
            try await dialer.connect(to: [address], on: loop, owner: followed)
        }
        let writer = PairedPlugsWriter(paired)
        await followed.keepKeys(in: writer)
        await followed.locate()
        _ = try await followed.send(turnOn)

        await plug.announce(Array(repeating: key(0), count: 200))
        for await _ in plug.confirmations { break }
        _ = try await followed.send(turnOn)
        #expect(try paired.all().map(\.nextKey) == [key(0)])
        #expect(disk.replaced == before + 1, "the same key is written once")

        await plug.announce((1...200).map { key($0) })
        // The answer to this command arrives after all announced keys.
        _ = try await followed.send(turnOn)
        while await followed.announcedKey.isStoring { try await Task.sleep(for: .milliseconds(10)) }
        #expect(disk.replaced <= before + 4)
        #expect(disk.onEventLoop == 0)
        await followed.stop()
        await listener.stop()
        await writer.stop()
    }
}

@Suite struct AnnouncedKeyTests {
    private var announced = AnnouncedKey()

    @Test("A stored key is confirmed once per connection and never stored again")
    mutating func storedKey() {
        announced.dialling(stored: key(1))
        announced.opened()
        let steps = (0..<3).map { _ in announced.announced(key(1)) }
        #expect(steps == [.confirm, .ignore, .ignore])
        announced.opened()
        #expect(announced.announced(key(1)) == .confirm)
    }

    @Test("While a key is being stored, only the newest of the following keys is kept")
    mutating func newestWaits() {
        announced.opened()
        #expect(announced.announced(key(1)) == .store)
        #expect(announced.announced(key(2)) == .ignore)
        #expect(announced.announced(key(3)) == .ignore)
        var (confirms, next) = announced.finished(key(1), isStored: true)
        #expect(!confirms && next == key(3))
        (confirms, next) = announced.finished(key(3), isStored: true)
        #expect(confirms && next == nil && !announced.isStoring)
    }

    @Test("A key that could not be stored is not confirmed, and is stored when a new connection announces it")
    mutating func failedWrite() {
        announced.opened()
        #expect(announced.announced(key(1)) == .store)
        let (confirms, next) = announced.finished(key(1), isStored: false)
        #expect(!confirms && next == nil)
        announced.opened()
        #expect(announced.announced(key(1)) == .store)
    }

    @Test("The number of announced keys that are stored per connection is limited")
    mutating func limit() {
        announced.opened()
        var stored = 0
        for number in 0..<100 where announced.announced(key(number)) == .store {
            stored += 1
            _ = announced.finished(key(number), isStored: true)
        }
        #expect(stored == AnnouncedKey.limit)
    }

    @Test("The writes that one plug causes are limited per hour, and each plug has its own limit")
    func budget() {
        var budget = WriteBudget(limit: 2)
        let (other, start) = (PlugID(rawValue: "ffffffffffff")!, Instant.zero)
        budget.spend(for: lamp.id, now: start)
        budget.spend(for: lamp.id, now: start + .seconds(60))
        #expect(budget.wait(for: lamp.id, now: start + .seconds(100)) == .seconds(3500))
        #expect(budget.wait(for: other, now: start + .seconds(100)) == nil)
        #expect(budget.wait(for: lamp.id, now: start + .seconds(3600)) == nil)
    }
}
