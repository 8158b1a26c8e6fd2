import LinuxSystem
import PlugClient
import PlugModel
import TestSupport
import Testing

@testable import Daemon

/// A daemon that crashes twice within a minute on data of one plug excludes the plug.
@Suite struct QuarantineTests {
    private let heater = PlugID(rawValue: "aaaaaaaaaaaa")!
    private let lamp = PlugID(rawValue: "bbbbbbbbbbbb")!
    private let hour: Int64 = 3600

    @Test("Two crashes within a minute exclude the plug for an hour") func twoDeathsWithinAMinuteAreThePlugs() {
        var quarantine = Quarantine()
        #expect(quarantine.died(with: heater, at: 1000) == false)
        #expect(quarantine.until(heater, now: 1000) == nil)
        #expect(quarantine.died(with: heater, at: 1060) == true)
        #expect(quarantine.until(heater, now: 1060) == 1060 + hour)
        #expect(quarantine.until(heater, now: 1060 + hour - 1) != nil)
        #expect(quarantine.until(heater, now: 1060 + hour) == nil)
        #expect(quarantine.until(lamp, now: 1060) == nil)
    }

    @Test("Crashes that are more than a minute apart or of different plugs exclude no plug")
    func deathsThatAreFurtherApartOrOfDifferentPlugsAreNobodys() {
        var quarantine = Quarantine()
        for time in stride(from: Int64(0), to: 1000, by: 61) {
            #expect(quarantine.died(with: heater, at: time) == false)
            // A crash of a different plug in between has no effect.
            #expect(quarantine.died(with: lamp, at: time + 1) == false)
        }
        #expect(quarantine.died(with: lamp, at: 1000) == true)
        #expect(quarantine.until(heater, now: 1000) == nil)
    }

    @Test("Each further exclusion is twice as long, up to a day") func eachFurtherTimeIsTwiceAsLongAndADayAtMost() {
        var quarantine = Quarantine()
        var time: Int64 = 1000
        _ = quarantine.died(with: heater, at: time)
        for hours in [1, 2, 4, 8, 16, 24, 24, 24] as [Int64] {
            time += 30
            #expect(quarantine.died(with: heater, at: time) == true)
            #expect(quarantine.until(heater, now: time) == time + hours * hour)
        }
        // After a week without a crash, the plug has no entry.
        time += 8 * 24 * hour
        #expect(quarantine.died(with: heater, at: time) == false)
        #expect(quarantine.died(with: heater, at: time + 1) == true)
        #expect(quarantine.until(heater, now: time + 1) == time + 1 + hour)
    }

    @Test("Lifting the quarantine removes the entry") func aPersonLiftsIt() {
        var quarantine = Quarantine()
        _ = quarantine.died(with: heater, at: 1000)
        _ = quarantine.died(with: heater, at: 1001)
        #expect(quarantine.lift(heater) == true)
        #expect(quarantine.until(heater, now: 1002) == nil)
        #expect(quarantine.lift(heater) == false)
        // The next crash counts as the first one.
        #expect(quarantine.died(with: heater, at: 1010) == false)
    }

    @Test("Pairing a plug again with a new key ends its quarantine; its announced next key does not")
    func newKeyEndsQuarantine() throws {
        let disk = TestFolder()
        let key = { (byte: UInt8) in try #require(PublicKey(bytes: [byte, byte])) }
        let paired = PairedPlugs(directory: disk.path)
        let file = QuarantineFile(disk.path, paired: paired)
        let before = PairedPlugs.Entry(id: heater, key: try key(1), nextKey: try key(2), name: "Heater")
        let fingerprints = QuarantineFile.fingerprints(of: before)
        var quarantine = Quarantine()
        _ = quarantine.died(with: heater, keys: fingerprints, at: 1000)
        #expect(quarantine.died(with: heater, keys: fingerprints, at: 1001) == true)
        #expect(Quarantine(text: quarantine.text) == quarantine)
        let rotated = QuarantineFile.fingerprints(of: PairedPlugs.Entry(id: heater, key: try key(2), name: "Heater"))
        let reset = QuarantineFile.fingerprints(of: PairedPlugs.Entry(id: heater, key: try key(3), name: "Heater"))
        #expect(quarantine.until(heater, keys: fingerprints, now: 1002) != nil)
        #expect(quarantine.until(heater, keys: rotated, now: 1002) != nil)
        #expect(quarantine.until(heater, keys: reset, now: 1002) == nil)
        // A crash with unknown keys does not end the exclusion.
        #expect(quarantine.died(with: heater, at: 1003) == true)
        // The first crash with the new key starts the count of crashes again.
        _ = quarantine.died(with: heater, keys: fingerprints, at: 1004)
        #expect(quarantine.died(with: heater, keys: reset, at: 1005) == false)
        // An entry that an earlier version of the daemon wrote applies to every key.
        let old = Quarantine(text: "aaaaaaaaaaaa 1000 1 4600\n")
        #expect(old.until(heater, keys: reset, now: 1002) == 4600)
        #expect(try file.read() == Quarantine())
    }

    @Test("The next process records the keys of the plug whose data caused the crash")
    func deathRecordsKeys() async throws {
        let disk = TestFolder()
        let paired = PairedPlugs(directory: disk.path)
        let key = try #require(PublicKey(bytes: [1, 1]))
        let entry = PairedPlugs.Entry(id: heater, key: key, name: "Heater")
        try await paired.add(entry)
        let file = QuarantineFile(disk.path, paired: paired)
        try FileStore().replace(disk.path + "/died", with: Array("11 aaaaaaaaaaaa 1000\n".utf8))
        _ = try file.take()
        #expect(try file.read().entries.map(\.keys) == [QuarantineFile.fingerprints(of: entry)])
    }

    @Test("A clock that is set back ends an exclusion instead of extending it")
    func aClockThatIsSetBackKeepsNobodyAwayForLong() {
        var quarantine = Quarantine()
        _ = quarantine.died(with: heater, at: 1_800_000_000)
        _ = quarantine.died(with: heater, at: 1_800_000_001)
        #expect(quarantine.until(heater, now: 1_000_000_000) == nil)
        #expect(quarantine.died(with: heater, at: 1_000_000_000) == false)
        #expect(quarantine.died(with: heater, at: .max) == false)
        #expect(quarantine.died(with: heater, at: -1) == false)
    }

    @Test("Quarantine text is read back unchanged, and damaged lines are skipped")
    func textComesBackAndDamagedLinesAreLeftOut() {
        var quarantine = Quarantine()
        for number in 0..<200 {
            _ = quarantine.died(with: PlugID(rawValue: "00000000\(1000 + number)")!, at: Int64(number))
        }
        _ = quarantine.died(with: heater, at: 200)
        _ = quarantine.died(with: heater, at: 200)
        #expect(quarantine.entries.count == 64)
        #expect(Quarantine(text: quarantine.text) == quarantine)
        let damaged = """
            aaaaaaaaaaaa 1 1 99999999999999999999
            aaaaaaaaaaaa 1 1 9223372036854775807
            aaaaaaaaaaaa -5 1 10
            aaaaaaaaaaaa 1 9223372036854775807 10
            heater 1 1 10
            aaaaaaaaaaaa 1 1

            bbbbbbbbbbbb 7 1 3607
            bbbbbbbbbbbb 8 1 3608

            """
        #expect(Quarantine(text: damaged).entries == [.init(plug: lamp, died: 7, times: 1, until: 3607)])
    }

    @Test(
        "The record of a crash is evaluated by the next process", arguments: ["11 aaaaaaaaaaaa 1000\n", "11 - 1000\n"])
    func whatADeadProcessLeftIsTakenOnce(line: String) throws {
        let disk = TestFolder()
        let file = QuarantineFile(disk.path)
        try FileStore().replace(disk.path + "/died", with: Array(line.utf8))
        let death = try #require(try QuarantineFile(disk.path).take())
        #expect(death.signal == 11 && death.time == 1000 && !death.isKeptAway)
        #expect(death.plug == (line.contains("-") ? nil : heater))
        #expect(try file.read().entries.map(\.plug) == (line.contains("-") ? [] : [heater]))
        try FileStore().replace(disk.path + "/died", with: Array("4 aaaaaaaaaaaa 1030\n".utf8))
        let next = try #require(try file.take())
        #expect(next.isKeptAway != line.contains("-"))
        #expect(next.words.contains("is disabled") == next.isKeptAway && next.words.contains("hint: "))
    }

    @Test("An empty or invalid record is not a crash") func nothingOrNonsenseIsNoDeath() throws {
        let disk = TestFolder()
        #expect(try QuarantineFile(disk.path).take() == nil)
        for line in ["", "x y z", "11 heater 1", "11 aaaaaaaaaaaa", "99999999999 - 1"] {
            try FileStore().replace(disk.path + "/died", with: Array(line.utf8))
            #expect(try QuarantineFile(disk.path).take() == nil)
        }
    }

    @Test("The reason contains the command that lifts the quarantine") func theReasonNamesTheCommandThatLiftsIt() {
        #expect(QuarantineFile.words(minutes: 1, heater).contains("for a minute because"))
        #expect(QuarantineFile.words(minutes: 59, heater).contains("for 59 minutes because"))
        #expect(QuarantineFile.words(minutes: 121, heater).contains("for 3 hours because"))
        #expect(QuarantineFile.words(minutes: 1, heater).contains("plugctl daemon quarantine --lift aaaaaaaaaaaa"))
    }
}
