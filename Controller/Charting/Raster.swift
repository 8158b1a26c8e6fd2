/// A grid of dots onto which the curve of one series is drawn. Row 0 is the top.
struct Raster: Hashable {
    let width: Int
    let height: Int
    private var dots: [Bool]

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        dots = Array(repeating: false, count: width * height)
    }

    subscript(x: Int, y: Int) -> Bool { dots[y * width + x] }

    /// - Parameter envelope: Made for as many columns as the raster is wide.
    mutating func draw(_ envelope: Envelope, on axis: ValueAxis) {
        func row(_ value: Double) -> Int {
            Int(((1 - axis.fraction(of: value)) * Double(height - 1)).rounded())
        }
        var previous: Envelope.Column?
        for column in envelope.columns {
            fill(x: column.index, from: row(column.greatest), to: row(column.least))
            if column.isJoined, let previous {
                join(
                    from: (previous.index, row(previous.last)), to: (column.index, row(column.first)))
            }
            previous = column
        }
    }

    private mutating func fill(x: Int, from top: Int, to bottom: Int) {
        for y in top...bottom { dots[y * width + x] = true }
    }

    /// A line without holes, to a column further right: each column is filled from the height of the one before.
    private mutating func join(from start: (x: Int, y: Int), to end: (x: Int, y: Int)) {
        let slope = Double(end.y - start.y) / Double(end.x - start.x)
        var before = start.y
        for x in (start.x + 1)...end.x {
            let y = start.y + Int((Double(x - start.x) * slope).rounded())
            // The height of the column before is already drawn there.
            let next = y > before ? before + 1 : y < before ? before - 1 : y
            fill(x: x, from: min(next, y), to: max(next, y))
            before = y
        }
    }

    /// The dots of one character cell as a Unicode Braille pattern's bits: 1-3 and 7 down the left, 4-6 and 8 the right.
    func braille(column: Int, row: Int) -> UInt8 {
        let weights: [[UInt8]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]
        var bits: UInt8 = 0
        for (y, line) in weights.enumerated() {
            for (x, weight) in line.enumerated() where self[column * 2 + x, row * 4 + y] { bits |= weight }
        }
        return bits
    }
}
