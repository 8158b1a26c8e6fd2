import Metering

/// Computes the size of samples in plain bit packing. A block has 128 samples. Each column stores its smallest value
/// and the differences from it, with the number of bits of the largest difference. The time column has the steps
/// between samples.
enum BitPacking {
    /// Returns the size of a series in bytes.
    /// - Parameter tick: the unit of the timestamps in milliseconds; 1000 if all timestamps are whole seconds.
    static func bytes(of samples: [Sample], tick: Int64) -> Int {
        var bytes = 0
        for start in stride(from: 0, to: samples.count, by: 128) {
            let block = samples[start..<min(start + 128, samples.count)]
            let times = samples[max(0, start - 1)..<block.endIndex].map { $0.milliseconds / tick }
            bytes += size(zip(times.dropFirst(), times).map { $0 - $1 }, headOf: 8)
            bytes += size(block.map { Int64($0.deciwatts) }, headOf: 4)
            bytes += size(block.compactMap { $0.decivolts.map(Int64.init) }, headOf: 2)
            bytes += size(block.compactMap { $0.milliamperes.map(Int64.init) }, headOf: 4)
        }
        return bytes
    }

    /// - Parameter headOf: the number of bytes that the smallest value takes. One more byte has the number of bits per
    ///   difference.
    private static func size(_ values: [Int64], headOf head: Int) -> Int {
        guard let smallest = values.min(), let largest = values.max() else { return 0 }
        let width = Int64.bitWidth - (largest - smallest).leadingZeroBitCount
        return 1 + head + (width * values.count + 7) / 8
    }
}
