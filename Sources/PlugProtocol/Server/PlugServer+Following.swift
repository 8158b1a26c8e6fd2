extension PlugServer {
    /// A paired controller has a session.
    public var isFollowed: Bool {
        sessions.contains {
            switch $0.phase {
            case .established: true
            case .awaitingHello, .challenged, .proving: false
            }
        }
    }
}
