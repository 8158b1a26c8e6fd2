import NIOCore
import NIOPosix
import PlugModel
import PlugTransport

/// An owner of connections that reports its events to the test, in order.
actor Owner: ConnectionOwner {
    enum Report: Sendable, Equatable {
        case opened(ConnectionID)
        case received([UInt8])
        case writable(Bool)
        case closed(ConnectionID)
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }
    nonisolated let loop: any EventLoop
    nonisolated let reports: AsyncStream<Report>
    private let continuation: AsyncStream<Report>.Continuation
    private(set) var connections: [Connection] = []
    private(set) var isWritable = true
    private let knowsEverybody: Bool

    /// - Parameter knowsEverybody: True to treat each peer as a paired controller.
    init(on loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next(), knowsEverybody: Bool = false) {
        self.loop = loop
        self.knowsEverybody = knowsEverybody
        (reports, continuation) = AsyncStream.makeStream()
    }

    func opened(_ connection: Connection) {
        if knowsEverybody { connection.markPaired() }
        connections.append(connection)
        continuation.yield(.opened(connection.id))
    }
    func received(_ bytes: [UInt8], on id: ConnectionID) { continuation.yield(.received(bytes)) }
    func writable(_ isWritable: Bool, on id: ConnectionID) {
        self.isWritable = isWritable
        continuation.yield(.writable(isWritable))
    }
    func closed(_ id: ConnectionID) { continuation.yield(.closed(id)) }

    func send(_ bytes: [UInt8]) { connections.last?.send(bytes) }
    /// Sends the pieces in one tick of the event loop.
    func send(pieces: [[UInt8]]) { for piece in pieces { send(piece) } }
    func close() { connections.last?.close() }
    func setReading(_ reads: Bool) { connections.last?.setReading(reads) }
    var peer: String { connections.last?.peer ?? "" }
    var peerKey: PublicKey? { connections.last?.peerKey }
}

extension Owner.Report {
    var connection: ConnectionID? {
        switch self {
        case .opened(let id), .closed(let id): id
        case .received, .writable: nil
        }
    }
}
