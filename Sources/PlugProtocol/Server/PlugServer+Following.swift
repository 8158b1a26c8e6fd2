extension PlugServer {
    /// A paired controller has a session.
    public var isFollowed: Bool {
        sessions.contains(where: \.isEstablished)
    }
}
