import Glibc
import Testing

@testable import LinuxDevices

@Suite struct LineCatalogueTests {
    private let board = LineCatalogue(chips: [
        .init(
            name: "gpiochip0", label: "pinctrl-bcm2711",
            lines: [
                .init(name: "ID_SDA"), .init(name: "GPIO17"), .init(name: "RELAY", consumer: "fan", isUsed: true),
                .init(), .init(name: "DOUBLE"), .init(consumer: "plugd relay", isUsed: true), .init(isUsed: true),
            ]),
        .init(name: "gpiochip1", label: "expander", lines: [.init(name: "SPARE"), .init(name: "DOUBLE")]),
        .init(name: "gpiochip2", label: "expander", lines: [.init()]),
    ])

    private func reason(_ place: LinePlace) -> String? {
        do {
            _ = try board.find(place)
            return nil
        } catch {
            return error.description
        }
    }

    @Test("A line is found by its name") func aLineIsFoundByItsName() throws {
        let found = try board.find(.named("GPIO17"))
        #expect(found.key == LineKey(chip: "gpiochip0", offset: 1))
        #expect(try board.find(.named("SPARE")).key == LineKey(chip: "gpiochip1", offset: 0))
    }

    @Test("A line is found by its offset on a chip", arguments: ["gpiochip0", "/dev/gpiochip0", "pinctrl-bcm2711"])
    func aLineIsFoundByItsPlaceOnAChip(chip: String) throws {
        #expect(try board.find(.chip(chip, offset: 3)).key == LineKey(chip: "gpiochip0", offset: 3))
    }

    @Test("An unknown name is reported with the nearest one") func aNameThatIsNotThereIsToldWithTheNearest() {
        #expect(reason(.named("GPIO71")) == "no line has the name GPIO71: did you mean GPIO17?")
        #expect(reason(.named("Coffee")) == "no line has the name Coffee: gpioinfo lists all lines")
    }

    /// The catalogue has an empty name for each line without a name.
    @Test("An empty name matches no line") func noLineIsFoundByAnEmptyName() {
        #expect(reason(.named("")) != nil)
    }

    @Test("An ambiguous name is reported with both places") func aNameThatIsThereTwiceIsToldWithBothPlaces() {
        #expect(
            reason(.named("DOUBLE"))
                == "line 4 of gpiochip0 and line 1 of gpiochip1 are both named DOUBLE: use chip and offset instead of the name"
        )
    }

    @Test("An unknown chip is reported with the known ones") func aChipThatIsNotThereIsToldWithThoseThatAre() {
        #expect(
            reason(.chip("gpiochip9", offset: 0))
                == "there is no GPIO chip gpiochip9: the chips are gpiochip0 (pinctrl-bcm2711), gpiochip1 (expander), "
                + "gpiochip2 (expander)")
        #expect(
            reason(.chip("expander", offset: 0))
                == "gpiochip1 and gpiochip2 both have the label expander: use the chip's name instead")
    }

    @Test("An offset beyond the chip is reported") func anOffsetBeyondTheChipIsTold() {
        #expect(
            reason(.chip("gpiochip1", offset: 2))
                == "gpiochip1 (expander) has 2 lines, counted from 0, so line 2 does not exist: gpioinfo lists them")
    }

    @Test("A line in use is reported with its user") func aLineInUseNamesWhoHoldsIt() throws {
        func holder(_ offset: UInt32) -> String? {
            do {
                try board.find(.chip("gpiochip0", offset: offset)).checkFree()
                return nil
            } catch {
                return "\(error)"
            }
        }
        #expect(holder(1) == nil)
        #expect(
            holder(2)
                == "line 2 of gpiochip0 is in use by \"fan\": stop it, remove it from the board's overlays, or choose a different line"
        )
        #expect(try #require(holder(5)).contains("\"plugd relay\": another plugd is running"))
        #expect(try #require(holder(6)).contains("in use by the kernel"))
    }

    @Test("A board without chips is reported") func aBoardWithoutChipsIsTold() {
        #expect(throws: LineCatalogue.Unknown.self) { try LineCatalogue(chips: []).find(.named("GPIO17")) }
        let closed = LineCatalogue(chips: [], unopened: [("/dev/gpiochip0", EACCES)])
        do {
            _ = try closed.find(.named("GPIO17"))
            Issue.record("a line was found on a chip that could not be opened")
        } catch {
            #expect(
                error.description
                    == "/dev/gpiochip0 cannot be opened: permission denied: add plugd's user to the group gpio, or let a udev "
                    + "rule give /dev/gpiochip* to a group of this user")
        }
    }

    @Test("A missing libgpiod is reported with the package to install")
    func aBoardWithoutLibgpiodIsToldWhichPackageItLacks() throws {
        let closed = LineCatalogue(chips: [], unopened: [("/dev/gpiochip0", ELIBACC)])
        let error = #expect(throws: LineCatalogue.Unknown.self) { try closed.find(.named("GPIO17")) }
        #expect(
            try #require(error).description
                == "/dev/gpiochip0 cannot be opened: plugd needs libgpiod for GPIO lines, but neither libgpiod.so.3 "
                + "nor libgpiod.so.2 can be loaded: install the package libgpiod3 or libgpiod2")
    }

    @Test("The error for an unknown name lists the chips that could not be opened")
    func aNameThatMayBeOnAChipThatCouldNotBeOpenedIsToldSo() throws {
        var board = board
        board.unopened = [("/dev/gpiochip3", EACCES)]
        let error = #expect(throws: LineCatalogue.Unknown.self) { try board.find(.named("LAMP")) }
        #expect(try #require(error).description.contains("/dev/gpiochip3 could not be read: permission denied"))
    }

    @Test("A line can be claimed for only one part") func oneLineIsOpenedForOnePartOnly() throws {
        let found = try board.find(.named("GPIO17"))
        let relay = try LineClaim(found, for: "relay")
        let error = #expect(throws: LineCatalogue.Unknown.self) { try LineClaim(found, for: "light") }
        #expect(
            try #require(error).description
                == "this plug's relay already uses line 1 of gpiochip0: choose a different line")
        withExtendedLifetime(relay) {}
    }

    @Test("A released line can be claimed again") func aLineThatWasLetGoOfMayBeOpenedAgain() throws {
        let found = try board.find(.named("ID_SDA"))
        withExtendedLifetime(try LineClaim(found, for: "relay")) {}
        withExtendedLifetime(try LineClaim(found, for: "light")) {}
    }
}
