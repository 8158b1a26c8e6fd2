public import DurableFiles
public import PlugTransport

/// Where the controllers of one person keep what they prove themselves with and whom they are paired with: in the state
/// directory that systemd gave to this service, else in `smartplug` of the person's own. So a plug that knows one knows all.
enum ControllerDirectory {
    static var path: String { ServiceDirectories.state ?? UserDirectories.state + "/smartplug" }
}

extension TransportIdentity {
    /// What the controllers of this person prove themselves with. Made on the first use.
    public static func ofThisController(files: FileStore = FileStore()) throws(IdentityFileError) -> TransportIdentity {
        let directory = ControllerDirectory.path
        do throws(FileError) {
            try files.requireAnswer(of: directory)
            try files.makeDirectories(directory)
        } catch {
            throw .notKept(error)
        }
        return try kept(in: pathOfThisController, files: files)
    }

    /// The same as it is now, for a program that runs while it is rotated; nil where it cannot be read.
    public static func renewedOfThisController() -> TransportIdentity? {
        try? kept(in: pathOfThisController, isPinned: true)
    }

    /// The file that it is kept in.
    public static var pathOfThisController: String { ControllerDirectory.path + "/key" }

    /// The folder of the controller's own files.
    public static var directoryOfThisController: String { ControllerDirectory.path }

    /// The key's file and those of a key rotation. With each of them a program could command the plugs, now or after the rotation.
    public static var secretPathsOfThisController: [String] {
        [pathOfThisController] + KeyRotation.paths(in: ControllerDirectory.path)
    }
}
