/// What keeps a chip from measuring.
enum MeterFault: Error, Hashable {
    case bus(BusFault)
    /// Another chip than the one expected answers, or none that makes sense; what was found, and what to try.
    case wrongChip(String)
    /// The chip has lost its settings since they were written.
    case wasReset
    /// It has been set up and its first values are still to come.
    case settling
    /// Its values cannot be true.
    case impossible(String)

    var reason: String {
        switch self {
        case .bus(let fault): fault.description
        case .wrongChip(let found): found
        case .wasReset: "the chip had lost its settings, as after a dip of its supply; it was set up again"
        case .settling: "the chip had just been set up; it measures from the next time on"
        case .impossible(let what): "not a measurement: \(what)"
        }
    }
}
