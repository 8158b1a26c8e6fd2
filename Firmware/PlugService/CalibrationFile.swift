public import LinuxSystem
import PlugConfiguration
public import PlugHardware

/// The file with a board's calibration. Each field is a line `NAME = NUMBER`.
public struct CalibrationFile: Sendable {
    /// The maximum size in bytes. A file that the plug writes has six short lines.
    private static let limit = 4096

    /// The path of the file.
    public let path: String
    private let files: FileStore

    /// Creates the value without accessing the file.
    public init(_ path: String, files: FileStore = FileStore()) {
        self.path = path
        self.files = files
    }

    /// The calibration that was read, or the default calibration with a warning.
    public struct Found: Hashable, Sendable {
        /// The calibration to use.
        public var calibration = Calibration()
        /// The reason for ignoring the file, or nil. A missing file is not an error.
        public var warning: String?
    }

    /// Reads the file. An invalid file is reported as a warning, because the relay must work without a correct meter.
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
            // An empty file may be the result of a loss of power while a different program wrote it.
            guard !values.isEmpty else { return Found(warning: warning("\(path) is empty")) }
            return Found(calibration: try Calibration(values: values))
        } catch let fault as CalibrationFault {
            return Found(warning: warning("\(path): \(fault)"))
        } catch {
            return Found(warning: warning("\(error)"))
        }
    }

    private func warning(_ reason: String) -> String {
        "\(reason)\nThe calibration is not used, so measurements may be wrong by some percent"
            + "\nhint: calibrate again with `plugd calibrate`, or remove the file"
    }

    /// Replaces the file atomically.
    public func write(_ calibration: Calibration) throws(FileError) {
        let lines = calibration.values.map { "\($0.name) = \($0.value)\n" }
        let text = "# Written by plugd calibrate\n" + lines.joined()
        try files.replace(path, with: Array(text.utf8))
    }
}
