import Appliance
import Metering
import PlugModel
import ProtocolCore

/// The actual events of a simulated plug. The checks compare them with the events that its controllers recorded.
struct PlugTruth {
    /// Every recorded event, by its sequence number.
    private(set) var events: [SequenceNumber: PlugEvent] = [:]
    private(set) var lastSequence: SequenceNumber = 0
    /// The sequence number that must follow after a kill.
    private var nextSequence: SequenceNumber = 1
    /// The first event of each life. A boot starts a life, and a plug that lost its mirror starts another.
    private(set) var lives: [BootID: [SequenceNumber]] = [:]
    /// Requests that took effect in this life.
    private var effects: Set<CommandID> = []
    private var isNewborn = true
    /// The samples by boot, oldest first.
    private(set) var samples: [BootID: [Sample]] = [:]
    /// Samples that were being written at a kill, or that belong to a forgotten life. The plug may or may not have
    /// them.
    private(set) var doubtful: Set<Sample> = []
    /// Events that wait for their numbers, oldest first.
    private(set) var unnumbered: [UnnumberedEvent] = []
    /// The number of events that waited for their numbers.
    private(set) var waited = 0
    /// The number of events that still waited when the process was killed. An event counts once per kill.
    private(set) var waitedOverKill = 0
    /// True if event numbers were skipped because flash took longer than allowed.
    private(set) var hadLateFlash = false
    /// True if flash failed, was corrupted or took too long, so that the plug may have skipped event numbers.
    var hadBadFlash = false
    /// Events whose numbers were not reserved in flash before a power cut. The plug continues with lower numbers and
    /// has forgotten these events.
    private(set) var forgotten: Set<SequenceNumber> = []
    /// The last violated invariant, or nil.
    private(set) var violation: String?

    /// The boot whose mirror has been started.
    private var mirrored: BootID?
    /// Records that were being written to the mirror when the process ended.
    private var unfinished: [MirrorRecord] = []

    /// - Parameter isFlashLate: true if the write of a boundary has taken longer than the plug has to wait.
    mutating func take(_ records: [MirrorRecord], boot: BootID, isFlashLate: Bool) {
        for record in records {
            switch record {
            case .event(let event): take(event)
            case .sample(let sample, milliwattHours: _): samples[boot, default: []].append(sample)
            case .unnumbered(let event):
                unnumbered.append(event)
                waited += 1
            case .leap:
                if !hadBadFlash, !isFlashLate { violation = "numbers were skipped, but flash worked" }
                if isFlashLate { (hadLateFlash, hadBadFlash) = (true, true) }
            case .begins, .journal, .request, .state, .sealedChunk, .openChunk, .brokerTook: break
            }
        }
    }

    private mutating func take(_ event: PlugEvent) {
        if let oldest = unnumbered.first {
            if oldest != UnnumberedEvent(event.kind, at: event.time) {
                violation = "event \(event.sequence) is not the oldest waiting event"
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

    /// Records that the plug lost its key but has paired controllers, which no reset or power cut may cause.
    mutating func lostKey() { violation = "the plug has paired controllers but lost the key they pinned" }

    mutating func breakOff(_ records: [MirrorRecord]) { unfinished = records }

    /// Starts a process with the state that its predecessor left.
    ///
    /// - Parameters:
    ///   - mayForget: true if the runtime directory was not writable, so that the mirror may be missing.
    ///   - wasReset: true if a factory reset erased the state.
    mutating func begin(_ memory: PlugMemory, boot: BootID, mayForget: Bool, wasReset: Bool) {
        let next = memory.journal.nextSequence
        defer { (unfinished, mirrored, nextSequence) = ([], boot, next) }
        // If flash failed, the plug could not mark its mirror as outdated in flash, and may now use an older mirror.
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
            violation = "the \(unnumbered.count) events that waited for numbers before a kill do not wait after it"
        }
        unnumbered = memory.unnumbered
        waitedOverKill += unnumbered.count
        if memory.appliance.powerLost || !leapt && next != nextSequence {
            violation = "after a kill the numbers continue at \(next), not at \(nextSequence)"
        }
    }
}
