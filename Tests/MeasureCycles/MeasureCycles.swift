import Foundation
import Recordings
import TestSupport

/// Prints the accuracy of the cycle detector as Markdown tables: for the recordings of a folder, if one is given, and
/// for the appliance models. Exits with 1 if a recording cannot be read.
@main
enum MeasureCycles {
    static func main() {
        do {
            if CommandLine.arguments.count > 1 { try printRecordings(in: CommandLine.arguments[1]) }
            let (text, rows) = CycleTable.models()
            print(text)
            let cost = rows.map(\.cost).reduce(0, +) / Double(rows.map(\.samples).reduce(0, +))
            print("The mean processing time per sample is \(Int(cost.rounded())) ns.")
        } catch {
            FileHandle.standardError.write(Data("error: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func printRecordings(in folder: String) throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".csv.xz") }
        var first = CycleTable("Recording, on a plug that knows nothing")
        var tenth = CycleTable("The same day for the tenth time")
        for file in files.sorted() {
            let content = try Data(contentsOf: URL(filePath: folder).appending(path: file))
            let points = try Recording.parse([UInt8](content)).points.map { ($0.milliseconds, $0.deciwatts) }
            let name = String(file.prefix { $0.isLetter || $0.isNumber || $0 == "-" })
            first.add(CycleMeasurement(name, points))
            tenth.add(CycleMeasurement(name, points, daysBefore: 9))
        }
        print(first.text, tenth.text, separator: "\n")
    }
}
