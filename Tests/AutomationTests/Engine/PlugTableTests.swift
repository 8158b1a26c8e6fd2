import PlugModel
import ProtocolCore
import Testing

@testable import Automation

@Suite struct PlugTableTests {
    private static func table(_ names: String...) -> PlugTable {
        var plugs = PlugTable()
        for name in names { _ = plugs.appear(name, PlugState(relayOn: false), boot: .first, id: nil) }
        return plugs
    }

    @Test("A name finds the plug with exactly this name, or else the only plug whose name differs only in capitals")
    func finds() {
        let plugs = Self.table("Lamp", "FAN", "Fan")
        #expect(plugs.find("lamp") == .plug(0) && plugs.find("Fan") == .plug(2))
        #expect(plugs.find("fan") == .ambiguous(["FAN", "Fan"]) && plugs.find("Radio") == .notPresent)
    }

    @Test("A lost plug is not found, and keeps its index when it appears again")
    func returns() {
        var plugs = Self.table("Lamp", "Fan")
        plugs.lose(0)
        #expect(plugs.find("Lamp") == .notPresent && plugs.index(of: "Lamp") == 0)
        #expect(plugs.appear("Lamp", PlugState(relayOn: true), boot: .first, id: nil) == 0)
        #expect(plugs.find("Lamp") == .plug(0) && plugs[0].relayOn)
    }

    @Test("An event number is new if it is higher than all earlier ones of the same boot")
    func news() {
        var plugs = Self.table("Lamp")
        var isNews = [plugs.isNews(5, from: 0), plugs.isNews(5, from: 0), plugs.isNews(4, from: 0)]
        _ = plugs.appear("Lamp", PlugState(relayOn: false), boot: .second, id: nil)
        isNews.append(plugs.isNews(4, from: 0))
        #expect(isNews == [true, false, false, true])
    }

    @Test("A sent command sets the expected state until it is answered")
    func expects() {
        var plugs = Self.table("Lamp")
        plugs.expect(CommandRequest(key: 1, plug: "Lamp", command: .setRelay(on: true, autoOff: nil)), at: 0)
        #expect(plugs[0].expectedOn && !plugs[0].relayOn && plugs[0].isOurs(1) && !plugs[0].isOurs(2))
        plugs.answered(1, at: 0)
        #expect(!plugs[0].expectedOn)
        let turnedOn = [plugs.set(on: true, level: nil, at: 0), plugs.set(on: true, level: nil, at: 0)]
        #expect(turnedOn == [true, false] && plugs[0].expectedOn)
    }

    @Test("Binding the same names again changes nothing")
    func bound() {
        var plugs = Self.table("Lamp")
        let id = PlugID(rawValue: "aaaaaaaaaaaa")!
        let changes = (0..<2).map { _ in plugs.bind(["Light": id], paired: PairedNames()) }
        #expect(changes == [true, false] && plugs.bound == ["Light": id])
    }
}
