public import DurableFiles
public import PlugTransport

extension TransportIdentity {
    /// What the controllers of this person prove themselves with, so that a plug which knows one knows all: `key` in the
    /// state directory that systemd gave to this service, else in `smartplug` of the person's own. Made on the first use.
    public static func ofThisController(files: FileStore = FileStore()) throws(IdentityFileError) -> TransportIdentity {
        let directory = ServiceDirectories.state ?? UserDirectories.state + "/smartplug"
        do throws(FileError) {
            try files.makeDirectories(directory)
        } catch {
            throw .notKept(error)
        }
        return try kept(in: directory + "/key", files: files)
    }
}
