import PlugModel
import ProtocolCore

/// The encoding of a cell of the event table, sealed by ``ByteWriter/seal()``:
///
///     0     kind, see `Tag`
///     1-    event: sequence number (varint), boot (16 bytes), plug's clock (ns, zigzag), data of the kind
///           gap: first and last sequence number (varints), reason (text)
///
/// Except for the kind, enum cases are stored as text, so that a program can read the known part of a table that a
/// later version wrote.
extension StoredEvent.Content {
    fileprivate enum Tag: UInt8 {
        case gap, relayChanged, buttonPressed, protectionTripped, protectionReset, restarted, pairingFailed
        case controllerPaired, controllerRemoved
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        switch self {
        case .gap(let gap):
            writer.append(Tag.gap.rawValue)
            writer.appendVarint(gap.from)
            writer.appendVarint(gap.to)
            writer.appendText(gap.reason.rawValue)
        case .event(let event):
            writer.append(event.kind.tag.rawValue)
            writer.appendVarint(event.sequence)
            writer.append(event.boot.bytes)
            writer.appendZigzag(event.time.nanoseconds)
            event.kind.append(to: &writer)
        }
        writer.seal()
        return writer.bytes
    }

    /// - Throws: ``CellDamage`` if the bytes are damaged or written by a later version.
    init(decoding bytes: [UInt8]) throws(CellDamage) {
        var reader = try ByteReader(sealed: bytes)
        guard let tag = Tag(rawValue: try reader.byte()) else { throw CellDamage() }
        if tag == .gap {
            let (from, to) = (try reader.varint(), try reader.varint())
            guard let reason = Gap.Reason(rawValue: try reader.text()) else { throw CellDamage() }
            self = .gap(Gap(from: from, to: to, reason: reason))
        } else {
            let sequence = try reader.varint()
            guard let boot = BootID(bytes: try reader.bytes(16)) else { throw CellDamage() }
            let time = Instant(nanoseconds: try reader.zigzag())
            let kind = try PlugEvent.Kind(tag, &reader)
            self = .event(PlugEvent(sequence: sequence, boot: boot, time: time, kind: kind))
        }
        guard reader.isAtEnd else { throw CellDamage() }
    }
}

extension PlugEvent.Kind {
    fileprivate typealias Tag = StoredEvent.Content.Tag

    fileprivate var tag: Tag {
        switch self {
        case .relayChanged: .relayChanged
        case .buttonPressed: .buttonPressed
        case .protectionTripped: .protectionTripped
        case .protectionReset: .protectionReset
        case .restarted: .restarted
        case .pairingFailed: .pairingFailed
        case .controllerPaired: .controllerPaired
        case .controllerRemoved: .controllerRemoved
        }
    }

    fileprivate func append(to writer: inout ByteWriter) {
        switch self {
        case .relayChanged(let on, let cause):
            writer.append(on ? 1 : 0)
            cause.append(to: &writer)
        case .buttonPressed(let press): writer.appendText(press.rawValue)
        case .protectionTripped(let protection): writer.appendText(protection.rawValue)
        case .protectionReset(let protection, let cause):
            writer.appendText(protection.rawValue)
            cause.append(to: &writer)
        case .restarted(let powerLost): writer.append(powerLost ? 1 : 0)
        case .pairingFailed(let failures): writer.appendVarint(UInt64(failures))
        case .controllerPaired(let name), .controllerRemoved(let name): writer.appendText(name)
        }
    }

    fileprivate init(_ tag: Tag, _ reader: inout ByteReader) throws(CellDamage) {
        switch tag {
        case .gap: throw CellDamage()
        case .relayChanged:
            let on = try reader.flag()
            self = .relayChanged(on: on, cause: try RelayCause(&reader))
        case .buttonPressed: self = .buttonPressed(try reader.named())
        case .protectionTripped: self = .protectionTripped(try reader.named())
        case .protectionReset:
            let protection: Protection = try reader.named()
            self = .protectionReset(protection, cause: try RelayCause(&reader))
        case .restarted: self = .restarted(powerLost: try reader.flag())
        case .pairingFailed:
            guard let failures = UInt32(exactly: try reader.varint()) else { throw CellDamage() }
            self = .pairingFailed(failures: failures)
        case .controllerPaired: self = .controllerPaired(name: try reader.text())
        case .controllerRemoved: self = .controllerRemoved(name: try reader.text())
        }
    }
}

extension RelayCause {
    fileprivate func append(to writer: inout ByteWriter) {
        switch self {
        case .button: writer.appendText("button")
        case .protection: writer.appendText("protection")
        case .timer: writer.appendText("timer")
        case .powerOn: writer.appendText("powerOn")
        case .controller(let name, let request, let authority):
            writer.appendText(authority == .unknown ? "controller" : "authority")
            writer.appendText(name)
            writer.append(request.bytes)
            if authority != .unknown { writer.append(authority.bytes) }
        }
    }

    fileprivate init(_ reader: inout ByteReader) throws(CellDamage) {
        switch try reader.text() {
        case "button": self = .button
        case "protection": self = .protection
        case "timer": self = .timer
        case "powerOn": self = .powerOn
        case "controller":
            self = .controller(name: try reader.text(), request: try reader.request())
        case "authority":
            self = .controller(
                name: try reader.text(), request: try reader.request(), authority: try reader.authority())
        case _: throw CellDamage()
        }
    }
}

extension ByteReader {
    fileprivate mutating func request() throws(CellDamage) -> RequestID {
        guard let request = RequestID(bytes: try bytes(16)) else { throw CellDamage() }
        return request
    }

    fileprivate mutating func authority() throws(CellDamage) -> AuthorityID {
        guard let authority = AuthorityID(bytes: try bytes(16)) else { throw CellDamage() }
        return authority
    }

    fileprivate mutating func flag() throws(CellDamage) -> Bool {
        let byte = try byte()
        guard byte < 2 else { throw CellDamage() }
        return byte == 1
    }

    fileprivate mutating func named<Name: RawRepresentable<String>>() throws(CellDamage) -> Name {
        guard let name = Name(rawValue: try text()) else { throw CellDamage() }
        return name
    }
}
