import PlugModel

/// An enumeration whose cases have permanent numbers in the mirror format.
protocol MirrorCoded: CaseIterable, Hashable {
    var mirrorCode: UInt8 { get }
}

extension MirrorCoded {
    /// Returns the case with this number, or nil if the number is unknown.
    init?(mirrorCode: UInt8) {
        guard let known = Self.allCases.first(where: { $0.mirrorCode == mirrorCode }) else { return nil }
        self = known
    }
}

extension Gap.Reason: MirrorCoded {
    var mirrorCode: UInt8 {
        switch self {
        case .unknown: 0
        case .powerLost: 1
        case .overwritten: 2
        case .unknownCursor: 3
        case .storageFailed: 4
        case .factoryReset: 5
        }
    }
}

/// Kinds of events: 1 and 2 are relay off and on, 3 to 5 button, 6, 7 and 13 to 18 protection, 8 and 9 restarted
/// without and with a loss of power, 10 pairing failed, 11 and 12 controller paired and removed, 19 protection reset.
extension ButtonPress: MirrorCoded {
    var mirrorCode: UInt8 {
        switch self {
        case .single: 3
        case .double: 4
        case .long: 5
        }
    }
}

extension Protection: MirrorCoded {
    var mirrorCode: UInt8 {
        switch self {
        case .overPower: 6
        case .overCurrent: 7
        case .overVoltage: 13
        case .underVoltage: 14
        case .overTemperature: 15
        case .weldedRelay: 16
        case .restTime: 17
        case .switchingRate: 18
        }
    }
}

extension Refusal.Code: MirrorCoded {
    var mirrorCode: UInt8 {
        switch self {
        case .unknown: 0
        case .notPaired: 1
        case .protectionTripped: 2
        case .unsupported: 3
        case .outOfRange: 4
        case .busy: 5
        case .deadlinePassed: 6
        case .lockedOn: 7
        case .resting: 8
        case .storageFailed: 9
        case .notAllowed: 10
        }
    }
}
