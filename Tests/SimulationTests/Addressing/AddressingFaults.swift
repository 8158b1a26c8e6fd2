import AddressConfiguration
import DNSWire
import ProtocolCore
import SimulatedLAN

/// A fault, or another event of the house.
enum Happening {
    case powerOn(Int)
    case powerCut(Int)
    /// The process is killed and restarted.
    case restart(Int)
    case linkDown(Int)
    case linkUp(Int)
    case resume(Int)
    case newCard(Int, MACAddress)
    case connect(Int, Bool)
    /// A host takes over the address of a plug.
    case steal(host: Int, from: Int)
    case announce(host: Int)
    case deny(host: Int, Bool)
    case mirror(host: Int, Bool)
    case server(Int, ScriptedServer.Manner)
    case serverForgets(Int)
    /// A server sends its delayed answer to a plug or, if `to` is nil, to every station.
    case reply(Int, DHCPMessage, to: Int?)
    case faults(LinkFaults)
    /// Assigns each station to the group at the index of the station.
    case partition([Int])
    case merge
}

extension AddressingHouse {
    func happen(_ happening: Happening) {
        note("happens", happening)
        let now = now
        switch happening {
        case .powerOn(let plug):
            guard !plugs[plug].isRunning else { return }
            plugs[plug].powerOn()
            setLink(plug, true)
        case .powerCut(let plug):
            setLink(plug, false)
            plugs[plug].powerCut()
        case .restart(let plug):
            guard plugs[plug].isRunning else { return }
            plugs[plug].kill()
            plugs[plug].restart(now: now)
            act(plug) { $0.setLink($0.isLinkUp, now: now) }
        case .linkDown(let plug): setLink(plug, false)
        case .linkUp(let plug): setLink(plug, true)
        case .resume(let plug): act(plug) { $0.resume(now: now) }
        case .newCard(let plug, let hardware): act(plug) { $0.change(hardware: hardware, now: now) }
        case .connect(let plug, let isConnected): act(plug) { $0.connect(isConnected, now: now) }
        case .steal(let host, let plug):
            let owned = hosts.compactMap(\.address)
            guard let address = plugs[plug].assigned.keys.min(by: { $0.rawValue < $1.rawValue }),
                !owned.contains(address)
            else { return }
            hosts[host].address = address
            for second in 0..<3 { schedule(.happening(.announce(host: host)), after: .seconds(2 * second)) }
        case .announce(let host):
            if let announcement = hosts[host].announcement { send(.arp(announcement), from: self.host(host)) }
        case .deny(let host, let isDenying): hosts[host].deniesAll = isDenying
        case .mirror(let host, let isMirroring): hosts[host].mirrors = isMirroring
        case .server(let server, let manner): servers[server].manner = manner
        case .serverForgets(let server): servers[server].forget()
        case .reply(let server, let message, let plug):
            send(.dhcp(message, to: nil), from: self.server(server), to: plug)
        case .faults(let faults): segment.faults = faults
        case .partition(let groups):
            for (station, group) in groups.enumerated() { segment.stations[station].group = group }
        case .merge: for station in segment.stations.indices { segment.stations[station].group = 0 }
        }
    }

    private func setLink(_ plug: Int, _ isUp: Bool) {
        let now = now
        segment.stations[plug].isUp = isUp
        guard plugs[plug].isRunning else { return }
        act(plug) { $0.setLink(isUp, now: now) }
    }
}
