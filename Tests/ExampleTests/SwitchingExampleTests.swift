import PlugModel
import Testing

@Suite("Examples that switch plugs")
struct SwitchingExampleTests {
    private func livingRoom(lightOn: Bool) throws -> ExampleHouse {
        var house = try ExampleHouse("television.yaml")
        house.add("Television", on: true)
        house.add("Amplifier", on: false)
        house.add("Ceiling Light", on: lightOn)
        house.draws("Television", 1.2, from: 1, to: 20)
        return house
    }

    @Test("Turning the television on turns the light off and the amplifier on; turning it off restores both")
    func television() throws {
        var house = try livingRoom(lightOn: true)
        house.draws("Television", 130, from: 20, to: 60)
        #expect(house.log == ["23 Movie night", "23 Ceiling Light off", "23 Amplifier on"])
        house.draws("Television", 1.2, from: 60, to: 100)
        #expect(
            house.log.dropFirst(3).map { $0 } == ["70 Movie over", "70 Ceiling Light on", "70 Amplifier off"])
    }

    @Test("A light that was off stays off, and a light that the user switched stays as it is")
    func lightIsLeftAlone() throws {
        var dark = try livingRoom(lightOn: false)
        dark.draws("Television", 130, from: 20, to: 60)
        dark.draws("Television", 1.2, from: 60, to: 100)
        #expect(dark.on["Ceiling Light"] == false && dark.on["Amplifier"] == false)
        var touched = try livingRoom(lightOn: true)
        touched.draws("Television", 130, from: 20, to: 60)
        touched.switches("Ceiling Light", on: true, at: 60)
        touched.switches("Ceiling Light", on: false, at: 61)
        touched.draws("Television", 1.2, from: 62, to: 100)
        #expect(touched.on["Ceiling Light"] == false && touched.on["Amplifier"] == false)
    }

    @Test("An amplifier that plays music stays on after a short power peak of the television, and after a movie")
    func music() throws {
        var house = try livingRoom(lightOn: true)
        house.switches("Amplifier", on: true, at: 20)
        house.draws("Television", 90, from: 21, to: 23)
        house.draws("Television", 1.2, from: 23, to: 60)
        #expect(house.on["Amplifier"] == true && house.on["Ceiling Light"] == true)
        house.draws("Television", 130, from: 60, to: 90)
        #expect(house.on["Ceiling Light"] == false)
        house.draws("Television", 1.2, from: 90, to: 120)
        #expect(house.on["Amplifier"] == true && house.on["Ceiling Light"] == true)
    }

    @Test("A short power peak and a short dark scene do not fire the rules")
    func shortOnes() throws {
        var house = try livingRoom(lightOn: true)
        house.draws("Television", 90, from: 20, to: 22)
        house.draws("Television", 1.2, from: 22, to: 40)
        #expect(house.log.filter { $0.hasSuffix("Movie night") } == [] && house.on["Ceiling Light"] == true)
        house.draws("Television", 130, from: 40, to: 60)
        house.draws("Television", 18, from: 60, to: 66)
        house.draws("Television", 130, from: 66, to: 90)
        #expect(house.log.suffix(6).filter { $0.hasSuffix("Movie over") } == [] && house.on["Amplifier"] == true)
        house.draws("Television", 1.2, from: 90, to: 110)
        #expect(house.on["Ceiling Light"] == true, "the light must be on after the film")
    }

    @Test("Standby is ended once after half an hour; a television that is off or in use is not switched")
    func standby() throws {
        var house = try ExampleHouse("standby.yaml")
        house.add("Television", on: true)
        house.draws("Television", 120, from: 1, to: 100)
        house.draws("Television", 1.2, from: 100, to: 1800)
        house.draws("Television", 120, from: 1800, to: 1900)
        #expect(house.log == [], "a television that was watched again within half an hour must stay on")
        house.draws("Television", 1.2, from: 1900, to: 3800)
        house.draws("Television", 0, from: 3800, to: 9000)
        #expect(house.log == ["3700 Standby killer", "3700 Television off"])
    }

    @Test("Standby is also ended if the television drew 0 W before")
    func standbyFromNothing() throws {
        var house = try ExampleHouse("standby.yaml")
        house.add("Television", on: true)
        house.draws("Television", 0, from: 1, to: 100)
        house.draws("Television", 3, from: 100, to: 2000)
        #expect(house.log == ["1900 Standby killer", "1900 Television off"])
    }

    @Test("The bathroom fan runs for 15 minutes after a double press, and stops after a long press")
    func fan() throws {
        var house = try ExampleHouse("bathroom-fan.yaml")
        house.add("Bathroom Light", on: true)
        house.add("Bathroom Fan", on: false)
        house.presses("Bathroom Light", .single, at: 10)
        house.presses("Bathroom Light", .double, at: 20)
        house.presses("Bathroom Light", .long, at: 30)
        #expect(
            house.log == [
                "20 Fan by the button", "20 Bathroom Fan on for 900 s", "30 Fan off", "30 Bathroom Fan off",
            ])
    }

    @Test("The wake-up light turns on on weekdays and off after 90 minutes")
    func wakeUp() throws {
        var house = try ExampleHouse("wake-up-light.yaml")
        house.add("Bedroom Lamp", on: false, dimmer: DimLevel(permille: 500))
        house.run(to: 7 * 86_400 - 1)
        let due = 23_400
        let expected = (0..<5).flatMap { day in
            let second = day * 86_400 + due
            return [
                "\(second) Wake-up light", "\(second) Bedroom Lamp 1000 over 1200 s",
                "\(second + 5400) Bedroom Lamp off",
            ]
        }
        #expect(house.log == expected)
    }

    @Test("The wake-up light does not change a lamp that is on")
    func awake() throws {
        var house = try ExampleHouse("wake-up-light.yaml")
        house.add("Bedroom Lamp", on: false, dimmer: DimLevel(permille: 500))
        house.switches("Bedroom Lamp", on: true, at: 23_000)
        house.run(to: 80_000)
        #expect(house.log == [] && house.on["Bedroom Lamp"] == true)
    }

    @Test("The amplifier's button toggles the light, and dims it in the evening")
    func buttonLight() throws {
        var house = try ExampleHouse("button-light.yaml")
        house.add("Amplifier", on: true)
        house.add("Ceiling Light", on: false, dimmer: DimLevel(permille: 1000))
        house.presses("Amplifier", .double, at: 36_000)
        house.presses("Amplifier", .long, at: 36_010)
        house.presses("Amplifier", .double, at: 36_020)
        house.presses("Amplifier", .long, at: 64_800)
        #expect(
            house.log == [
                "36000 Light by the button", "36000 Ceiling Light on", "36020 Light by the button",
                "36020 Ceiling Light off", "64800 Soft light in the evening", "64800 Ceiling Light 300 over 2 s",
            ])
    }
}
