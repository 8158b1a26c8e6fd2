import ArgumentParser
import DurableFiles
import LinuxClocks
import LocalCalendar
import PlugModel
import PowerHistory
import Presentation
import Recordings
import Terminal

extension History {
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Put recordings of an appliance into the history.",
            discussion: """
                A recording is CSV, plain or xz: `dd/mm/yyyy HH:MM:SS;watts` in local time, or `seconds,watts` since its \
                beginning, which --start then names. It is added to the plug of that name, or to a new one that only \
                recordings know. What is there already stays as it is, so a file may be imported again.

                Examples:
                  plugctl history import Refrigerator_2011.12.01.csv.xz --plug Refrigerator
                  plugctl history import kettle.csv --plug Kettle --start "2026-11-20T07:30"
                """)

        @Argument(help: "Recordings.", completion: .file(extensions: ["csv", "xz"]))
        var files: [String]
        @Option(help: "The plug's name.")
        var plug: String
        @Option(help: "When a recording without dates began, in local time: 2026-11-20, 2026-11-20T07:30.")
        var start: Moment?
        @OptionGroup var options: HistoryOptions

        func validate() throws {
            guard !files.isEmpty else { throw ValidationError("name at least one recording") }
            guard (1...63).contains(plug.utf8.count) else { throw ValidationError("--plug has 1 to 63 bytes of UTF-8") }
        }

        func run() async throws {
            try await saying {
                let history = try options.open(.writer)
                for file in files { try add(file, to: history) }
            }
        }

        private func add(_ file: String, to history: PowerHistory) throws {
            let recording = try read(file)
            let known = try plug(in: history)
            let midnight = recording.day.map { $0.number * 86_400 } ?? 0
            let last = Int(recording.points[recording.points.count - 1].milliseconds / 1000)
            let zone = ZoneOffsets.local(from: midnight - 2 * 86_400, to: midnight + last + 2 * 86_400)
            guard let recorded = RecordedHistory(recording, of: known.id, start: start?.milliseconds, zone: zone) else {
                throw Complaint(
                    "\(file) has no dates\nhint: say when it began: --start 2026-11-20T07:30")
            }
            try checkAge(of: recorded, beside: known, file)
            var progress = ProgressLine("\(file)")
            for (index, var batch) in recorded.batches.enumerated() {
                batch.names[known.id] = known.title
                do throws(HistoryError) { try history.record(batch) } catch { throw Complaint(error) }
                progress.show(index + 1, of: recorded.batches.count)
            }
            progress.clear()
            let from = WallTime(nanosecondsSince1970: recorded.span.lowerBound * 1_000_000)
            let to = WallTime(nanosecondsSince1970: recorded.span.upperBound * 1_000_000)
            Output.safeLine(
                "\(file): \(recorded.count) samples of \(known.title), \(from.iso8601(offset: from.localOffset)) to "
                    + "\(to.iso8601(offset: to.localOffset))")
        }

        /// What is too old beside the samples of a plug that is there would soon be forgotten.
        private func checkAge(
            of recorded: RecordedHistory, beside plug: HistoryPlug, _ file: String
        ) throws(Complaint) {
            guard let newest = plug.span?.upperBound, let days = HistoryRetention.standard.sampleDays,
                plug.id != RecordedHistory.plug(named: plug.name),
                recorded.span.lowerBound < newest - Int64(days) * 86_400_000
            else { return }
            throw Complaint(
                """
                \(file) begins more than \(days) days before the newest sample of \(plug.title), and would be forgotten by age
                hint: import it under a name of its own: --plug "\(plug.title) then"
                """)
        }

        private func plug(in history: PowerHistory) throws(Complaint) -> HistoryPlug {
            do throws(HistoryError) {
                return try history.plug(named: plug)
            } catch {
                guard case .unknownPlug = error.reason else { throw Complaint(error) }
                return HistoryPlug(id: RecordedHistory.plug(named: plug), name: plug)
            }
        }

        private func read(_ file: String) throws(Complaint) -> Recording {
            let bytes: [UInt8]
            do throws(FileError) {
                bytes = try FileStore().read(file, limit: Recording.byteLimit)
            } catch {
                throw Complaint(error)
            }
            do throws(RecordingError) { return try Recording.parse(bytes) } catch {
                throw Complaint("\(file): \(error)")
            }
        }
    }
}
