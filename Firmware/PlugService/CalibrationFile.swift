public import DurableFiles
import PlugConfiguration
public import PlugHardware

/// The file with a board's calibration: `NAME = NUMBER` for each field of it.
public struct CalibrationFile: Sendable {
    /// Bytes that are read; it has five lines.
    private static let limit = 4096

    public let path: String
    private let files: FileStore

    public init(_ path: String, files: FileStore = FileStore()) {
        self.path = path
        self.files = files
    }

    /// What a board measures by, and why it is not what the file says.
    public struct Found: Hashable, Sendable {
        public var calibration = Calibration()
        /// Nil where all is well; a board that was never calibrated is.
        public var warning: String?
    }

    /// Never fails: the relay works whatever the meter measures.
    public func read() -> Found {
        let bytes: [UInt8]
        do throws(FileError) {
            guard let found = try files.readIfPresent(path, limit: Self.limit) else { return Found() }
            bytes = found
        } catch {
            return Found(warning: warning("\(error)"))
        }
        do {
            let values = try NumberFile.parse(String(decoding: bytes, as: UTF8.self), file: path)
            // What a loss of power leaves of a file that somebody else wrote.
            guard !values.isEmpty else { return Found(warning: warning("\(path) is empty")) }
            return Found(calibration: try Calibration(values: values))
        } catch let fault as CalibrationFault {
            return Found(warning: warning("\(path): \(fault)"))
        } catch {
            return Found(warning: warning("\(error)"))
        }
    }

    private func warning(_ reason: String) -> String {
        "\(reason)\nThe calibration is not used: what this plug measures may be wrong by some percent"
            + "\nhint: calibrate it anew with `plugd calibrate`, or remove the file"
    }

    /// Replaces it as a whole.
    public func write(_ calibration: Calibration) throws(FileError) {
        let lines = calibration.values.map { "\($0.name) = \($0.value)\n" }
        let text = "# Written by plugd calibrate\n" + lines.joined()
        try files.replace(path, with: Array(text.utf8))
    }
}
