extension ScriptHandler: CustomStringConvertible {
    /// `call television.lua`
    public var description: String { "call \(script)" }
}

extension ScriptTimer: CustomStringConvertible {
    /// `timer "lights out" of television.lua`
    public var description: String { "timer \"\(name)\" of \(script)" }
}
