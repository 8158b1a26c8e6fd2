import ServiceDiscovery
import Testing

import LinuxSystem

@testable import LinuxNetwork

@Suite("Changes for a slow reader")
struct PendingChangesTests {
    private let lamp = ServiceIdentity(name: "Lamp", type: "_smartplug._tcp", interface: 2)
    private let kettle = ServiceIdentity(name: "Kettle", type: "_smartplug._tcp", interface: 2)

    private func sum(_ changes: [ServiceChange]) -> [ServiceChange] {
        var pending = PendingChanges()
        for change in changes { pending.add(change) }
        var taken: [ServiceChange] = []
        while let change = pending.popFirst() { taken.append(change) }
        return taken
    }

    @Test("Unread changes are merged per service, and the services are in the order of their first unread change")
    func sums() throws {
        let txt = try TXTRecord(["id": "1"])
        let newer = try TXTRecord(["id": "2"])
        #expect(
            sum([.found(lamp, txt: txt), .found(kettle, txt: nil)]) == [
                .found(lamp, txt: txt), .found(kettle, txt: nil),
            ])
        #expect(sum([.found(lamp, txt: nil), .changed(lamp, txt: txt)]) == [.found(lamp, txt: txt)])
        #expect(sum([.found(lamp, txt: nil), .found(kettle, txt: nil), .lost(lamp)]) == [.found(kettle, txt: nil)])
        #expect(sum([.changed(lamp, txt: txt), .changed(lamp, txt: newer)]) == [.changed(lamp, txt: newer)])
        #expect(sum([.changed(lamp, txt: txt), .lost(lamp)]) == [.lost(lamp)])
        #expect(sum([.lost(lamp), .found(lamp, txt: newer)]) == [.changed(lamp, txt: newer)])
    }

    @Test("A service that appears and disappears repeatedly uses no memory")
    func bounded() {
        var pending = PendingChanges()
        for _ in 0..<10_000 {
            pending.add(.found(lamp, txt: nil))
            pending.add(.lost(lamp))
        }
        #expect(pending.isEmpty && pending.popFirst() == nil)
    }
}
