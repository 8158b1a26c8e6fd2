/// The registers of one chip on a bus, with the most significant byte first.
struct ChipRegisters: Sendable {
    let bus: any I2CBus
    let address: UInt8

    /// - Parameters:
    ///   - pointer: the register's address in its wire format.
    ///   - count: the length of its value in bytes, at most 4.
    func read(_ pointer: [UInt8], count: Int) throws(MeterFault) -> UInt32 {
        let bytes = try transfer(pointer, read: count)
        return bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    func write(_ value: UInt32, to pointer: [UInt8], count: Int) throws(MeterFault) {
        let bytes = (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
        _ = try transfer(pointer + bytes, read: 0)
    }

    private func transfer(_ bytes: [UInt8], read count: Int) throws(MeterFault) -> [UInt8] {
        let answer: [UInt8]
        do { answer = try bus.transfer(to: address, write: bytes, read: count) } catch { throw .bus(error) }
        guard answer.count == count else {
            throw .bus(BusFault(.other("received \(answer.count) bytes instead of \(count)"), address: address))
        }
        return answer
    }
}
