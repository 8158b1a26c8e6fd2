import PlugModel

extension WireManageUpdate {
    init(_ order: UpdateRequest) {
        self.init()
        switch order {
        case .ask: break
        case .begin(let bundle, let size, let allowsOlder):
            begin.bundle = .init(bundle.bytes)
            begin.size = size
            begin.older = allowsOlder
        case .part(let offset, let bytes):
            part.offset = offset
            part.data = .init(bytes)
        case .restart(let whenOff): restart.whenOff = whenOff
        case .cancel: cancel = WireCancelUpdate()
        }
    }

    func model() throws(MessageFault) -> UpdateRequest {
        switch kind {
        case nil: return .ask
        case .begin(let wire):
            guard let bundle = BundleID(bytes: wire.bundle) else {
                throw .length(field: "bundle", bytes: wire.bundle.count, allowed: 16...16)
            }
            let size = try WireScalar.bundlePosition(wire.size, "size", from: 1)
            return .begin(bundle, size: size, allowsOlder: wire.older)
        case .part(let wire):
            guard (1...PlugWire.largestBundlePart).contains(wire.data.count) else {
                throw .length(field: "data", bytes: wire.data.count, allowed: 1...PlugWire.largestBundlePart)
            }
            return .part(offset: try WireScalar.bundlePosition(wire.offset, "offset"), Array(wire.data))
        case .restart(let wire): return .restart(whenOff: wire.whenOff)
        case .cancel: return .cancel
        }
    }
}

extension WireUpdateStatus {
    init(_ report: UpdateReport) {
        self.init()
        board = report.board
        system = report.system
        newSystem = report.newSystem
        restartsWhenOff = report.restartsWhenOff
        switch report.phase {
        case .idle: phase = .idle
        case .receiving(let received, let size):
            phase = .receiving
            (self.received, self.size) = (received, size)
        case .installing(let percent):
            phase = .installing
            self.percent = UInt32(clamping: percent)
        case .installed: phase = .installed
        case .trying: phase = .trying
        case .returned(let reason): (phase, detail) = (.returned, reason)
        case .failed(let reason): (phase, detail) = (.failed, reason)
        case .unknown: phase = .unspecified
        }
    }

    func model() throws(MessageFault) -> UpdateReport {
        guard detail.utf8.count <= PlugWire.longestUpdateDetail else {
            throw .length(field: "detail", bytes: detail.utf8.count, allowed: 0...PlugWire.longestUpdateDetail)
        }
        let phase: UpdateReport.Phase =
            switch phase {
            case .idle: .idle
            case .receiving:
                .receiving(
                    try WireScalar.bundlePosition(received, "received"),
                    of: try WireScalar.bundlePosition(size, "size"))
            case .installing: .installing(percent: try WireScalar.percent(percent))
            case .installed: .installed
            case .trying: .trying
            case .returned: .returned(detail)
            case .failed: .failed(detail)
            case .unspecified, .UNRECOGNIZED: .unknown
            }
        return UpdateReport(
            board: try WireScalar.name(board, "board"), system: try WireScalar.name(system, "system"),
            newSystem: try WireScalar.name(newSystem, "new_system"), phase: phase, restartsWhenOff: restartsWhenOff)
    }
}

extension WireScalar {
    fileprivate static func bundlePosition(
        _ number: UInt64, _ field: String, from least: UInt64 = 0
    ) throws(MessageFault) -> UInt64 {
        guard (least...PlugWire.largestBundle).contains(number) else {
            throw .outOfRange(
                field: field, value: Int64(clamping: number), allowed: Int64(least)...Int64(PlugWire.largestBundle))
        }
        return number
    }

    fileprivate static func percent(_ number: UInt32) throws(MessageFault) -> Int {
        guard number <= 100 else { throw .outOfRange(field: "percent", value: Int64(number), allowed: 0...100) }
        return Int(number)
    }
}
