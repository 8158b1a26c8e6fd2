extension PlugServer {
    /// A paired controller has a session.
    public var isFollowed: Bool {
        sessions.all.contains(where: \.isEstablished)
    }
}
