import PlugModel

extension WireManageMatter {
    init(_ order: MatterRequest) {
        self.init()
        switch order {
        case .ask: break
        case .openWindow(let duration): openWindow = UInt32(clamping: duration.components.seconds)
        case .remove(let index): remove = UInt32(index)
        case .removeAll: removeAll = true
        }
    }

    func model() throws(MessageFault) -> MatterRequest {
        guard !removeAll else { return .removeAll }
        guard remove == 0 else { return .remove(try WireScalar.fabricIndex(remove, "remove")) }
        guard hasOpenWindow else { return .ask }
        return .openWindow(try WireScalar.windowTime(openWindow, "open_window"))
    }
}

extension WireMatterStatus {
    init(_ status: MatterReport) {
        self.init()
        setupPayload = status.setupPayload
        manualCode = status.manualCode
        if let time = status.windowOpenFor { windowSeconds = UInt32(clamping: time.components.seconds) }
        enhanced = status.isEnhanced
        fabrics = status.fabrics.map { fabric in
            var wire = WireMatterFabric()
            wire.index = UInt32(fabric.index)
            wire.fabricID = fabric.fabricID
            wire.nodeID = fabric.nodeID
            wire.vendor = UInt32(fabric.vendor)
            wire.label = fabric.label
            wire.sessions = UInt32(clamping: fabric.sessions)
            return wire
        }
    }

    func model() throws(MessageFault) -> MatterReport {
        guard fabrics.count <= PlugWire.matterFabrics else {
            throw .outOfRange(
                field: "fabrics", value: Int64(fabrics.count), allowed: 0...Int64(PlugWire.matterFabrics))
        }
        var list: [MatterReport.Fabric] = []
        for fabric in fabrics { list.append(try fabric.model()) }
        let time = try hasWindowSeconds ? WireScalar.windowTime(windowSeconds, "window_seconds") : nil
        return MatterReport(
            setupPayload: try WireScalar.name(setupPayload, "setup_payload"),
            manualCode: try WireScalar.name(manualCode, "manual_code"),
            windowOpenFor: time, isEnhanced: enhanced, fabrics: list)
    }
}

extension WireMatterFabric {
    fileprivate func model() throws(MessageFault) -> MatterReport.Fabric {
        guard let vendor = UInt16(exactly: vendor) else {
            throw .outOfRange(field: "vendor", value: Int64(vendor), allowed: 0...Int64(UInt16.max))
        }
        guard label.utf8.count <= PlugWire.longestMatterLabel else {
            throw .length(field: "label", bytes: label.utf8.count, allowed: 0...PlugWire.longestMatterLabel)
        }
        return MatterReport.Fabric(
            index: try WireScalar.fabricIndex(index, "index"), fabricID: fabricID, nodeID: nodeID, vendor: vendor,
            label: label, sessions: Int(sessions))
    }
}

extension WireScalar {
    fileprivate static func fabricIndex(_ number: UInt32, _ field: String) throws(MessageFault) -> UInt8 {
        guard let index = UInt8(exactly: number), (1...254).contains(index) else {
            throw .outOfRange(field: field, value: Int64(number), allowed: 1...254)
        }
        return index
    }

    fileprivate static func windowTime(_ seconds: UInt32, _ field: String) throws(MessageFault) -> Duration {
        let longest = PlugWire.longestMatterWindow.components.seconds
        guard Int64(seconds) <= longest else {
            throw .outOfRange(field: field, value: Int64(seconds), allowed: 0...longest)
        }
        return .seconds(Int64(seconds))
    }
}
