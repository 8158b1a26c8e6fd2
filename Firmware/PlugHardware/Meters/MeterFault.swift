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
        case .wasReset: "the chip had lost its settings, for example by a voltage dip; it was configured again"
        case .settling: "the chip was just configured; the next reading is valid"
        case .impossible(let what): "not a measurement: \(what)"
        }
    }
}
