/// A relay that conducts while its line is active.
public struct PlainRelay: Relay {
    private let line: any OutputLine

    /// Creates the driver. The line is unchanged until the first call.
    public init(_ line: any OutputLine) { self.line = line }

    public func set(on: Bool) throws(HardwareFault) { try line.set(active: on) }
}
