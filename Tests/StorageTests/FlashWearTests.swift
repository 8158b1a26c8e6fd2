import LinuxSystem
import PlugModel
import ProtocolCore
import Testing

@testable import Storage

@Suite struct FlashWearTests {
    /// A day with 100 commands and 300 presses that switch. They are evenly distributed, so that every command and
    /// every press causes its own write of the file `state`.
    @Test("A day with 400 switches writes 12 to 12.6 kB to flash") func aBusyDayWritesTheseBytesToFlash() throws {
        let directories = Directories()
        try directories.pairDesk()
        let disk = SelectiveDisk()
        var plug = try StoredPlug(in: directories, files: FileStore(calls: disk))
        disk.count(directories.state + "/")
        let day = plug.now + .seconds(86_400)
        var number = 0
        while plug.now < day {
            number += 1
            if number.isMultiple(of: 4) { plug.command(number) } else { plug.press() }
            plug.run(for: .seconds(216 * Int64(number)) - (plug.now - .zero))
        }
        #expect(number == 400)
        #expect(plug.next == 2 + 400 + 300)
        let counts = disk.counts
        #expect(counts.filesReplaced == 401)
        #expect((12_000...12_600).contains(counts.bytesWritten))
    }

    /// Full load all day: the energy is written every 0.1 kWh.
    @Test("A day of full load writes 29 to 31 kB to flash") func theDayOfAFullLoadWritesTheseBytesToFlash() throws {
        let directories = Directories()
        let disk = SelectiveDisk()
        var plug = try StoredPlug(in: directories, files: FileStore(calls: disk))
        plug.load = 36_800
        plug.press()
        plug.run(for: .seconds(3600))
        disk.count(directories.state + "/")
        plug.run(for: .seconds(86_400))
        let counts = disk.counts
        #expect((878...884).contains(counts.filesReplaced))
        #expect((29_000...31_000).contains(counts.bytesWritten))
    }

    @Test("On a quiet day the energy is written once per hour") func aQuietDayWritesTheEnergyEveryHour() throws {
        let directories = Directories()
        let disk = SelectiveDisk()
        var plug = try StoredPlug(in: directories, files: FileStore(calls: disk))
        plug.press()
        plug.run(for: .seconds(3600))
        disk.count(directories.state + "/")
        plug.run(for: .seconds(86_400))
        let counts = disk.counts
        #expect(counts.filesReplaced == 24)
        #expect(counts.bytesWritten == 734, "each of the 24 writes has two lines such as \"on 1000 144000\"")
    }
}
