import LinuxSystem
import Recordings

/// Reads a recording from a file. Errors contain the file name and the line.
func readRecording(_ path: String, from: String?, speed: Double) throws -> Playback {
    var start: Int64?
    if let from {
        guard let time = TimeOfDay.milliseconds(from) else {
            throw CLIError("--from must be a time of day such as 11:13 or 11:13:30, not \"\(from)\"")
        }
        start = time
    }
    let bytes: [UInt8]
    do {
        bytes = try FileStore().read(path, limit: Recording.byteLimit)
    } catch {
        throw CLIError(error)
    }
    do {
        let recording = try Recording.parse(bytes)
        guard let playback = Playback(recording, from: start, speed: speed) else {
            throw CLIError("\(path) has no data after \(from ?? "its beginning")")
        }
        return playback
    } catch let error as RecordingError {
        throw CLIError("\(path): \(error)")
    }
}
