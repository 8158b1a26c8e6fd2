extension PlugServer {
    /// True if a paired controller has an established session.
    public var isFollowed: Bool {
        sessions.all.contains(where: \.isEstablished)
    }
}
