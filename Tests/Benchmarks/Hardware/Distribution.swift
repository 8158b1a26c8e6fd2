/// The quantiles of many times of the same kind.
struct Distribution {
    /// The reported quantiles: name and share of the times that do not exceed it.
    static let quantiles: [(name: String, share: Double)] = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1)]

    private let sorted: [Double]

    init(_ times: [Double]) {
        precondition(!times.isEmpty, "nothing was measured")
        sorted = times.sorted()
    }

    var count: Int { sorted.count }

    /// Returns the smallest time that is not exceeded by this share of the times.
    func quantile(_ share: Double) -> Double {
        sorted[min(sorted.count - 1, max(0, Int((share * Double(sorted.count)).rounded(.up)) - 1))]
    }

    /// Returns a figure in microseconds for each quantile of times in nanoseconds. The bar applies to the median.
    func figures(
        _ what: String, against reference: (name: String, times: Distribution)? = nil, _ bar: Figure.Bar = .none
    ) -> [Figure] {
        Self.quantiles.map { name, share in
            Figure(
                "\(what), \(name) of \(count)", quantile(share) / 1000, "µs",
                against: reference.map { Figure.Reference(name: $0.name, value: $0.times.quantile(share) / 1000) },
                share == 0.5 ? bar : .none)
        }
    }
}
