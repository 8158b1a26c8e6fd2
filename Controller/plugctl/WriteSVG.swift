import DurableFiles

/// Replaces the file by the picture.
func writeSVG(_ picture: String, to path: String) throws {
    try FileStore().replace(path, with: Array(picture.utf8), mode: 0o644)
}
