import MatterWire

/// Everything that a Matter device stores in flash: fabrics, access control, group keys, scenes, labels, start-up
/// settings and counters.
public struct MatterRecords: Hashable, Sendable, CustomStringConvertible {
    /// The limit of fabrics, which bounds flash and memory. The specification requires at least 5.
    static let fabricLimit = 5

    /// The settings that belong to no fabric.
    struct Settings: Hashable, Sendable {
        /// The label that a controller wrote, or nil if the plug's name applies.
        var label: String?
        /// The plug's name when the label was written or the name changed.
        var plugName: String?
        /// The country code of the attribute Location.
        var location = "XX"
        /// The attribute RegulatoryConfig.
        var regulatoryConfig: UInt8 = 2
        /// The attribute StartUpOnOff: 0 off, 1 on, 2 toggle, nil unchanged.
        var startUpOnOff: UInt8?
        /// The attribute StartUpCurrentLevel: 0 the lowest level, nil unchanged.
        var startUpLevel: UInt8?

        /// True if all values are within the limits of their attributes.
        var isValid: Bool {
            location.utf8.count == 2 && regulatoryConfig <= 2 && (startUpOnOff ?? 0) <= 2
                && (startUpLevel ?? 0) <= LevelLimits.highest
        }
    }

    /// The counters.
    struct Counters: Hashable, Sendable {
        /// All event numbers below this limit may have been used.
        var eventLimit: UInt64 = 1
        /// The number of the newest press that was reported.
        var lastPress: UInt64 = 0
        /// The attribute RebootCount.
        var reboots: UInt16 = 0
    }

    /// The fabrics by ascending index.
    private(set) var fabrics: [Fabric] = []
    /// The index of the fabric that was added last. Indexes are reused as late as possible (Matter 7.5.2).
    private(set) var lastFabricIndex: UInt8 = 0
    var settings = Settings()
    var counters = Counters()

    /// Creates the records of a device that was never commissioned.
    public init() {}

    /// Creates records from stored parts. Returns nil if there are too many fabrics, if an index is not unique, or if
    /// a setting is outside its limits.
    init?(fabrics: [Fabric], lastFabricIndex: UInt8, settings: Settings, counters: Counters) {
        guard fabrics.count <= Self.fabricLimit, Set(fabrics.map(\.index)).count == fabrics.count,
            fabrics.allSatisfy({ (1...254).contains($0.index) }), lastFabricIndex <= 254, settings.isValid
        else { return nil }
        (self.fabrics, self.lastFabricIndex) = (fabrics.sorted { $0.index < $1.index }, lastFabricIndex)
        (self.settings, self.counters) = (settings, counters)
    }

    /// Omits all keys.
    public var description: String { "Matter records with \(fabrics.count) fabrics" }

    /// The fabric with this index.
    func fabric(_ index: UInt8?) -> Fabric? { fabrics.first { $0.index == index } }

    /// Changes a fabric. Returns nil if the index is unknown.
    mutating func update<Result>(
        _ index: UInt8, _ body: (inout Fabric) throws(InteractionStatus) -> Result
    ) throws(InteractionStatus) -> Result? {
        guard let place = fabrics.firstIndex(where: { $0.index == index }) else { return nil }
        return try body(&fabrics[place])
    }

    /// The index of the next fabric, or nil if no further fabric fits.
    var nextFabricIndex: UInt8? {
        guard fabrics.count < Self.fabricLimit else { return nil }
        var index = lastFabricIndex
        repeat { index = index >= 254 ? 1 : index + 1 } while fabric(index) != nil
        return index
    }

    /// Adds a fabric with an unused index.
    mutating func add(_ new: Fabric) {
        fabrics.append(new)
        fabrics.sort { $0.index < $1.index }
        lastFabricIndex = new.index
    }

    /// Removes a fabric and everything that belongs to it. Returns nil if the index is unknown.
    @discardableResult
    mutating func remove(_ index: UInt8) -> Fabric? {
        guard let place = fabrics.firstIndex(where: { $0.index == index }) else { return nil }
        return fabrics.remove(at: place)
    }

    /// Replaces the credentials of a fabric.
    mutating func restore(_ credentials: FabricCredentials, of index: UInt8) {
        guard let place = fabrics.firstIndex(where: { $0.index == index }) else { return }
        fabrics[place].credentials = credentials
    }
}
