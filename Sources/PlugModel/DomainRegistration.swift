/// The registration of a plug in a domain of a name server.
public enum DomainRegistration: Hashable, Sendable {
    /// The domain lists the plug under this name.
    case registered(name: String, domain: String)
    /// The domain does not list the plug. The hint, if any, is for the user.
    case failed(domain: String, reason: String, hint: String?)
}
