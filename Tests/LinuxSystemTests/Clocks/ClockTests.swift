import Glibc
import ProtocolCore
import Testing

@testable import LinuxSystem

@Suite("Clocks")
struct ClockTests {
    @Test("The boot clock is monotonic and agrees with the kernel")
    func bootClock() {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        let before = Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
        let first = BootClock.now
        let second = BootClock.now
        #expect(before <= first && first <= second && second - before < .seconds(60))
    }

    @Test("The boot identifier has 16 bytes and is constant")
    func bootIdentifier() throws {
        let first = try #require(BootIdentifier.current())
        #expect(first.count == 16 && first == BootIdentifier.current())
    }

    @Test("The text of a boot identifier is parsed, and damaged text rejected")
    func identifierText() {
        let text = Array("6f1b2ab0-0102-4ff0-8A0b-00000000000e\n".utf8)
        let bytes: [UInt8] = [0x6F, 0x1B, 0x2A, 0xB0, 1, 2, 0x4F, 0xF0, 0x8A, 0x0B, 0, 0, 0, 0, 0, 0x0E]
        #expect(BootIdentifier.parse(text[...]) == bytes)
        #expect(BootIdentifier.parse(text.dropLast(2)) == nil)
        #expect(BootIdentifier.parse([]) == nil)
    }

    @Test(
        "Times are formatted as ISO 8601 in UTC",
        arguments: [
            (Int64(0), "1970-01-01T00:00:00.000Z"),
            (1_795_251_683_456_999_999, "2026-11-21T09:01:23.456Z"),
            (951_782_400_000_000_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199_999_000_000, "2024-02-29T23:59:59.999Z"),
            (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (Int64.max, "2262-04-11T23:47:16.854Z"),
            (Int64.min, "1677-09-21T00:12:43.145Z"),
        ])
    func utc(nanoseconds: Int64, text: String) {
        #expect(WallTime(nanosecondsSince1970: nanoseconds).iso8601() == text)
    }

    @Test("Times are formatted as ISO 8601 with an offset")
    func offsets() {
        let time = WallTime(nanosecondsSince1970: 1_795_251_683_456_000_000)
        #expect(time.iso8601(offset: 3600) == "2026-11-21T10:01:23.456+01:00")
        #expect(time.iso8601(offset: -34_200) == "2026-11-20T23:31:23.456-09:30")
    }

    @Test("Dates of five centuries match the C library")
    func calendar() {
        for day in stride(from: Int64(-100_000), to: 100_000, by: 17) {
            var seconds = time_t(day * 86_400)
            var broken = tm()
            gmtime_r(&seconds, &broken)
            var buffer = [CChar](repeating: 0, count: 32)
            let count = strftime(&buffer, buffer.count, "%Y-%m-%dT%H:%M:%S.000Z", &broken)
            let expected = String(decoding: buffer[..<count].map(UInt8.init), as: UTF8.self)
            #expect(WallTime(nanosecondsSince1970: day * 86_400_000_000_000).iso8601() == expected)
        }
    }

    @Test("The current time is between two readings of the C library")
    func now() {
        // time(2) is not used, because its result may be a tick behind.
        func read() -> Int64 {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
        let before = read()
        let now = WallTime.now.nanosecondsSince1970
        #expect(before <= now && now <= read())
    }

    @Test("The local offset matches the C library")
    func localOffset() {
        var seconds = time(nil)
        var local = tm()
        localtime_r(&seconds, &local)
        #expect(WallTime(nanosecondsSince1970: Int64(seconds) * 1_000_000_000).localOffset == local.tm_gmtoff)
    }

    @Test("The minute of the day is that of the zone, also before 1970 and when daylight saving time changes")
    func minuteOfDay() {
        func minute(_ second: Int64, _ offset: Int) -> Int {
            WallTime(nanosecondsSince1970: second * 1_000_000_000).minuteOfDay(offset: offset)
        }
        #expect(minute(0, 0) == 0 && minute(59, 0) == 0 && minute(60, 0) == 1 && minute(86_399, 0) == 1439)
        #expect(minute(0, -1) == 1439 && minute(-1, 0) == 1439 && minute(-86_400, 3600) == 60)
        #expect(minute(1_774_745_999, 3600) == 119, "2026-03-29 in Berlin, the last second before daylight saving time")
        #expect(minute(1_774_746_000, 7200) == 180)
        #expect(WallTime(nanosecondsSince1970: -1).secondOfMinute == 59)
        #expect(WallTime(nanosecondsSince1970: 61_999_999_999).secondOfMinute == 1)
        for extreme in [Int64.min, .max] {
            let time = WallTime(nanosecondsSince1970: extreme)
            #expect((0..<1440).contains(time.minuteOfDay(offset: 50_400)) && (0..<60).contains(time.secondOfMinute))
        }
    }
}
