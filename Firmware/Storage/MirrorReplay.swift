import Appliance
import PlugModel

/// What a mirror's bytes say.
struct MirrorReplay {
    let boot: BootID
    let id: PlugID
    private var decoder: MirrorDecoder

    /// - Throws: ``Appliance/MirrorFault`` where the bytes do not begin as a mirror.
    init(_ bytes: [UInt8]) throws(MirrorFault) {
        decoder = MirrorDecoder(bytes)
        guard case .begins(let boot, let id) = try decoder.next() else { throw MirrorFault(.outOfOrder, at: 0) }
        self.boot = boot
        self.id = id
    }

    /// Everything that was remembered. A last record that is cut off was not told to anybody, and is left out.
    func memory(_ limits: PlugMemory.Limits) throws(MirrorFault) -> PlugMemory {
        var memory = PlugMemory(appliance: ApplianceMemory(powerLost: false), limits: limits)
        var decoder = decoder
        do throws(MirrorFault) {
            while let record = try decoder.next() {
                guard memory.take(record, limits: limits) else { throw MirrorFault(.outOfOrder, at: decoder.offset) }
            }
        } catch {
            guard error.reason == .torn else { throw error }
        }
        return memory
    }
}
