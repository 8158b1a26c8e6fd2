import PlugModel
import ProtocolCore
import Testing

@testable import PlugTopics

/// Tests the machine of a plug with its own broker connection.
@Suite struct OwnVoiceTests {
    private func door(after cursor: UInt64 = 0, discovery: HomeAssistantDiscovery? = nil) -> Door {
        var door = Door()
        let configuration = BrokerMachine.Configuration(
            tree: Door.tree, speaker: .plug(Door.lamp), discovery: discovery)
        door.machine = BrokerMachine(configuration, after: cursor, newest: cursor, seed: 7)
        return door
    }

    @Test("A plug with its own connection subscribes to and publishes only its own topics")
    func itHearsAndTellsOfNobodyElse() {
        var door = door()
        door.meetLamp()
        door.connect()
        let filters = [
            "smartplug/home/00000000000a/set", "smartplug/home/00000000000a/replay", "smartplug/home/refresh",
        ]
        #expect(door.actions.contains(.subscribe(filters)))
        #expect(
            door.published().map(\.topic) == [
                "smartplug/home/00000000000a/about", "smartplug/home/00000000000a/state",
                "smartplug/home/00000000000a/availability",
            ])
        #expect(Door.tree.will(of: .plug(Door.lamp)) == "smartplug/home/00000000000a/availability")
        #expect(Door.tree.will(of: .house) == "smartplug/home/availability")
    }

    /// The events are fetched again because their payload has their age at the time of publication.
    @Test("Unacknowledged events are fetched again after a reconnection") func whatWasNotTakenIsFetchedAgain() throws {
        var door = door(after: 4, discovery: try HomeAssistantDiscovery())
        door.meetLamp()
        door.connect()
        door.handle(.grown(to: 6))
        #expect(door.actions.contains(.fetch(after: 4, limit: EventWindow.limit)))
        door.handle(.fetched([pressed(5), pressed(6)]))
        _ = door.published()
        door.pass(BrokerMachine.settling)
        #expect(door.published(isTaken: false).map(\.payload) == ["{\"seq\":5}", "{\"seq\":6}"])
        door.actions = []
        door.handle(.disconnected(reason: "gone"))
        door.handle(.grown(to: 7))
        #expect(!door.actions.contains { if case .fetch = $0 { true } else { false } })
        door.pass(.seconds(1))
        door.handle(.connected)
        #expect(door.actions.contains(.fetch(after: 4, limit: EventWindow.limit)))
    }

    @Test("A gap is published and not reported as dropped events") func aGapIsToldAndNotCountedAsLeftOut() throws {
        var door = door(after: 4, discovery: try HomeAssistantDiscovery())
        door.meetLamp()
        door.connect()
        door.handle(.grown(to: 21))
        let gap = QueuedEvent(position: 20, since: 5, plug: Door.lamp, sequence: 20, payload: "{\"gap\":1}")
        door.handle(.fetched([gap, pressed(21)]))
        _ = door.published()
        door.pass(BrokerMachine.settling)
        #expect(door.published().map(\.payload) == ["{\"gap\":1}", "{\"seq\":21}"])
        #expect(door.actions.contains(.keep(21)))
        #expect(!door.actions.contains { if case .tell(.left) = $0 { true } else { false } })
    }
}
