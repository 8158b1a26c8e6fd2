public import LinuxSystem
public import PlugModel

/// The data of a plug's label. If the setup code was changed, the label has the new code instead of the printed one. It
/// is read from the state directory, even while the plug runs.
public struct PlugLabel: Sendable {
    /// The plug's id; nil if flash does not have it yet, or its file cannot be used.
    public let id: PlugID?
    /// The valid setup code.
    public let code: SetupCode
    /// The setup code that is printed on the label, from which the password of the plug's own Wi-Fi network follows; nil if
    /// its file cannot be used.
    public let printedCode: SetupCode?
    /// Setup code, setup id and category for HomeKit; nil if HomeKit was never enabled, or the file cannot be used.
    public let homeKit: String?
    /// Passcode, discriminator and verifier for Matter; nil if Matter was never enabled, or the file cannot be used.
    public let matter: String?

    /// Reads the label.
    ///
    /// - Parameter state: the plug's directory in flash.
    /// - Throws: ``PlugLabelError``.
    public init(state: String, files: FileStore = FileStore()) throws(PlugLabelError) {
        let flash = StateDirectory(path: state, files: files)
        var fault: FileFault?
        switch flash.validCode({ fault = $0 }) {
        case .value(let known): code = known
        case .nothing:
            throw PlugLabelError(
                "\(state) has no setup code\nhint: the plug creates it on its first start; check that this is its --state directory"
            )
        case .unusable:
            throw PlugLabelError(fault.map { "\($0)" + ($0.hint.map { "\nhint: \($0)" } ?? "") } ?? "no setup code")
        }
        printedCode = if case .value(let code) = flash.setupCode({ _ in }) { code } else { nil }
        homeKit = if case .value(let label) = flash.homeKitLabel({ _ in }) { label } else { nil }
        matter = if case .value(let label) = flash.matterLabel({ _ in }) { label } else { nil }
        guard case .value(let known) = flash.id({ _ in }) else {
            id = nil
            return
        }
        id = known
    }

    /// The text of the QR code: capital letters and digits, which need the least space.
    public var scannedText: String { code.scannedText(id) }
}

/// The reason why the label cannot be printed.
public struct PlugLabelError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The message for the user.
    public let description: String
    init(_ description: String) { self.description = description }
}
