import Appliance
import PlugModel

/// The content of a mirror's file.
struct MirrorReplay {
    let boot: BootID
    let id: PlugID
    private var decoder: MirrorDecoder

    /// - Throws: ``Appliance/MirrorFault`` if the bytes do not begin like a mirror.
    init(_ bytes: [UInt8]) throws(MirrorFault) {
        decoder = MirrorDecoder(bytes)
        guard case .begins(let boot, let id) = try decoder.next() else { throw MirrorFault(.outOfOrder, at: 0) }
        self.boot = boot
        self.id = id
    }

    /// Returns all remembered data. A truncated last record is ignored, because the plug sent no byte that depends on
    /// it.
    func memory(_ limits: PlugMemory.Limits) throws(MirrorFault) -> PlugMemory {
        var memory = PlugMemory(appliance: ApplianceMemory(powerLost: false), limits: limits)
        var decoder = decoder
        do throws(MirrorFault) {
            while let record = try decoder.next() {
                guard memory.restore(record, limits: limits) else { throw MirrorFault(.outOfOrder, at: decoder.offset) }
            }
        } catch {
            guard error.reason == .torn else { throw error }
        }
        return memory
    }
}
