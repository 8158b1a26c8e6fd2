import Metering

/// The size of samples in plain bit packing: of 128 at a time the smallest value of each column, and the distances from it
/// in as many bits as the largest of them needs. Times are steps.
enum BitPacking {
    /// Bytes of a series.
    /// - Parameter tick: milliseconds in a unit of its time stamps, 1000 where all of them are whole seconds.
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

    /// - Parameter headOf: bytes of the smallest value; one more says how many bits the others have.
    private static func size(_ values: [Int64], headOf head: Int) -> Int {
        guard let smallest = values.min(), let largest = values.max() else { return 0 }
        let width = Int64.bitWidth - (largest - smallest).leadingZeroBitCount
        return 1 + head + (width * values.count + 7) / 8
    }
}
