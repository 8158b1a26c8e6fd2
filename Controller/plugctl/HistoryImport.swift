import ArgumentParser
import HouseCalendar
import LinuxSystem
import PlugModel
import PowerHistory
import Presentation
import Recordings
import Terminal

extension History {
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Import recordings of an appliance into the history.",
            discussion: """
                A recording is a CSV file, plain or compressed with xz or gzip. Its lines are `dd/mm/yyyy HH:MM:SS;watts` in local time \
                (also `dd.mm.yyyy` and `yyyy-mm-dd`), or `seconds,watts` since the beginning of the recording, which --start sets. \
                Fields may be quoted. They are separated by a semicolon, a tab or a comma, the same in the whole file; numbers may have \
                a decimal comma unless the comma separates fields. The samples are added to the plug with the name in --plug, or to a \
                new plug that has only recordings. Existing samples are not changed, so a file may be imported again.

                Each line is imported as a sample, or counted with the reason why it is left out. If the time steps back, a new segment \
                begins and the step is reported. If segments overlap, the earlier one in the file wins. An hour that occurs \
                twice in autumn is first summer time, then winter time; lines in an hour that does not exist in spring are left out.

                Energy is computed from samples that are at most 30 s apart. If the lines of a file are further apart, up to an hour, \
                active power is interpolated linearly between them.

                Examples:
                  plugctl history import Refrigerator_2011.12.01.csv.xz --plug Refrigerator
                  plugctl history import kettle.csv --plug Kettle --start "2026-11-20T07:30"
                  plugctl history import mains.csv --plug Mains --zone Europe/Berlin
                """)

        @Argument(help: "The recordings.", completion: .file(extensions: ["csv", "xz", "gz"]))
        var files: [String]
        @Option(parsing: .unconditional, help: "The plug's name.")
        var plug: String
        @Option(help: "The beginning of a recording without dates, in local time: 2026-11-20, 2026-11-20T07:30.")
        var start: Moment?
        @Option(
            // A western offset begins with a dash.
            parsing: .unconditional,
            help: """
                The time zone of the recordings and of the output: Europe/Berlin, UTC, or +01:00 for a clock without summer time. \
                (default: the host's)
                """)
        var zone: String?
        @Flag(
            help: """
                One JSON object per line: for each step back in time event "stepBack", file, line, from, to; for each recording \
                event "imported", file, plug, from, to, lines, samples, leftOut (reason, lines, first), stepsBack.
                """)
        var json = false
        @OptionGroup var options: HistoryOptions

        /// The maximum number of steps back in time that are listed.
        private static let shownSteps = 20

        func validate() throws {
            guard !files.isEmpty else { throw ValidationError("name at least one recording") }
            guard (1...63).contains(plug.utf8.count) else {
                throw ValidationError("--plug must have 1 to 63 bytes of UTF-8")
            }
        }

        func run() async throws {
            try await saying {
                if let zone, !HostZone.use(zone) {
                    throw CLIError(
                        "unknown time zone \(zone)\nhint: use a name or offset such as Europe/Berlin, UTC or +01:00")
                }
                let history = try options.open(.writer)
                for file in files { try add(file, to: history) }
            }
        }

        private func add(_ file: String, to history: PowerHistory) throws {
            let recorded = try read(file)
            let known = try plug(in: history)
            // Parsed again, because the requested time zone is now set.
            let start = start.flatMap { Moment(argument: $0.description) }
            let zone = Self.zone(of: recorded)
            guard var recording = PlacedRecording(recorded, start: start?.milliseconds, zone: zone) else {
                throw CLIError(
                    "\(file) has no dates\nhint: set its beginning with --start 2026-11-20T07:30")
            }
            if let span = recording.span {
                try checkAge(of: span, beside: known, file)
                do throws(HistoryError) { recording.leaveOut(try history.knownTimes(of: known.id, in: span)) } catch {
                    throw CLIError(error)
                }
            }
            let batches = RecordedHistory(recording, of: known.id).batches
            var progress = ProgressLine("\(file)")
            for (index, var batch) in batches.enumerated() {
                batch.names[known.id] = known.title
                do throws(HistoryError) { try history.record(batch) } catch { throw CLIError(error) }
                progress.show(index + 1, of: batches.count)
            }
            progress.clear()
            tell(recording, file, known)
            report(recorded, recording, zone, file)
        }

        /// Prints messages about lines that cannot be read, about lines that are far apart, and about lines whose local
        /// time does not exist.
        private func report(
            _ recorded: RecordedLines, _ recording: PlacedRecording, _ zone: ZoneOffsets, _ file: String
        ) {
            if let fault = recorded.firstFault {
                printError(
                    """
                    \(recorded.unreadable) lines of \(file) cannot be read and are left out; \(fault)
                    hint: correct them and import the file again; only new lines are added
                    """)
            }
            if let pace = recording.pace, recording.isFilled {
                printError("the lines of \(file) are \(pace / 1000) s apart; active power is interpolated between them")
            }
            if let pace = recording.pace, recording.isTooSlow {
                printError(
                    """
                    the lines of \(file) are \(pace / 1000) s apart; no energy can be computed from them
                    hint: import a recording with at least one line per hour
                    """)
            }
            guard let missing = recording.leftOut[.noSuchTime], let midnight = recorded.day.map({ $0.number * 86_400 }),
                let line = recorded.lines.first(where: { $0.number == missing.first })
            else { return }
            // The offset two days before the line, when summer time had not begun.
            let minutes = zone.offset(at: Double(midnight + Int(line.milliseconds / 1000) - 2 * 86_400)) / 60
            func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
            let offset = (minutes < 0 ? "-" : "+") + padded(abs(minutes) / 60) + ":" + padded(abs(minutes) % 60)
            printError(
                """
                \(missing.lines) lines of \(file) are left out, from line \(missing.first) on: their times are skipped when summer time begins
                hint: if the clock of the recording has no summer time, use --zone \(offset)
                """)
        }

        /// Returns the host's time zone over the span of the recording.
        private static func zone(of recorded: RecordedLines) -> ZoneOffsets {
            let midnight = recorded.day.map { $0.number * 86_400 } ?? 0
            let seconds = recorded.lines.map { Int($0.milliseconds / 1000) }
            let (first, last) = (seconds.min() ?? 0, seconds.max() ?? 0)
            return ZoneOffsets.local(from: midnight + first - 2 * 86_400, to: midnight + last + 2 * 86_400)
        }

        private func tell(_ recording: PlacedRecording, _ file: String, _ plug: HistoryPlug) {
            let record = ImportRecord(recording, file: file, plug: plug.title)
            let steps = recording.stepsBack.lazy.map { StepBackRecord($0, file: file) }
            if json {
                for step in steps { guard Output.json(step) else { return } }
                Output.json(record)
            } else {
                for step in steps.prefix(Self.shownSteps) { Output.safeLine(step.text) }
                if steps.count > Self.shownSteps {
                    Output.safeLine(
                        "\(file): \(steps.count - Self.shownSteps) more steps back in time; --json lists all")
                }
                for text in record.texts { Output.safeLine(text) }
            }
        }

        /// Rejects a recording that is so old that the plug's retention time would soon delete its samples.
        private func checkAge(of span: ClosedRange<Int64>, beside plug: HistoryPlug, _ file: String) throws(CLIError) {
            guard let newest = plug.span?.upperBound, let days = HistoryRetention.standard.sampleDays,
                plug.id != RecordedHistory.plug(named: plug.name),
                span.lowerBound < newest - Int64(days) * 86_400_000
            else { return }
            throw CLIError(
                """
                \(file) begins more than \(days) days before the newest sample of \(plug.title), so its samples would expire at once
                hint: import it under a different name, such as --plug "\(plug.title) old"
                """)
        }

        private func plug(in history: PowerHistory) throws(CLIError) -> HistoryPlug {
            do throws(HistoryError) {
                return try history.plug(named: plug)
            } catch {
                guard case .unknownPlug = error.reason else { throw CLIError(error) }
                return HistoryPlug(id: RecordedHistory.plug(named: plug), name: plug)
            }
        }

        private func read(_ file: String) throws(CLIError) -> RecordedLines {
            let bytes: [UInt8]
            do throws(FileError) {
                bytes = try FileStore().read(file, limit: Recording.byteLimit)
            } catch {
                throw CLIError(error)
            }
            do throws(RecordingError) { return try RecordedLines.parse(bytes) } catch {
                throw CLIError("\(file): \(error)")
            }
        }
    }
}
