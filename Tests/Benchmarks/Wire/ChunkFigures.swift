import LinuxSystem
import Metering
import ProtocolCore

/// Measures the sample chunk: its size against other encodings of the same samples, its speed against a memory copy.
func chunkFigures(_ setting: Setting) throws -> [Figure] {
    let recordings = try MeasuredSeries.recordings(in: setting.traces)
    let models = try MeasuredSeries.models()
    return try (recordings.isEmpty ? [] : sizes("recordings", recordings, limit: 0.55))
        + sizes("noisy models", models, limit: 2.4)
        + (recordings.isEmpty ? [] : speeds("recordings", recordings, setting))
        + speeds("noisy models", models, setting)
}

private func sizes(_ name: String, _ series: [MeasuredSeries], limit: Double) -> [Figure] {
    let count = Double(series.reduce(0) { $0 + $1.samples.count })
    let bytes = series.reduce(0) { $0 + chunks(of: $1.samples).reduce(0) { $0 + $1.bytes.count } }
    let gorilla = series.reduce(0) { $0 + Gorilla.bytes(of: $1.samples, tick: $1.tick) }
    let packed = series.reduce(0) { $0 + BitPacking.bytes(of: $1.samples, tick: $1.tick) }
    let references = [("Gorilla", gorilla), ("bit packing", packed)]
    return references.map { reference, size in
        Figure(
            "chunk, a sample, \(name)", Double(bytes) / count, "B",
            against: .init(name: reference, value: Double(size) / count), .atMost(limit))
    }
}

/// Measures the encoding and decoding of all series. The reference is a copy of the samples into allocated memory.
private func speeds(_ name: String, _ series: [MeasuredSeries], _ setting: Setting) throws -> [Figure] {
    var copying: [Double] = []
    var encoding: [Double] = []
    var decoding: [Double] = []
    var targets = series.map(\.samples)
    for _ in 0..<setting.rounds {
        var times = (copy: Duration.zero, encode: Duration.zero, decode: Duration.zero)
        for index in series.indices {
            let samples = series[index].samples
            times.copy += time {
                targets[index].withUnsafeMutableBufferPointer { target in
                    samples.withUnsafeBufferPointer { _ = target.update(fromContentsOf: $0) }
                }
            }
            var encoded: [SampleChunk] = []
            times.encode += time { encoded = chunks(of: samples) }
            var count = 0
            times.decode += try time { for chunk in encoded { count += try chunk.samples().count } }
            guard count == samples.count else { throw BenchmarkError("\(count) samples of \(samples.count) returned") }
        }
        copying.append(times.copy.inNanoseconds)
        encoding.append(times.encode.inNanoseconds)
        decoding.append(times.decode.inNanoseconds)
    }
    // Divided by nanoseconds, this gives millions of samples per second.
    let rate = Double(series.reduce(0) { $0 + $1.samples.count }) * 1000
    let copy = Figure.Reference(name: "memory copy", value: rate / copying.median)
    return [
        Figure("chunk, encode, \(name)", rate / encoding.median, "M/s", against: copy, .ratioAtLeast(1.0 / 12)),
        Figure("chunk, decode, \(name)", rate / decoding.median, "M/s", against: copy, .ratioAtLeast(1.0 / 4)),
    ]
}

private func chunks(of samples: [Sample]) -> [SampleChunk] {
    var encoder = SampleChunkEncoder()
    var chunks = encoder.append(contentsOf: samples)
    if let last = encoder.seal() { chunks.append(last) }
    return chunks
}

private func time(_ work: () throws -> Void) rethrows -> Duration {
    let began = BootClock.now
    try work()
    return BootClock.now - began
}

extension Duration {
    fileprivate var inNanoseconds: Double { Double(wholeNanoseconds) }
}
