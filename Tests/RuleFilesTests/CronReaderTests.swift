import Testing

@testable import RuleFiles

@Suite("Cron schedules")
struct CronReaderTests {
    private func bits(_ values: some Sequence<Int>) -> UInt64 { values.reduce(0) { $0 | 1 << $1 } }

    @Test("Lists, ranges, steps and names become sets")
    func sets() throws {
        let cron = try CronReader.schedule("*/15 6-9,20 1,15-31/8 JAN,jul-sep mon-fri")
        #expect(cron.minutes == bits([0, 15, 30, 45]))
        #expect(UInt64(cron.hours) == bits([6, 7, 8, 9, 20]))
        #expect(UInt64(cron.days) == bits([1, 15, 23, 31]))
        #expect(UInt64(cron.months) == bits([1, 7, 8, 9]))
        #expect(cron.weekdays == [.monday, .tuesday, .wednesday, .thursday, .friday])
        #expect(cron.text == "*/15 6-9,20 1,15-31/8 JAN,jul-sep mon-fri")
    }

    @Test("A star selects all values")
    func all() throws {
        let cron = try CronReader.schedule("* * * * *")
        #expect(cron.minutes == bits(0...59) && UInt64(cron.hours) == bits(0...23))
        #expect(UInt64(cron.days) == bits(1...31) && UInt64(cron.months) == bits(1...12) && cron.weekdays == .all)
    }

    @Test("A minute or an hour that begins with a star makes a wildcard schedule, as in Debian's cron")
    func wildcards() throws {
        for text in ["* * * * *", "*/15 6-9 * * *", "30 */2 * * mon", "0 * * * *", "@hourly"] {
            #expect(try CronReader.schedule(text).isWildcard, "\(text)")
        }
        for text in ["0 7 * * *", "0-59 0-23 * * *", "0,30 6-9/2 */2 * *", "@daily", "@weekly", "@yearly"] {
            #expect(try !CronReader.schedule(text).isWildcard, "\(text)")
        }
    }

    @Test("Both 0 and 7 are Sunday", arguments: ["0", "7", "sun", "7-7"])
    func sunday(field: String) throws {
        #expect(try CronReader.schedule("0 0 * * \(field)").weekdays == .sunday)
        #expect(try CronReader.schedule("0 0 * * fri-sun").weekdays == [.friday, .saturday, .sunday])
        #expect(try CronReader.schedule("0 0 * * 0-7").weekdays == .all)
        #expect(try CronReader.schedule("0 0 * * 5-7").weekdays == [.friday, .saturday, .sunday])
    }

    @Test("Both day fields must match if one begins with a star; otherwise either is enough")
    func days() throws {
        for text in ["0 0 * * mon", "0 0 */2 * mon", "0 0 1 * *", "0 0 1 * */2", "@weekly"] {
            #expect(try !CronReader.schedule(text).eitherDay, "\(text)")
        }
        for text in ["0 0 1 * mon", "0 0 1-31 * mon", "0 0 1,*/2 * 1-5"] {
            #expect(try CronReader.schedule(text).eitherDay, "\(text)")
        }
    }

    @Test("Nicknames have the meaning of crontab(5)")
    func nicknames() throws {
        let weekly = try CronReader.schedule("@weekly")
        #expect(try CronReader.schedule("@Daily").hours == 1)
        #expect(weekly.minutes == 1 && weekly.hours == 1 && weekly.weekdays == .sunday)
    }

    @Test(
        "An invalid schedule is rejected",
        arguments: [
            "", "*", "* * * * * *", "*/0 * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 13 *",
            "* * * * 8", "5-1 * * * *", "1- * * * *", "-1 * * * *", "1,,2 * * * *", "a * * * *", "1/2 * * * *",
            "*/99999999999999999999 * * * *", "1-2-3 * * * *", "* * * * fri-mon", "@reboot", "١ * * * *",
            String(repeating: "1,", count: 200) + "1 * * * *",
        ])
    func refused(text: String) {
        #expect(throws: Mistake.self) { try CronReader.schedule(text) }
    }
}
