public import LinuxSystem
public import PlugTransport

/// The directory in which the user's controllers store their key and the list of paired plugs: the state directory from
/// systemd in a service, otherwise `smartplug` in the user's state directory. All controllers of a user share it, so a
/// plug that is paired with one is paired with all.
enum ControllerDirectory {
    static var path: String { ServiceDirectories.state ?? UserDirectories.state + "/smartplug" }
}

extension TransportIdentity {
    /// Reads the key that all controllers of this user share. Creates it on first use.
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

    /// Reads the current key again, for a program that runs during a key rotation; nil if it cannot be read.
    public static func renewedOfThisController() -> TransportIdentity? {
        try? kept(in: pathOfThisController, isPinned: true)
    }

    /// The path of the key file.
    public static var pathOfThisController: String { ControllerDirectory.path + "/key" }

    /// The directory of the controller's own files.
    public static var directoryOfThisController: String { ControllerDirectory.path }

    /// The paths of the key file and of the files of a key rotation. With any of these keys a program can command the
    /// plugs, now or after the rotation.
    public static var secretPathsOfThisController: [String] {
        [pathOfThisController] + KeyRotation.paths(in: ControllerDirectory.path)
    }
}
