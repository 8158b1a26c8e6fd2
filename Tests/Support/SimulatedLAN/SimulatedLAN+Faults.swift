internal import ProtocolCore

extension SimulatedLAN {
    func apply(_ fault: Fault) {
        switch fault {
        case .linkFaults(let link, let faults): links[link.index].faults = faults
        case .partition(let link, let groups):
            var table: [HostID: Int] = [:]
            for (number, group) in groups.enumerated() {
                for host in group { table[host] = number }
            }
            links[link.index].groups = table
        case .heal(let link): links[link.index].groups = nil
        case .linkDown(let link): setLink(link, up: false)
        case .linkUp(let link): setLink(link, up: true)
        case .powerCut(let host): powerCut(host)
        case .powerOn(let host): powerOn(host)
        case .kill(let host): kill(host)
        case .start(let host): if slots[host.index].power == .stopped { start(host, .processStart) }
        case .suspend(let host): suspend(host)
        case .resume(let host): resume(host)
        case .stepWallClock(let host, let step):
            slots[host.index].wallClockOffset += step
            deliver(.wallClockStepped(by: step), to: host)
        }
    }

    private func setLink(_ link: LinkID, up: Bool) {
        links[link.index].isUp = up
        for interface in links[link.index].interfaces {
            let host = interfaces[interface.index].host
            if slots[host.index].power == .running { reportInterfaces(of: host) }
        }
    }

    /// Reports to a host which of its interfaces went up or down since the last report.
    func reportInterfaces(of host: HostID) {
        for interface in slots[host.index].interfaces {
            let isUp = links[interfaces[interface.index].link.index].isUp
            guard interfaces[interface.index].reportedUp != isUp else { continue }
            interfaces[interface.index].reportedUp = isUp
            deliver(
                isUp ? .interfaceUp(interface, interfaces[interface.index].addresses) : .interfaceDown(interface),
                to: host)
        }
    }

    func powerCut(_ host: HostID) {
        slots[host.index].power = .off
        slots[host.index].ports = []
        slots[host.index].held = []
        abandonStreams(of: host, announced: false)
        arm(host)
    }

    private func powerOn(_ host: HostID) {
        guard slots[host.index].power == .off else { return }
        slots[host.index].bootedAt = now
        slots[host.index].boot = slots[host.index].random.next()
        start(host, .powerOn)
    }

    func kill(_ host: HostID) {
        switch slots[host.index].power {
        case .off, .stopped: return
        case .running, .suspended: break
        }
        slots[host.index].power = .stopped
        slots[host.index].ports = []
        slots[host.index].held = []
        abandonStreams(of: host, announced: true)
        arm(host)
    }

    private func start(_ host: HostID, _ cause: Start.Cause) {
        slots[host.index].power = .running
        for interface in slots[host.index].interfaces { interfaces[interface.index].reportedUp = false }
        let seed = slots[host.index].random.next()
        deliver(.started(Start(cause: cause, boot: slots[host.index].boot, seed: seed)), to: host)
        reportInterfaces(of: host)
    }

    private func suspend(_ host: HostID) {
        guard slots[host.index].power == .running else { return }
        slots[host.index].power = .suspended
        arm(host)
    }

    private func resume(_ host: HostID) {
        guard slots[host.index].power == .suspended else { return }
        slots[host.index].power = .running
        let held = slots[host.index].held
        slots[host.index].held = []
        for event in held { deliver(event, to: host) }
        reportInterfaces(of: host)
        arm(host)
    }
}
