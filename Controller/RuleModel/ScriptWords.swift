extension ScriptHandler: CustomStringConvertible {
    /// For example `call television.lua`.
    public var description: String { "call \(script)" }
}

extension ScriptTimer: CustomStringConvertible {
    /// For example `timer "lights out" of television.lua`.
    public var description: String { "timer \"\(name)\" of \(script)" }
}
