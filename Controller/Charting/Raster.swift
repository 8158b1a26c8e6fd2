/// A grid of dots for the curve of one series. Row 0 is the top.
struct Raster: Hashable {
    let width: Int
    let height: Int
    private var line: [Bool]
    private var band: [Bool]

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        line = Array(repeating: false, count: width * height)
        band = line
    }

    /// Returns true if the line crosses a dot.
    func hasLine(_ x: Int, _ y: Int) -> Bool { line[y * width + x] }
    /// Returns true if a dot is between the lowest and the highest value of its column, or within the layer of a stack.
    func hasBand(_ x: Int, _ y: Int) -> Bool { band[y * width + x] }

    private func row(_ value: Double, _ axis: ValueAxis) -> Int {
        Int(((1 - axis.fraction(of: value)) * Double(height - 1)).rounded())
    }

    /// Draws a curve.
    ///
    /// - Parameter envelope: One column per dot of the raster's width.
    mutating func draw(_ envelope: Envelope, on axis: ValueAxis) {
        var previous: Envelope.Column?
        for column in envelope.columns {
            let (entry, exit) = (row(column.entry, axis), row(column.exit, axis))
            for y in min(entry, exit)...max(entry, exit) { line[y * width + column.index] = true }
            let (top, bottom) = (row(column.greatest, axis), row(column.least, axis))
            for y in top...bottom { band[y * width + column.index] = true }
            if column.isJoined, let previous {
                join(from: (previous.index, row(previous.exit, axis)), to: (column.index, entry))
            }
            previous = column
        }
    }

    /// Draws a layer of a stack: a line at its top, and the band down to its bottom.
    mutating func draw(_ slices: [Layers.Slice?], on axis: ValueAxis) {
        var before: Int?
        for (x, slice) in slices.enumerated() {
            guard let slice else {
                before = nil
                continue
            }
            let (top, bottom) = (row(slice.top, axis), row(slice.bottom, axis))
            for y in min(top, bottom)...max(top, bottom) { band[y * width + x] = true }
            line[top * width + x] = true
            if let before, x > 0 { join(from: (x - 1, before), to: (x, top)) }
            before = top
        }
    }

    /// Draws one dot of the band at the height of each peak.
    mutating func draw(peaks: [Double?], on axis: ValueAxis) {
        for (x, peak) in peaks.enumerated() {
            if let peak { band[row(peak, axis) * width + x] = true }
        }
    }

    /// Draws a continuous line to a column further right: each column is filled from the height of the previous one.
    private mutating func join(from start: (x: Int, y: Int), to end: (x: Int, y: Int)) {
        let slope = Double(end.y - start.y) / Double(end.x - start.x)
        var before = start.y
        for x in (start.x + 1)...end.x {
            let y = start.y + Int((Double(x - start.x) * slope).rounded())
            // The dot at the height of the previous column is already drawn in that column, so the dots of this column
            // start next to that height.
            let next = y > before ? before + 1 : y < before ? before - 1 : y
            for y in min(next, y)...max(next, y) { line[y * width + x] = true }
            before = y
        }
    }

    /// Returns the bits of a Unicode braille pattern for one cell: dots 1-3 and 7 are on the left, 4-6 and 8 on the
    /// right.
    ///
    /// - Parameter isStippled: Returns true for the dots of the band that are shown. The upper and lower edges of the
    ///   band are always shown.
    func braille(column: Int, row: Int, isStippled: (_ x: Int, _ y: Int) -> Bool) -> UInt8 {
        var bits: UInt8 = 0
        for y in 0..<4 {
            for x in 0..<2 {
                let (dotX, dotY) = (column * 2 + x, row * 4 + y)
                let isShown =
                    hasLine(dotX, dotY) || (hasBand(dotX, dotY) && (isStippled(dotX, dotY) || isEdge(dotX, dotY)))
                if isShown { bits |= Raster.weights[y * 2 + x] }
            }
        }
        return bits
    }

    private static let weights: [UInt8] = [0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80]

    private func isEdge(_ x: Int, _ y: Int) -> Bool {
        y == 0 || y == height - 1 || !hasBand(x, y - 1) || !hasBand(x, y + 1)
    }
}
