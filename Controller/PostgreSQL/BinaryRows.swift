/// Rows in PostgreSQL's binary COPY format. After each `begin(columns:)`, values are added in the order of the columns.
public struct BinaryRows: Sendable {
    /// PostgreSQL's epoch, 2000-01-01, in milliseconds since 1970.
    private static let epoch: Int64 = 946_684_800_000
    /// The greatest time that is written, in milliseconds. A time up to this limit does not overflow in microseconds.
    private static let furthest: Int64 = 9_000_000_000_000_000
    private static let signature: [UInt8] = [
        0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0x00, 0, 0, 0, 0, 0, 0, 0, 0,
    ]

    /// The number of rows.
    public private(set) var count = 0
    private var bytes = signature

    /// Creates an empty list.
    ///
    /// - Parameter capacity: the expected number of bytes.
    public init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    /// The complete data with its trailer.
    var finished: [UInt8] { bytes + [0xFF, 0xFF] }

    /// Begins a row.
    public mutating func begin(columns: Int) {
        count += 1
        append(Int16(clamping: columns))
    }

    /// Adds an `integer`.
    public mutating func add(_ value: Int32) {
        append(Int32(4))
        append(value)
    }

    /// Adds a `bigint`.
    public mutating func add(_ value: Int64) {
        append(Int32(8))
        append(value)
    }

    /// Adds a `real`; nil is null.
    public mutating func add(_ value: Float?) {
        guard let value else { return addNull() }
        append(Int32(4))
        append(value.bitPattern)
    }

    /// Adds a `double precision`; nil is null.
    public mutating func add(_ value: Double?) {
        guard let value else { return addNull() }
        append(Int32(8))
        append(value.bitPattern)
    }

    /// Adds a `boolean`.
    public mutating func add(_ value: Bool) {
        append(Int32(1))
        bytes.append(value ? 1 : 0)
    }

    /// Adds a `text`. Zero bytes are replaced by spaces.
    public mutating func add(_ value: String) {
        // PostgreSQL texts cannot contain zero bytes.
        add(value.utf8.map { $0 == 0 ? 0x20 : $0 })
    }

    /// Adds a `bytea`.
    public mutating func add(_ value: [UInt8]) {
        append(Int32(clamping: value.count))
        bytes += value
    }

    /// Adds a `jsonb`.
    public mutating func add(json: String) { add([1] + Array(json.utf8)) }

    /// Adds a `timestamptz`.
    ///
    /// - Parameter milliseconds: the time since 1970, clamped to about 285,000 years before or after 1970.
    public mutating func add(time milliseconds: Int64) {
        add((Swift.min(Swift.max(milliseconds, -Self.furthest), Self.furthest) - Self.epoch) * 1000)
    }

    private mutating func addNull() { append(Int32(-1)) }

    private mutating func append(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
