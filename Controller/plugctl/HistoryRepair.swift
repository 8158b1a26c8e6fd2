import ArgumentParser
import LinuxSystem
import PowerHistory
import Terminal

extension History {
    struct Repair: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "repair",
            abstract: "Copy the readable part of a damaged history into a new directory.",
            discussion: """
                Samples, events, counters and traces of rules are copied, and the sums of the samples are computed \
                again; if samples are lost, their stored sums are copied. The output lists the losses of each plug and \
                each table, and how much of the energy is still known. The damaged file is not changed.

                Examples:
                  plugctl history repair --into ~/history-repaired
                  plugctl history repair --file history.sqlite.damaged --into ~/history-repaired
                """)

        @Option(help: "The new directory.", completion: .directory)
        var into: String
        @Option(
            help: "The damaged file, such as one that the daemon set aside. (default: the file of the history)",
            completion: .file())
        var file: String?
        @OptionGroup var options: HistoryOptions

        func run() async throws {
            try await saying {
                let file = file ?? (options.history ?? PowerHistory.defaultDirectory()) + "/history.sqlite"
                var progress = ProgressLine(file)
                let report: SalvageReport
                do throws(HistoryError) {
                    report = try PowerHistory.repair(file, into: into) { progress.show(Int($0), of: Int($1)) }
                } catch {
                    throw CLIError(error)
                }
                progress.clear()
                for line in lines(of: report) { Output.safeLine(line) }
                Output.safeLine("the readable data is in \(into)")
            }
        }

        private func lines(of report: SalvageReport) -> [String] {
            func time(_ milliseconds: Int64) -> String {
                let time = WallTime(millisecondsSince1970: milliseconds)
                return time.iso8601(offset: time.localOffset)
            }
            var lines = report.losses.map { loss in
                let known =
                    loss.knownMilliseconds > 0
                    ? "; \(loss.milliwattHours.rounded() / 1000) Wh of their energy are known"
                    : "; their energy is not known"
                return
                    "\(loss.title): samples lost from \(time(loss.span.lowerBound)) to \(time(loss.span.upperBound))\(known)"
            }
            if report.omitted > 0 { lines.append("\(report.omitted) more lost spans are not listed") }
            lines.append(report.chunks == 0 ? "no samples are lost" : "\(report.chunks) chunks of samples are lost")
            return lines + report.tables.map { "\($0)" }
        }
    }
}
