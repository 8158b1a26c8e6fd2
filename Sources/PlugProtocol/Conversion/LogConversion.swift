import PlugModel
internal import ProtocolCore

extension WireLogLevel {
    init(_ level: LogLevel) {
        switch level {
        case .trace: self = .trace
        case .debug: self = .debug
        case .info: self = .info
        case .notice: self = .notice
        case .warning: self = .warning
        case .error: self = .error
        case .critical: self = .critical
        }
    }

    /// The level. A level of a later version counts as `info`, which every plug logs.
    var model: LogLevel {
        switch self {
        case .trace: .trace
        case .debug: .debug
        case .info, .unspecified, .UNRECOGNIZED: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        case .critical: .critical
        }
    }
}

extension WireLogLine {
    init(_ line: LogLine) {
        self.init()
        number = line.number
        plugTime = WireScalar.nanoseconds(line.time)
        level = WireLogLevel(line.level)
        part = line.part
        message = line.message
    }

    func model() throws(MessageFault) -> LogLine {
        let bytes = message.utf8.count
        guard bytes <= PlugWire.maximumLogMessage else {
            throw .length(field: "message", bytes: bytes, allowed: 0...PlugWire.maximumLogMessage)
        }
        return LogLine(
            number: try WireScalar.cursor(number, "number"), time: try WireScalar.instant(plugTime, "plug_time"),
            level: level.model, part: try WireScalar.name(part, "part"), message: message)
    }
}

extension WireLogAnswer {
    /// The update, or nil for an answer of a later version.
    var model: LogUpdate? {
        switch kind {
        case .followed(let wire): .following(wire.level.model, for: .seconds(Int64(wire.seconds)))
        case .refused(let wire): .refused(Refusal(wire.code.model, wire.detail))
        case .ended: .ended
        case nil: nil
        }
    }
}
