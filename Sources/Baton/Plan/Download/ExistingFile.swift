/// What a download does where there is a file already.
public enum ExistingFile: Sendable, Hashable {
    /// It fails with `fileFailed`, before anything is sent where the file is there by then. The default.
    case fail
    /// It replaces the file, at the end and in one step: whoever opens it gets the old one or the new one.
    case replace
    /// It keeps the file and takes the next free name: `photo 2.jpg`.
    case keepBoth
}
