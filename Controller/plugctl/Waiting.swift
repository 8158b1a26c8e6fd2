import PlugClient

/// Says that a plug is away and is tried again. Where trying again helps nobody it throws why.
func sayAway(_ plug: String, _ reason: Disconnection) throws(PlugFault) {
    switch reason {
    case .away(let words): complain("\(plug): \(words); trying again")
    case .incompatible(let words): throw .incompatible("\(plug): \(words)")
    case .distrusted(let words): throw .distrusted("\(plug): \(words)")
    }
}
