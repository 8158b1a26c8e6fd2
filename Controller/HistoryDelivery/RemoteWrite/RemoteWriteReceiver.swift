import CSnappy
import Effects
import LinuxSystem
import PlugModel
import PowerHistory
import Synchronization

/// Sends the history to a server for Prometheus remote write, version 1.0: samples and readings of the energy counter.
///
/// The server does not report how much of the history it has, so the position is stored in a file after each part that
/// was accepted, or whose rejected requests were skipped. If the daemon crashes before it stores the position, it sends
/// the part again. The server then already has the same values at the same times.
final class RemoteWriteReceiver: HistoryReceiver {
    /// The limit of values per request. This number of values, at 18 bytes each, has about 360 kB before compression
    /// and without labels.
    private static let valueLimit = 20_000
    private static let sampleLimit = 100_000
    private static let patience = Duration.seconds(30)
    private static let tokenLimit = 4096

    private let settings: HistorySettings.RemoteWrite
    private let series: RemoteWriteSeries
    private let post: WebClient
    /// The file with the position.
    private let file: String
    private let complain: @Sendable (String) -> Void
    private let thread = BlockingThread()
    private let hasEnded = Mutex(false)
    private let memory = Mutex(RemoteWriteMemory())
    private let hasToldRefusal = Mutex(false)

    /// - Throws: `DeliveryFault` if the address is not valid.
    init(
        _ settings: HistorySettings.RemoteWrite, house: String, labels: [(key: String, value: String)], file: String,
        complain: @escaping @Sendable (String) -> Void
    ) throws {
        (self.settings, self.file, self.complain) = (settings, file, complain)
        series = RemoteWriteSeries(house: house, labels: labels)
        do throws(WebClient.Fault) {
            post = try WebClient(to: settings.url, authority: settings.authority)
        } catch {
            throw DeliveryFault(reason: error.words)
        }
    }

    func giveUp() { hasEnded.withLock { $0 = true } }
    func idle(hasAll: Bool) {}
    func end() async { await thread.end() }

    func connect() async throws(DeliveryFault) -> FeedPosition? {
        guard snappy_block_limit(1) > 0 else {
            throw DeliveryFault(reason: "libsnappy.so.1 is not available", hint: "apt install libsnappy1v5")
        }
        let file = file
        let found = try await thread.run { () throws(DeliveryFault) -> RemoteWriteMemory? in
            do throws(FileError) {
                return try FileStore().readIfPresent(file, limit: RemoteWriteMemory.sizeLimit).map {
                    RemoteWriteMemory($0)
                }
            } catch {
                throw DeliveryFault(reason: "\(error)")
            }
        }
        memory.withLock { $0 = found ?? RemoteWriteMemory() }
        return found?.position
    }

    func deliver(
        from source: HistorySource, after position: FeedPosition, atMost limit: Int
    ) async throws(DeliveryFault) -> (through: Int64, isAll: Bool) {
        var next = memory.withLock { $0 }
        let changes = try await thread.run { () throws(DeliveryFault) -> HistoryChanges in
            let history = try source.history()
            do throws(HistoryError) {
                return try history.changes(
                    after: position.number, atMost: limit, sampleLimit: Self.sampleLimit, samples: true)
            } catch {
                throw DeliveryFault(error)
            }
        }
        if next.names.isEmpty || !changes.names.isEmpty {
            let known = try await thread.run { () throws(DeliveryFault) -> [HistoryPlug] in
                let history = try source.history()
                do throws(HistoryError) { return try history.plugs() } catch { throw DeliveryFault(error) }
            }
            next.names = Dictionary(known.map { ($0.id, $0.name) }) { $1 }
        }
        let values = next.values(of: changes)
        for request in series.requests(values, names: next.names, atMost: Self.valueLimit) { try await send(request) }
        next.position = FeedPosition(epoch: position.epoch, number: changes.through)
        let (file, bytes) = (file, next.bytes)
        try await thread.run { () throws(DeliveryFault) -> Void in
            do throws(FileError) { try FileStore().replace(file, with: bytes) } catch {
                throw DeliveryFault(reason: "\(error)")
            }
        }
        memory.withLock { [next] in $0 = next }
        return (changes.through, changes.isAll)
    }

    private func send(_ request: [UInt8]) async throws(DeliveryFault) {
        guard !hasEnded.withLock({ $0 }) else { throw DeliveryFault(reason: "the delivery was cancelled") }
        guard let body = Self.compressed(request) else { throw DeliveryFault(reason: "libsnappy failed to compress") }
        var fields = [
            ("Content-Type", "application/x-protobuf"), ("Content-Encoding", "snappy"),
            ("X-Prometheus-Remote-Write-Version", "0.1.0"),
        ]
        if let authorization = try authorization() { fields.append(("Authorization", authorization)) }
        do throws(WebClient.Fault) {
            try await post.send(body, fields: fields.map { (name: $0.0, value: $0.1) }, within: Self.patience)
        } catch {
            // With these statuses, the server rejects the content. The server would reject a retry too, so the request
            // is skipped.
            guard let status = error.status, [400, 413, 422].contains(status) else {
                let isRefusal = error.status.map { (400..<500).contains($0) && ![408, 429].contains($0) } ?? false
                throw DeliveryFault(reason: error.words, isRefusal: isRefusal)
            }
            let isFirst = hasToldRefusal.withLock { told in
                defer { told = true }
                return !told
            }
            guard isFirst else { return }
            complain(
                """
                remote write: the server rejects a part of the history, which is left out: \(error.words)
                hint: configure the server to accept out-of-order samples, which arrive after a plug was away
                """)
        }
    }

    private func authorization() throws(DeliveryFault) -> String? {
        func secret(_ path: String) throws(DeliveryFault) -> String {
            let found: [UInt8]?
            do throws(FileError) {
                found = try FileStore().readSecretIfPresent(path, limit: Self.tokenLimit)
            } catch {
                throw DeliveryFault(reason: "\(error)", hint: error.hint)
            }
            guard var bytes = found else { throw DeliveryFault(reason: "\(path) does not exist") }
            while let last = bytes.last, [0x0A, 0x0D].contains(last) { bytes.removeLast() }
            return String(decoding: bytes, as: UTF8.self)
        }
        switch settings.credentials {
        case .open: return nil
        case .password(let user, let file): return WebClient.basicAuthorization(user: user, password: try secret(file))
        case .token(let file): return "Bearer \(try secret(file))"
        }
    }

    private static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
        let limit = snappy_block_limit(bytes.count)
        guard limit > 0 else { return nil }
        var length = 0
        let compressed = [UInt8](unsafeUninitializedCapacity: limit) { room, count in
            length = bytes.withUnsafeBytes { bytes in
                snappy_block(
                    bytes.bindMemory(to: CChar.self).baseAddress, bytes.count,
                    room.baseAddress.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: CChar.self) }, limit)
            }
            count = length
        }
        return length > 0 ? compressed : nil
    }
}
