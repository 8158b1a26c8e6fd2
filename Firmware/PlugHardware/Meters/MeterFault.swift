/// The reason why a chip does not measure.
enum MeterFault: Error, Hashable {
    case bus(BusFault)
    /// A different or invalid chip answers. The text has its values and a hint.
    case wrongChip(String)
    /// The chip has lost its settings since they were written.
    case wasReset
    /// The chip was just set up and has no values yet.
    case settling
    /// The values are implausible.
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
