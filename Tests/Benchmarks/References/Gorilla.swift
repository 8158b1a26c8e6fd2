import Metering

/// Computes the size of samples in the format of Facebook's time series database (Pelkonen et al., "Gorilla: A Fast,
/// Scalable, In-Memory Time Series Database", VLDB 2015, section 4.1): times as differences of differences, values as
/// the changed bits of floating-point numbers. A block lasts two hours, as in the paper.
struct Gorilla {
    /// The number of bits of the samples so far.
    private(set) var bits = 0
    private var blockStart: Int64?
    private var lastTime: Int64 = 0
    private var lastStep: Int64 = 0
    private var streams: [Stream] = []

    static let blockMilliseconds: Int64 = 7_200_000

    /// Returns the size of a series in bytes.
    /// - Parameter tick: the unit of the timestamps in milliseconds; 1000 if all timestamps are whole seconds.
    static func bytes(of samples: [Sample], tick: Int64) -> Int {
        var gorilla = Gorilla()
        for sample in samples {
            let values = [sample.activePower, sample.voltageRMS, sample.currentRMS].compactMap(\.self)
            gorilla.append(time: sample.milliseconds / tick, limit: blockMilliseconds / tick, values)
        }
        return (gorilla.bits + 7) / 8
    }

    private mutating func append(time: Int64, limit: Int64, _ values: [Double]) {
        guard let start = blockStart, time - start < limit, values.count == streams.count else {
            bits += 64 + 14 + 64 * values.count
            streams = values.map { Stream(last: $0.bitPattern) }
            (blockStart, lastTime, lastStep) = (time, time, 0)
            return
        }
        let step = time - lastTime
        switch step - lastStep {
        case 0: bits += 1
        case -63...64: bits += 2 + 7
        case -255...256: bits += 3 + 9
        case -2047...2048: bits += 4 + 12
        default: bits += 4 + 32
        }
        (lastTime, lastStep) = (time, step)
        for index in streams.indices { bits += streams[index].append(values[index].bitPattern) }
    }

    private struct Stream {
        var last: UInt64
        private var leading = 65
        private var trailing = 0

        init(last: UInt64) { self.last = last }

        /// Encodes a value and returns the number of its bits.
        mutating func append(_ value: UInt64) -> Int {
            let changed = value ^ last
            last = value
            guard changed != 0 else { return 1 }
            // Five bits store the number of leading zeros.
            let newLeading = min(31, changed.leadingZeroBitCount)
            if newLeading >= leading, changed.trailingZeroBitCount >= trailing { return 2 + 64 - leading - trailing }
            (leading, trailing) = (newLeading, changed.trailingZeroBitCount)
            return 2 + 5 + 6 + 64 - leading - trailing
        }
    }
}
