import HomeKit
import Metering
import PlugModel
import ProtocolCore
import Testing

@testable import HomeKitDoor

@Suite struct PlugAccessoryTests {
    private static let plug = PlugID(rawValue: "00000000000a")!
    private static let all: Set<Capability> = [.relay, .dimmer, .meter, .button]
    private let outlet = PlugAccessory(plug, .outlet, capabilities: [.relay, .meter, .button], firmware: "0.1.0")
    private let bulb = PlugAccessory(plug, .lightbulb, capabilities: all, firmware: "0.1.0")

    @Test("Instance ids are unique, and no id is in the primary services of both an outlet and a lightbulb")
    func instanceIDsAreDifferentAndStay() throws {
        for accessory in [outlet, bulb] {
            let services = try #require(accessory.accessories.first).services
            let ids = services.flatMap { [$0.instance] + $0.characteristics.map(\.instance) }
            #expect(Set(ids).count == ids.count)
        }
        // A controller that has cached the outlet must not mistake a lightbulb's characteristic for one of the outlet.
        let own = { (accessory: PlugAccessory) in
            Set(accessory.accessories[0].services.filter(\.isPrimary).flatMap { $0.characteristics.map(\.instance) })
        }
        #expect(own(outlet).isDisjoint(with: own(bulb)))
    }

    @Test("A plug state is converted to characteristic values") func aStateBecomesValues() {
        let reading = Reading(
            time: .zero, deciwatts: 425, decivolts: 2301, milliamperes: 190, milliwattHours: 1_234_567)
        let values = outlet.values(PlugState(relayOn: true, reading: reading), name: "Kettle")
        #expect(values[CharacteristicKey(1, 33)] == .boolean(true))
        #expect(values[CharacteristicKey(1, 34)] == .boolean(true))
        #expect(values[CharacteristicKey(1, 40)] == .number(42.5))
        #expect(values[CharacteristicKey(1, 41)] == .number(1.235))
        #expect(values[CharacteristicKey(1, 42)] == .number(230.1))
        #expect(values[CharacteristicKey(1, 43)] == .number(0.19))
        #expect(values[CharacteristicKey(1, 5)] == .text("Kettle"))
        let idle = Reading(time: .zero, deciwatts: 4, milliwattHours: 0)
        #expect(
            outlet.values(PlugState(relayOn: true, reading: idle), name: "")[CharacteristicKey(1, 34)]
                == .boolean(false))
        let dimmed = bulb.values(PlugState(relayOn: false, level: DimLevel(permille: 335)), name: "")
        #expect(dimmed[CharacteristicKey(1, 50)] == .whole(34))
        #expect(dimmed[CharacteristicKey(1, 49)] == .boolean(false))
    }
}
