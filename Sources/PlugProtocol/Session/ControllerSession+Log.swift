import PlugModel
internal import ProtocolCore

extension ControllerSession {
    /// Subscribes to the log. A plug without the capability would ignore the request, so the request is refused
    /// locally.
    mutating func followLog(_ level: LogLevel, for duration: Duration, _ actions: inout [Action]) {
        guard case .established(let plug) = phase else {
            wantedLog = (level, duration)
            return
        }
        guard plug.capabilities.contains(.log) else {
            let refusal = Refusal(.unsupported, "This plug does not send its log; its firmware may be too old.")
            return actions.append(.deliver(.log(.refused(refusal))))
        }
        asksForLog = true
        say {
            $0.followLog.level = WireLogLevel(level)
            $0.followLog.seconds = UInt32(clamping: duration.components.seconds)
        }
    }

    mutating func logLines(_ wire: WireLogLines, _ actions: inout [Action]) throws {
        guard asksForLog else { throw Fault.order("The plug sent log lines that were not requested.") }
        if wire.lost > 0 { actions.append(.deliver(.log(.lost(wire.lost)))) }
        for wireLine in wire.lines {
            let line = try wireLine.model()
            guard line.number > lastLine else {
                throw Fault.order("The plug sent log line \(line.number) after \(lastLine).")
            }
            lastLine = line.number
            actions.append(.deliver(.log(.line(line))))
        }
    }
}
