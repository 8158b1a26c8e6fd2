import PlugModel
import PowerHistory
import ProtocolCore

extension FuzzTarget {
    /// Decodes roll-up cells, to which the correct checksums are added. The first byte selects the step. Valid cells
    /// are unchanged when written and read again.
    static let rollUpCell = FuzzTarget(
        name: "roll-up-cell",
        seeds: {
            // The first cell has minutes: two entries, a gap of three, and one more entry. The second cell has two
            // days: one with power and energy, and one with energy only.
            [
                [0, 0xB1, 0, 2, 0, 20, 5, 40, 100, 9, 0, 7, 3, 1, 0xE1, 0xD4, 3],
                [3, 0xB1, 4, 2, 0, 0xD0, 0x0F, 30, 0xA0, 0x1F, 12, 8, 0x81, 0xB8, 0x99, 0x29, 50, 50],
            ]
        },
        check: { bytes in
            guard let first = bytes.first, let step = RollUpStep(rawValue: Int(first & 3)),
                let written = HistoryCells.rollUps(step, Array(bytes.dropFirst()))
            else { return false }
            try require(HistoryCells.rollUps(step, written) == written, "the entries change")
            return true
        })

    /// Decodes cells of events and gaps, to which the correct checksums are added.
    static let eventCell = FuzzTarget(
        name: "event-cell",
        seeds: {
            let kinds: [PlugEvent.Kind] = [
                .relayChanged(on: true, cause: .controller(name: "Desk", request: Guest.request(3))),
                .protectionReset(.overPower, cause: .button), .restarted(powerLost: true), .buttonPressed(.double),
                .pairingFailed(failures: 3), .controllerPaired(name: "Desk"),
            ]
            let events = kinds.enumerated().map { index, kind in
                PlugEvent(sequence: UInt64(index + 1), boot: FuzzedPlug.boot, time: FuzzedPlug.now, kind: kind)
            }
            return events.map { HistoryCells.payload(of: .event($0)) }
                + [HistoryCells.payload(of: .gap(Gap(from: 4, to: 900, reason: .overwritten)))]
        },
        check: { bytes in
            guard let written = HistoryCells.event(bytes) else { return false }
            try require(HistoryCells.event(written) == written, "the event changes")
            return true
        })
    /// Finds records in a page of a damaged history.
    static let databasePage = FuzzTarget(
        name: "database-page",
        seeds: {
            // A page with one cell at offset 10: a row of `plug` (row 1, an id, the name "Lamp"), a key of `counter` in a
            // leaf page, and the same key in an interior page.
            let row: [UInt8] = [0, 37, 21, 9, 0, 0, 0] + Array("00000000a001Lamp".utf8)
            let key: [UInt8] = [6, 1, 1, 1, 1, 1, 1, 2, 3, 4, 5]
            return [
                [0x0D, 0, 0, 0, 1, 0, 10, 0, 0, 10, 24, 1, 8] + row, [0x0A, 0, 0, 0, 1, 0, 10, 0, 0, 10, 11] + key,
                [0x02, 0, 0, 0, 1, 0, 14, 0, 0, 0, 0, 2, 0, 14, 0, 0, 0, 3, 11] + key,
            ]
        },
        check: { bytes in
            let rows = HistoryCells.records(inPage: bytes, hasRows: true, columns: "ntti???")
            let keys = HistoryCells.records(inPage: bytes, hasRows: false, columns: "iiiii")
            try require(rows == 0 || keys == 0, "a page is of two kinds")
            return rows + keys > 0
        })
}
