import LinuxSystem
import PlugModel

/// Stores a batch that did not fit on a full disk, in a file whose space was reserved beforehand. A later call of
/// ``PowerHistory/record(_:)`` in this or the next process stores it. Samples and fetched spans are left out, because
/// the plugs keep the samples for days.
struct UnwrittenBatch: Sendable {
    /// The size of the file: about ten thousand events, or a few thousand traces.
    private static let size = 4 << 20
    /// The size of the checksum.
    private static let margin = 4

    private let file: ReservedFile

    /// Reserves the file.
    ///
    /// - Throws: `FileError` if the disk is full.
    init(in directory: String) throws(FileError) {
        file = try ReservedFile(directory + "/unwritten", size: Self.size)
    }

    /// Writes the batch. Entries that do not fit into the file are left out. Traces are written last, so they are left
    /// out first.
    func keep(_ batch: HistoryBatch) throws(FileError) { try file.write(Self.bytes(of: batch)) }

    /// Returns the saved batch; nil if the file is empty or unreadable.
    func kept() -> HistoryBatch? {
        guard let bytes = try? file.read() else { return nil }
        return try? Self.batch(bytes)
    }

    func clear() throws(FileError) { try file.clear() }

    // MARK: Bytes

    private enum Tag: UInt8 {
        case name, counter, event, firing, trace
    }

    private static func bytes(of batch: HistoryBatch) -> [UInt8] {
        var writer = ByteWriter()
        func add(_ tag: Tag, _ write: (inout ByteWriter) -> Void) {
            var entry = ByteWriter()
            entry.append(tag.rawValue)
            write(&entry)
            guard writer.bytes.count + entry.bytes.count + margin <= size else { return }
            writer.append(entry.bytes)
        }
        for (plug, name) in batch.names {
            add(.name) { writer in
                writer.appendText(plug.rawValue)
                writer.appendText(name)
            }
        }
        for counter in batch.counters {
            add(.counter) { writer in
                writer.appendText(counter.plug.rawValue)
                writer.append(counter.boot.bytes)
                writer.appendZigzag(counter.origin)
                writer.appendZigzag(counter.milliseconds)
                writer.appendVarint(counter.milliwattHours)
            }
        }
        for event in batch.events {
            add(.event) { writer in
                writer.appendText(event.plug.rawValue)
                writer.appendZigzag(event.at)
                writer.append(event.isTimeKnown ? 1 : 0)
                let bytes = event.content.bytes
                writer.appendVarint(UInt64(bytes.count))
                writer.append(bytes)
            }
        }
        for firing in batch.firings {
            add(.firing) { writer in
                writer.appendZigzag(firing.at)
                for text in [firing.rule, firing.plug?.rawValue ?? "", firing.cause] { writer.appendText(text) }
            }
        }
        for trace in batch.traces {
            add(.trace) { writer in
                writer.appendZigzag(trace.at)
                writer.append((trace.isFiring ? 1 : 0) | (trace.isPart ? 2 : 0))
                for text in [trace.id, trace.rule, trace.json] { writer.appendText(text) }
            }
        }
        writer.seal()
        return writer.bytes
    }

    private static func batch(_ bytes: [UInt8]) throws(CellDamage) -> HistoryBatch {
        var reader = try ByteReader(sealed: bytes)
        var batch = HistoryBatch()
        while !reader.isAtEnd {
            guard let tag = Tag(rawValue: try reader.byte()) else { throw CellDamage() }
            switch tag {
            case .name: batch.names[try reader.plug()] = try reader.text()
            case .counter:
                let plug = try reader.plug()
                guard let boot = BootID(bytes: Array(try reader.bytes(16))) else { throw CellDamage() }
                batch.counters.append(
                    CounterReading(
                        plug: plug, boot: boot, origin: try reader.zigzag(), milliseconds: try reader.zigzag(),
                        milliwattHours: try reader.varint()))
            case .event:
                let (plug, at, isKnown) = (try reader.plug(), try reader.zigzag(), try reader.byte() == 1)
                guard let count = Int(exactly: try reader.varint()) else { throw CellDamage() }
                let content = try StoredEvent.Content(decoding: Array(try reader.bytes(count)))
                batch.events.append(StoredEvent(plug: plug, content: content, at: at, isTimeKnown: isKnown))
            case .firing:
                let at = try reader.zigzag()
                let (rule, plug, cause) = (try reader.text(), try reader.text(), try reader.text())
                batch.firings.append(StoredFiring(at: at, rule: rule, plug: PlugID(rawValue: plug), cause: cause))
            case .trace:
                let (at, flags) = (try reader.zigzag(), try reader.byte())
                let (id, rule, json) = (try reader.text(), try reader.text(), try reader.text())
                batch.traces.append(
                    StoredTrace(
                        id: id, at: at, rule: rule, isFiring: flags & 1 != 0, json: json, isPart: flags & 2 != 0))
            }
        }
        return batch
    }
}

extension ByteReader {
    fileprivate mutating func plug() throws(CellDamage) -> PlugID {
        guard let plug = PlugID(rawValue: try text()) else { throw CellDamage() }
        return plug
    }
}
