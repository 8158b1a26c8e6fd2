import Foundation
import LinuxSystem
import PlugModel
import TestSupport
import Testing

@testable import Dashboard

@Suite struct RoomTests {
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
