extension ChunkWriter {
    /// Writes a column of a block in the format of ``SampleChunk``. Consumes the column's numbers.
    mutating func append(_ column: inout Column, above reference: Int64) {
        guard column.largest > 0 else {
            append(0)
            return appendZigzag(reference)
        }
        let quantum = column.takeOutQuantum()
        let (width, exceptions) = column.cheapestWidth()
        append(UInt8(width) | (quantum > 1 ? 0x40 : 0) | (exceptions > 0 ? 0x80 : 0))
        appendZigzag(reference)
        if quantum > 1 { appendVarint(quantum) }
        if width > 0 { appendLowBits(width, of: &column) }
        guard exceptions > 0 else { return }
        append(UInt8(exceptions))
        column.forEachException(above: width) { index, high in
            append(UInt8(index))
            appendVarint(high)
        }
    }
}
