import Glibc

/// Returns the current name of the interface with the index; nil if it does not exist.
public func interfaceName(_ index: UInt32) -> String? {
    var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
    guard if_indextoname(index, &name) != nil else { return nil }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Returns the names of all interfaces of this host, in the order of their indexes.
public func interfaceNames() -> [String] {
    guard let list = if_nameindex() else { return [] }
    defer { if_freenameindex(list) }
    var names: [String] = []
    var next = list
    while next.pointee.if_index != 0, let name = next.pointee.if_name {
        names.append(String(cString: name))
        next += 1
    }
    return names
}
