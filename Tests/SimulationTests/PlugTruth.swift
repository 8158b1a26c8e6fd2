import Appliance
import Metering
import PlugModel
import ProtocolCore

/// What happened at a simulated plug, written down as it happened: what its controllers' stories are held against.
struct PlugTruth {
    /// Every event that was ever recorded, and so every number that was ever used.
    private(set) var events: [SequenceNumber: PlugEvent] = [:]
    private(set) var lastSequence: SequenceNumber = 0
    /// Where the numbers must go on after a kill.
    private var nextSequence: SequenceNumber = 1
    /// The first event of each life: a boot is one, and a plug that lost its mirror begins another.
    private(set) var lives: [BootID: [SequenceNumber]] = [:]
    /// Requests that took effect in this life.
    private var effects: Set<CommandID> = []
    private var isNewborn = true
    /// By boot, oldest first.
    private(set) var samples: [BootID: [Sample]] = [:]
    /// Taken in the moment in which the process was killed, or in a life that was forgotten: the plug may have them or not.
    private(set) var doubtful: Set<Sample> = []
    /// What happened and waits for its number, oldest first.
    private(set) var unnumbered: [UnnumberedEvent] = []
    /// Events that waited, and how many of them a killed process left to the next.
    private(set) var waited = 0
    private(set) var waitedOverKill = 0
    /// The numbers leapt because flash took longer than it may.
    private(set) var hadLateFlash = false
    /// Flash failed, was spoilt or took too long once, so that the plug may have leapt to other numbers.
    var hadBadFlash = false
    /// Recorded under numbers that flash could not be told before the power went: the plug goes on below them, and knows
    /// nothing of them.
    private(set) var forgotten: Set<SequenceNumber> = []
    /// What went against the plug's promises.
    private(set) var violation: String?

    /// The boot whose mirror has been begun.
    private var mirrored: BootID?
    /// Something that was on its way to the mirror when the process ended.
    private var unfinished: [MirrorRecord] = []

    /// - Parameter isFlashLate: it has taken longer for a boundary than the plug has to wait.
    mutating func take(_ records: [MirrorRecord], boot: BootID, isFlashLate: Bool) {
        for record in records {
            switch record {
            case .event(let event): take(event)
            case .sample(let sample, milliwattHours: _): samples[boot, default: []].append(sample)
            case .unnumbered(let event):
                unnumbered.append(event)
                waited += 1
            case .leap:
                if !hadBadFlash, !isFlashLate { violation = "the numbers leapt, but flash was well" }
                if isFlashLate { (hadLateFlash, hadBadFlash) = (true, true) }
            case .begins, .journal, .request, .state, .sealedChunk, .openChunk, .brokerTook: break
            }
        }
    }

    private mutating func take(_ event: PlugEvent) {
        if let oldest = unnumbered.first {
            if oldest != UnnumberedEvent(event.kind, at: event.time) {
                violation = "event \(event.sequence) is not the one that waited longest"
            }
            unnumbered.removeFirst()
        }
        if events.updateValue(event, forKey: event.sequence) != nil {
            violation = "number \(event.sequence) was used twice"
        }
        if event.sequence <= lastSequence {
            if !hadBadFlash { violation = "number \(event.sequence) came after \(lastSequence)" }
            forgotten.formUnion(events.keys.filter { $0 > event.sequence })
        }
        lastSequence = event.sequence
        nextSequence = event.sequence + 1
        if isNewborn { lives[event.boot, default: []].append(event.sequence) }
        isNewborn = false
        guard case .relayChanged(_, cause: .controller(_, let request, let authority)) = event.kind else { return }
        if !effects.insert(CommandID(request, of: authority)).inserted {
            violation = "event \(event.sequence): a command took effect twice"
        }
    }

    /// The key is gone, and those who pinned it are not: no reset and no loss of power may leave that behind.
    mutating func lostKey() { violation = "controllers are known who pinned a key that is gone" }

    mutating func breakOff(_ records: [MirrorRecord]) { unfinished = records }

    /// A process begins with what its predecessor left.
    ///
    /// - Parameters:
    ///   - mayForget: the runtime directory could not be written, so that the mirror may be gone.
    ///   - wasReset: a factory reset made it forget.
    mutating func begin(_ memory: PlugMemory, boot: BootID, mayForget: Bool, wasReset: Bool) {
        let next = memory.journal.nextSequence
        defer { (unfinished, mirrored, nextSequence) = ([], boot, next) }
        // Where flash could not say either that the mirror is out of date, an older one is believed.
        let isOlder = hadBadFlash && next < nextSequence
        guard mirrored == boot, !wasReset, !(mayForget && (memory.appliance.powerLost || isOlder)) else {
            (effects, isNewborn, unnumbered) = ([], true, [])
            doubtful.formUnion(samples[boot] ?? [])
            return
        }
        var leapt = false
        for record in unfinished {
            switch record {
            case .event(let event): if memory.journal[event.sequence] == event { take(event) }
            case .sample(let sample, milliwattHours: _):
                samples[boot, default: []].append(sample)
                doubtful.insert(sample)
            case .leap: leapt = true
            case .begins, .journal, .request, .state, .sealedChunk, .openChunk, .brokerTook, .unnumbered: break
            }
        }
        if !memory.unnumbered.starts(with: unnumbered) {
            violation = "of \(unnumbered.count) events that waited for their numbers others are left after a kill"
        }
        unnumbered = memory.unnumbered
        waitedOverKill += unnumbered.count
        if memory.appliance.powerLost || !leapt && next != nextSequence {
            violation = "after a kill the numbers go on at \(next), not at \(nextSequence)"
        }
    }
}
