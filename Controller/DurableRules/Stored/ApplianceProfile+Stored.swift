import ApplianceSense

extension ApplianceProfile {
    /// Creates a profile from a stored one. Numbers outside of the range of a property become the nearest valid one.
    init(_ saved: SavedAppliance) {
        self.init()
        pauses = saved.pauses.map { UInt16(clamping: $0) }
        pauseLevels = saved.pauseLevels.map { UInt8(clamping: $0) }
        let numbers = saved.rests.map { UInt16(clamping: $0) }
        let length = ProgrammeRest.numberCount
        rests = stride(from: 0, to: numbers.count, by: length).compactMap {
            ProgrammeRest(numbers: numbers.dropFirst($0).prefix(length))
        }
        if saved.hasEndLevel { endLevel = saved.endLevel }
        if saved.hasStandbyLevel { standbyLevel = saved.standbyLevel }
        if saved.hasPeakLevel { peakLevel = saved.peakLevel }
        guard saved.hasCompressor else { return }
        let known = saved.compressor
        compressor = Compressor(
            runs: UInt16(clamping: known.runs), level: known.level, runMilliseconds: known.run,
            periodMilliseconds: known.period, varies: known.varies)
    }
}
