import ConfigurationFiles
import HostSleep
import LinuxSystem
import PlugClient
import PlugModel
import ProtocolCore
import Testing

@testable import Daemon

struct HouseMachinesTests {
    private func machines() throws -> HouseMachines {
        let file = "[Server]\nmac = \"02:00:00:00:00:01\"\npassword = \"01:02:03:04\""
        return HouseMachines(try KnownMachines(Array(file.utf8), file: "machines.toml"))
    }

    private func state(_ sleepers: PlugSleeper..., of plug: String = "Lamp") -> HouseFollower.Update {
        let update = PlugUpdate.state(PlugState(relayOn: true, sleepers: sleepers))
        return .report(PlugReport(plug: plug, at: .now, update: update))
    }

    @Test("The hosts of the plugs follow the machines of the file, sorted by name") func learned() throws {
        let machines = try machines()
        machines.handle(
            state(
                PlugSleeper(host: "nas.local", card: "02:00:00:00:00:03", addresses: ["192.0.2.7"]),
                PlugSleeper(host: "server.local", card: "02:00:00:00:00:09"),
                PlugSleeper(host: "other.local", card: "02:00:00:00:00:01"),
                PlugSleeper(host: "broken.local", card: "02")))
        machines.handle(state(PlugSleeper(host: "desk.local", card: "02:00:00:00:00:04"), of: "Fan"))
        #expect(machines.current.machines.map(\.name) == ["Server", "desk", "nas"])
        #expect(machines.current.machine("nas")?.addresses.map(\.description) == ["192.0.2.7"])
        #expect(machines.current.machine("server")?.password != nil)
    }

    @Test("Of two cards with the same host name, the sleeping one is woken") func twoCards() throws {
        let machines = try machines()
        let awake = PlugSleeper(host: "NAS.local", card: "02:00:00:00:00:03")
        let asleep = PlugSleeper(host: "nas.local", card: "02:00:00:00:00:04", asleepSince: .zero)
        machines.handle(state(awake, asleep))
        #expect(machines.current.machine("nas")?.card.description == "02:00:00:00:00:04")
    }

    @Test("A machine is forgotten when its plug no longer reports it, or is gone") func forgotten() throws {
        let machines = try machines()
        let nas = PlugSleeper(host: "nas.local", card: "02:00:00:00:00:03")
        machines.handle(state(nas))
        machines.handle(.report(PlugReport(plug: "Lamp", at: .now, update: .following(after: 1))))
        #expect(machines.current.machine("nas") != nil)
        machines.handle(state())
        #expect(machines.current.machine("nas") == nil)
        machines.handle(state(nas))
        machines.handle(.lost("Lamp"))
        #expect(machines.current.machine("nas") == nil)
    }
}
