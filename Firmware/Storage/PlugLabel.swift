public import DurableFiles
public import PlugModel

/// What stands on a plug's label, or took the place of the code there: read from its state directory, whether the plug runs or not.
public struct PlugLabel: Sendable {
    /// Nil where flash does not say it yet.
    public let id: PlugID?
    public let code: SetupCode
    /// Setup code, setup id and category for HomeKit; nil where that was never turned on.
    public let homeKit: String?

    /// - Parameter state: the plug's directory in flash.
    /// - Throws: ``PlugLabelError``.
    public init(state: String, files: FileStore = FileStore()) throws(PlugLabelError) {
        let flash = StateDirectory(path: state, files: files)
        var fault: FileFault?
        switch flash.validCode({ fault = $0 }) {
        case .value(let known): code = known
        case .nothing:
            throw PlugLabelError(
                "\(state) holds no setup code\nhint: the plug makes it on its first start; is this its --state directory?"
            )
        case .unusable:
            throw PlugLabelError(fault.map { "\($0)" + ($0.hint.map { "\nhint: \($0)" } ?? "") } ?? "no setup code")
        }
        homeKit = if case .value(let label) = flash.homeKitLabel({ _ in }) { label } else { nil }
        guard case .value(let known) = flash.id({ _ in }) else {
            id = nil
            return
        }
        id = known
    }

    /// What the QR code says: capital letters and digits, which take the least space there.
    public var scannedText: String { code.scannedText(id) }
}

/// Why there is nothing to print on the label.
public struct PlugLabelError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
    init(_ description: String) { self.description = description }
}
