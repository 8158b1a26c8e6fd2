import LinuxSystem
import NIOCore
import ProtocolCore

/// Opens, feeds and closes the readers of the event stream.
extension LiveBoard {
    enum Delivery: Sendable {
        case messages([ByteBuffer])
        /// The reader had nothing to write at the last check, which runs every 15 seconds.
        case heartbeat
        case end
    }

    /// The maximum number of bytes that are handed to a connection at a time. A larger message is handed over by
    /// itself.
    private static let portion = 64 << 10
    private static let beat = Duration.seconds(15)

    func hasRoom(for pass: Authorization) -> Bool { !hasEnded && readers.hasRoom(for: pass.holder) }

    /// Opens a reader. It continues after the given position if ``EventStreamBuffer`` still has the next message, else
    /// it begins with the complete house.
    ///
    /// - Parameters:
    ///   - position: the last message that the reader has, or nil for a new reader.
    ///   - pass: the authorization of the reader.
    ///   - close: closes the reader's connection.
    /// - Returns: the number of the reader; nil if the limit is reached or the board has ended.
    func open(
        after position: StreamPosition?, for pass: Authorization = .owner, close: @escaping @Sendable () -> Void
    ) -> UInt64? {
        guard !hasEnded else { return nil }
        let after = position.flatMap { $0.epoch == epoch ? $0.number : nil }
        let reader = StreamReaders.Reader(
            after: after, close: close, holder: pass.holder, entrances: pass.entrances)
        guard readers.add(reader, as: nextReader + 1) else { return nil }
        nextReader += 1
        beginBeating()
        return nextReader
    }

    func close(_ id: UInt64) {
        readers.remove(id)
        readAt = BootClock.now
        guard readers.count == 0 else { return }
        heartbeat?.cancel()
        heartbeat = nil
    }

    /// Waits for the next messages of a reader. A call also means that the previous messages are written.
    func next(_ id: UInt64) async -> Delivery {
        await begin()
        readers[id]?.writingSince = nil
        while let reader = readers[id], !hasEnded, !Task.isCancelled {
            guard let after = reader.after else {
                readers[id]?.after = ring.newest
                readers[id]?.writingSince = BootClock.now
                return .messages([houseMessage(forOwner: reader.isOwner)])
            }
            switch ring.read(after: after, atMost: Self.portion, forOwner: reader.isOwner) {
            case .messages(let messages, through: let number):
                readers[id]?.after = number
                // Every message was for owners only.
                if messages.isEmpty { continue }
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

    /// Closes the streams that were authorized by one of these passwords or sessions (``Authorization/entrances``).
    func endReaders(of entrances: Set<String>) { readers.close(of: entrances) }

    /// Closes the streams whose password or session is not in the set. Streams with a number above `newest` stay open.
    func endReaders(without entrances: Set<String>, until newest: UInt64) {
        readers.close(without: entrances, until: newest)
    }

    /// Ends all streams and rejects new ones.
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
