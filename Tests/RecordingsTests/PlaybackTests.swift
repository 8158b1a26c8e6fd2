import ProtocolCore
import Recordings
import Testing

@Suite struct PlaybackTests {
    @Test("The power of a point holds until the next point") func aPointHoldsUntilTheNext() throws {
        let recording = try parse("1,10\n2,20\n2,21\n1000,30\n")
        #expect(
            [0, 999, 1000, 1999, 2000, 999_999, 1_000_000, 9_000_000].map { recording.deciwatts(at: $0) }
                == [100, 100, 100, 100, 210, 210, 300, 300])
    }

    @Test("The speed scales time, and playback begins at the requested position")
    func speedScalesTimeAndPlayingBeginsWhereAsked() throws {
        let recording = try parse("0,0\n10,10\n20,20\n30,30\n")
        let playback = try #require(Playback(recording, from: 5_000, speed: 10))
        let played = [0, 499, 500, 1499, 1500, 2500, 90_000].map { playback.deciwatts(after: .milliseconds($0)) }
        #expect(played == [0, 0, 100, 100, 200, 300, 300])
        #expect(playback.position(after: .milliseconds(123)) == 6_230)
        #expect(Playback(recording)?.position(after: .seconds(3)) == 3_000)
        #expect(Playback(recording, speed: 0) == nil)
        #expect(Playback(recording, speed: .nan) == nil)
        #expect(Playback(recording, speed: 10_001) == nil)
    }

    @Test("A recording with dates repeats its day") func aDayBeginsAgainWhereTheRecordingHasDates() throws {
        let recording = try parse("21/01/2012 08:00:00;100;0\n21/01/2012 20:00:00;0;0")
        let playback = try #require(Playback(recording, from: TimeOfDay.milliseconds("19:59")))
        #expect(playback.deciwatts(after: .seconds(59)) == 1000)
        #expect(playback.deciwatts(after: .seconds(60)) == 0)
        #expect(playback.deciwatts(after: .seconds(4 * 3600 + 61)) == 1000)
        #expect(playback.position(after: .seconds(86_400)) == TimeOfDay.milliseconds("19:59"))
        #expect(playback.position(after: .seconds(Int64.max)) >= 0)
        #expect(Playback(recording)?.position(after: .zero) == TimeOfDay.milliseconds("08:00:00"))
    }

    @Test("Times of day are parsed strictly") func timesOfDay() {
        #expect(TimeOfDay.milliseconds("11:14:07") == 40_447_000)
        #expect(TimeOfDay.milliseconds("00:00") == 0)
        for text in ["", "11", "24:00", "11:60", "1:00", "11:00:60", "11:00:00:00", "ab:cd", "11:", "-1:00", "+1:00"] {
            #expect(TimeOfDay.milliseconds(text) == nil, "\(text)")
        }
    }

    @Test("Calendar days are numbered since 1970") func calendarDays() {
        #expect(CalendarDay(year: 1970, month: 1, day: 1)?.number == 0)
        #expect(CalendarDay(year: 2012, month: 1, day: 21)?.number == 15_360)
        #expect(CalendarDay(year: 2000, month: 2, day: 29)?.number == 11_016)
        #expect(CalendarDay(year: 2012, month: 3, day: 1)?.number == 15_400)
        #expect(CalendarDay(year: 2011, month: 2, day: 29) == nil)
        #expect(CalendarDay(year: 2100, month: 2, day: 29) == nil)
        #expect(CalendarDay(year: 2012, month: 13, day: 1) == nil)
    }
}
