import Logging
import SleepProxy

extension SleepNote {
    /// The message for the log.
    var text: String {
        switch self {
        case .registered(let host, let lease): "\(host.words) may sleep for \(lease) s"
        case .refused(let reason, let peer): "refused the registration of \(peer.address): \(reason.words)"
        case .asleep(let host): "\(host.words) sleeps; this plug answers for it"
        case .waking(let host, let cause): "waking \(host.words): \(cause.words)"
        case .awake(let host, let time?): "\(host.words) is awake after \(time.components.seconds) s"
        case .awake(let host, nil): "\(host.words) woke up"
        case .didNotWake(let host, let cause): "\(host.words) did not wake (\(cause.words))"
        case .stillAwake(let host): "\(host.words) registered but does not sleep"
        case .expired(let host): "the lease of \(host.words) has ended"
        case .handedOver(let host): "\(host.words) returned and can use a better sleep proxy"
        case .removed(let host, let reason): "no longer answers for \(host.words): \(reason.words)"
        }
    }

    /// The level of the message. Any host can cause refusals, and the machine limits their number.
    var level: Logger.Level {
        switch self {
        case .refused, .didNotWake, .removed: .warning
        case .registered, .asleep, .waking, .awake, .stillAwake, .expired, .handedOver: .info
        }
    }
}

extension SleeperIdentity {
    fileprivate var words: String { "\(host) (\(card))" }
}

extension WakeCause {
    fileprivate var words: String {
        switch self {
        case .connection: "a connection to one of its ports"
        case .datagram: "a datagram to one of its ports"
        case .addressConflict: "another host claims one of its addresses"
        case .nameConflict: "another host claims one of its names"
        case .betterProxy: "a better sleep proxy is available"
        case .leaseEnd: "its lease ends"
        case .disabled: "the sleep proxy is turned off"
        }
    }
}

extension RefusalReason {
    fileprivate var words: String {
        switch self {
        case .malformed: "the message is malformed"
        case .notAnUpdate: "the message is not a DNS update"
        case .missingOwner: "it has no Owner option"
        case .missingLease: "it has no lease"
        case .badCard: "its hardware address is not usable"
        case .recordClass: "a record has a class other than IN"
        case .recordType: "a record has a type that a sleep proxy does not publish"
        case .lifetime: "a record has no lifetime"
        case .domain: "a name is outside of the domain local"
        case .foreignTarget: "a record points to a name that is not registered"
        case .noAddress: "it has no address"
        case .tooManyRecords: "it has too many records"
        case .tooManyBytes: "its records are too long"
        case .tooManyNames: "it has too many names"
        case .tooManyPorts: "it has too many ports"
        case .tooManyAddresses: "it has too many addresses"
        case .tooManyMessages: "it has too many parts"
        case .ownAddress: "it contains an address of this plug"
        case .infrastructureAddress: "it contains the address of a router, DNS server or DHCP server"
        case .addressNotUnicast: "it contains an address that no single host can have"
        case .addressNotOnLink: "it contains an address of another network"
        case .addressOfAnotherSleeper: "it contains an address of another sleeping host"
        case .sourceNotRegistered: "it was sent from an address that it does not contain"
        case .noAnswer: "one of its addresses did not answer"
        case .answerOfAnotherCard: "another host has one of its addresses"
        case .ownName: "it contains a name of this plug"
        case .nameOfAnotherSleeper: "it contains a name of another sleeping host"
        case .nameOfAnotherHost: "another host has one of its names"
        case .olderSequence: "its sequence number is older than the stored one"
        case .tooManySleepers: "the limit of sleeping hosts is reached"
        case .tooManyVerifications: "too many registrations are being verified"
        case .tooFrequent: "registrations arrive too often"
        case .noLink: "the link is down"
        }
    }
}
