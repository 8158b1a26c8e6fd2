import Foundation
import HouseCalendar
import LinuxSystem
import PlugModel
import TestSupport
import Testing

@testable import Dashboard

@Suite struct DaemonFileTests {
    private let lamp = PlugID(rawValue: "0123456789ab")!, fan = PlugID(rawValue: "ba9876543210")!

    @Test("Rooms are stored, and a damaged file is reported and kept")
    func storing() throws {
        let folder = TestFolder()
        let store = RoomStore(directory: folder.path + "/dashboard")
        #expect(try store.read().isEmpty)
        _ = try store.assign("Küche", to: lamp)
        #expect(try store.assign("Hall", to: fan) == [lamp: "Küche", fan: "Hall"])
        #expect(try RoomStore(directory: folder.path + "/dashboard").read() == [lamp: "Küche", fan: "Hall"])
        _ = try store.assign(nil, to: lamp)
        #expect(try RoomStore(directory: folder.path + "/dashboard").read() == [fan: "Hall"])
        let damaged = Array("{\"0123456789ab\": 7}".utf8)
        try FileStore().replace(folder.path + "/rooms.json", with: damaged)
        let other = RoomStore(directory: folder.path)
        #expect(throws: DecodingError.self) { try other.assign("Hall", to: lamp) }
        #expect(try FileStore().readIfPresent(folder.path + "/rooms.json", limit: 100) == damaged)
    }

    @Test("Rooms that would not fit into the file are refused, and the file stays readable")
    func tooManyRooms() throws {
        let folder = TestFolder()
        let store = RoomStore(directory: folder.path)
        _ = try store.assign("Hall", to: lamp)
        #expect(throws: Fault.self) { try store.assign(String(repeating: "a", count: 262_144), to: fan) }
        #expect(try store.read() == [lamp: "Hall"])
        #expect(try RoomStore(directory: folder.path).read() == [lamp: "Hall"])
    }

    @Test("The order is stored, and a damaged file is reported and kept")
    func storingTheOrder() throws {
        let folder = TestFolder()
        let store = OrderStore(directory: folder.path + "/dashboard")
        #expect(try store.read().isEmpty)
        try store.arrange([fan, lamp])
        #expect(try store.read() == [fan, lamp])
        #expect(try OrderStore(directory: folder.path + "/dashboard").read() == [fan, lamp])
        let damaged = Array("{}".utf8)
        try FileStore().replace(folder.path + "/order.json", with: damaged)
        #expect(throws: DecodingError.self) { try OrderStore(directory: folder.path).arrange([lamp]) }
        #expect(try FileStore().readIfPresent(folder.path + "/order.json", limit: 100) == damaged)
    }

    @Test("A plug of the order gets its place, also if it appears later")
    func arranging() {
        var board = HouseBoard()
        #expect(board.setOrder([lamp, fan]).isEmpty)
        _ = board.begin(paired: [lamp: "Lamp", fan: "Fan"], reported: [:])
        #expect(board.records.map(\.place) == [1, 0])
        #expect(board.setOrder([fan, lamp]).count == 2 && board.setOrder([fan, lamp]).isEmpty)
        #expect(board.setOrder([fan]).count == 1)
        #expect(board.records.map(\.place) == [0, nil])
    }

    @Test("A restarted daemon does not repeat a notification of the budget")
    func notifications() throws {
        let begin = 1_793_491_200
        let month = try #require(CalendarPeriod.all(.month, from: begin, to: begin + 1, zone: .utc)?.first)
        let quarter = try #require(CalendarPeriod.all(.quarter, from: begin, to: begin + 1, zone: .utc)?.first)
        let use = try #require(
            BudgetUse(
                .energy(kilowattHours: 1), in: month, until: begin + 900, [.init(quarter, milliwattHours: 2e6)],
                tariff: nil, zone: .utc))
        let folder = TestFolder()
        let path = folder.path + "/dashboard/budget.json"
        func notices() -> JSONFile<BudgetNotices> { JSONFile(path, empty: BudgetNotices()) }
        #expect(try notices().change { $0.handle(use) } == .usedUp)
        #expect(try notices().change { $0.handle(use) } == nil)
        try notices().change { $0.withdraw(.usedUp) }
        #expect(try notices().change { $0.handle(use) } == .usedUp)
    }

    @Test("A change of the rooms changes only the plugs that moved")
    func moving() {
        var board = HouseBoard()
        _ = board.begin(paired: [lamp: "Lamp", fan: "Fan"], reported: [:])
        #expect(board.setRooms([lamp: "Hall"]).count == 1)
        #expect(board.records.map(\.room) == [nil, "Hall"])
        #expect(board.setRooms([lamp: "Hall"]).isEmpty)
        #expect(board.setRooms([fan: "Attic"]).count == 2)
        #expect(board.records.map(\.room) == ["Attic", nil])
    }
}
