import PlugClient

/// Reports that a plug is away and that the connection is retried. Throws the reason if a retry cannot help.
func reportDisconnection(_ plug: String, _ reason: Disconnection) throws(PlugFault) {
    switch reason {
    case .away(let words): printError("\(plug): \(words); retrying")
    case .incompatible(let words): throw .incompatible("\(plug): \(words)")
    case .distrusted(let words): throw .distrusted("\(plug): \(words)")
    }
}
