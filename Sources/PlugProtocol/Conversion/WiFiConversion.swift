import PlugModel

extension WireManageWifi {
    init(_ order: WiFiRequest) {
        self.init()
        switch order {
        case .ask: break
        case .join(let network, let country):
            join.ssid = .init(network.name.bytes)
            join.password = network.password?.secret ?? ""
            join.country = country?.rawValue ?? ""
        case .remove(let name): remove.ssid = .init(name.bytes)
        case .setUp: setUp = WireSetUpWifi()
        }
    }

    func model() throws(MessageFault) -> WiFiRequest {
        switch kind {
        case nil: return .ask
        case .join(let wire):
            let name = try WireScalar.networkName(wire.ssid)
            let password = wire.password.isEmpty ? nil : WiFiPassword(wire.password)
            guard wire.password.isEmpty || password != nil else {
                throw .length(field: "password", bytes: wire.password.utf8.count, allowed: 8...64)
            }
            return .join(
                WiFiNetwork(name, password: password), country: try WireScalar.country(wire.country))
        case .remove(let wire): return .remove(try WireScalar.networkName(wire.ssid))
        case .setUp: return .setUp
        }
    }
}

extension WireWifiStatus {
    init(_ report: WiFiReport) {
        self.init()
        networks = report.networks.map { .init($0.bytes) }
        country = report.country?.rawValue ?? ""
        switch report.phase {
        case .off: phase = .off
        case .searching: phase = .searching
        case .joined(let link):
            phase = .joined
            ssid = .init(link.name.bytes)
            accessPoint = link.accessPoint
            if let signal = link.signal { signalDbm = Int32(clamping: signal) }
            if let megahertz = link.megahertz { frequencyMhz = UInt32(clamping: megahertz) }
        case .trying(let name):
            phase = .trying
            ssid = .init(name.bytes)
        case .setup: phase = .setup
        case .unknown: phase = .unspecified
        }
        guard let known = report.failure else { return }
        failure.ssid = .init(known.name.bytes)
        failure.reason =
            switch known.reason {
            case .wrongPassword: .wrongPassword
            case .notFound: .notFound
            case .rejected: .rejected
            case .noAnswer: .noAnswer
            case .notStored: .notStored
            }
    }

    func model() throws(MessageFault) -> WiFiReport {
        guard networks.count <= PlugWire.wiFiNetworkLimit else {
            throw .outOfRange(
                field: "networks", value: Int64(networks.count), allowed: 0...Int64(PlugWire.wiFiNetworkLimit))
        }
        let phase: WiFiReport.Phase =
            switch phase {
            case .off: .off
            case .searching: .searching
            case .joined: .joined(try link())
            case .trying: .trying(try WireScalar.networkName(ssid))
            case .setup: .setup
            case .unspecified, .UNRECOGNIZED: .unknown
            }
        var names: [WiFiName] = []
        for wire in networks { names.append(try WireScalar.networkName(wire)) }
        return WiFiReport(
            phase: phase, networks: names, failure: hasFailure ? try failure.model() : nil,
            country: try WireScalar.country(country))
    }

    private func link() throws(MessageFault) -> WiFiReport.Link {
        guard accessPoint.utf8.count <= 17 else {
            throw .length(field: "access_point", bytes: accessPoint.utf8.count, allowed: 0...17)
        }
        if hasSignalDbm, !(-200...0).contains(signalDbm) {
            throw .outOfRange(field: "signal_dbm", value: Int64(signalDbm), allowed: -200...0)
        }
        if hasFrequencyMhz, frequencyMhz > 100_000 {
            throw .outOfRange(field: "frequency_mhz", value: Int64(frequencyMhz), allowed: 0...100_000)
        }
        return WiFiReport.Link(
            name: try WireScalar.networkName(ssid), accessPoint: accessPoint,
            signal: hasSignalDbm ? Int(signalDbm) : nil, megahertz: hasFrequencyMhz ? Int(frequencyMhz) : nil)
    }
}

extension WireWifiFailure {
    /// Returns nil for a reason that this version does not know.
    fileprivate func model() throws(MessageFault) -> WiFiReport.Failure? {
        let reason: WiFiReport.Reason? =
            switch reason {
            case .wrongPassword: .wrongPassword
            case .notFound: .notFound
            case .rejected: .rejected
            case .noAnswer: .noAnswer
            case .notStored: .notStored
            case .unspecified, .UNRECOGNIZED: nil
            }
        let name = try WireScalar.networkName(ssid)
        return reason.map { WiFiReport.Failure(name, $0) }
    }
}

extension WireScalar {
    fileprivate static func networkName(_ bytes: some Collection<UInt8>) throws(MessageFault) -> WiFiName {
        guard let name = WiFiName(bytes: bytes) else {
            throw .length(field: "ssid", bytes: bytes.count, allowed: 1...32)
        }
        return name
    }

    fileprivate static func country(_ letters: String) throws(MessageFault) -> WiFiCountry? {
        guard !letters.isEmpty else { return nil }
        guard let country = WiFiCountry(rawValue: letters) else {
            throw .length(field: "country", bytes: letters.utf8.count, allowed: 2...2)
        }
        return country
    }
}
