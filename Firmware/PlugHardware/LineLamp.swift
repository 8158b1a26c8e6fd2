/// A light that is lit while its line is active.
public struct LineLamp: StatusLamp {
    private let line: any OutputLine

    /// Creates a light on a line.
    public init(_ line: any OutputLine) { self.line = line }

    public func set(lit: Bool) throws(HardwareFault) { try line.set(active: lit) }
}
