import LinuxClocks
import NIOCore
import ProtocolCore

/// Readers of the stream.
extension LiveBoard {
    enum Delivery: Sendable {
        case messages([ByteBuffer])
        /// Nothing happened for a while.
        case heartbeat
        case end
    }

    /// Bytes handed to one connection at a time.
    private static let portion = 64 << 10
    private static let beat = Duration.seconds(15)

    var hasRoomForReader: Bool { !hasEnded && readers.count < StreamReaders.limit }

    /// Begins after a message that the reader has, if it is still known here, else with the whole house.
    ///
    /// - Parameter close: ends the reader's connection.
    /// - Returns: nil where there is no room.
    func open(after position: StreamPosition?, close: @escaping @Sendable () -> Void) -> UInt64? {
        guard hasRoomForReader else { return nil }
        nextReader += 1
        let after = position.flatMap { $0.epoch == epoch ? $0.number : nil }
        readers[nextReader] = StreamReaders.Reader(after: after, close: close)
        beginBeating()
        return nextReader
    }

    func close(_ id: UInt64) {
        readers.remove(id)
        guard readers.count == 0 else { return }
        heartbeat?.cancel()
        heartbeat = nil
    }

    /// What comes next for the reader, as soon as there is something. What it got before is written when it asks.
    func next(_ id: UInt64) async -> Delivery {
        await begin()
        readers[id]?.writingSince = nil
        while let reader = readers[id], !hasEnded, !Task.isCancelled {
            guard let after = reader.after else {
                readers[id]?.after = ring.newest
                readers[id]?.writingSince = BootClock.now
                return .messages([houseMessage()])
            }
            switch ring.read(after: after, atMost: Self.portion) {
            case .messages(let messages, through: let number):
                readers[id]?.after = number
                readers[id]?.writingSince = BootClock.now
                return .messages(messages)
            case .fallenBehind: readers[id]?.after = nil
            case .nothing:
                guard !reader.isHeartbeatDue else {
                    readers[id]?.isHeartbeatDue = false
                    readers[id]?.writingSince = BootClock.now
                    return .heartbeat
                }
                await wait(id)
            }
        }
        return .end
    }

    /// Ends all streams: who still may begins anew.
    func endReaders() { readers.closeAll() }

    /// Ends all streams, and lets nobody begin one.
    public func end() {
        hasEnded = true
        readers.removeAll()
        heartbeat?.cancel()
        heartbeat = nil
    }

    private func wait(_ id: UInt64) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard readers[id] != nil, !Task.isCancelled else { return continuation.resume() }
                readers[id]?.waiting = continuation
            }
        } onCancel: {
            Task { await self.close(id) }
        }
    }

    private func beginBeating() {
        guard heartbeat == nil else { return }
        heartbeat = Task { [weak self] in
            while (try? await Task.sleep(for: Self.beat)) != nil {
                guard let self else { return }
                await beat()
            }
        }
    }

    private func beat() { readers.beat(now: BootClock.now) }
}
