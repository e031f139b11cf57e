internal import Foundation

extension QueryValue {
    /// Any `Encodable` value; a value that encodes nothing is `.null`.
    init(encoding value: some Encodable, path: [any CodingKey] = []) throws {
        let node = Node()
        try QueryEncoder(node: node, codingPath: path).encode(value)
        self = node.value
    }
}

/// A value that is being built. It is a reference because containers are handed out before they are filled.
private final class Node {
    enum Content {
        case scalar(QueryValue)
        case list([Node])
        case object([String: Node])
    }

    var content = Content.scalar(.null)

    var value: QueryValue {
        switch content {
        case .scalar(let value): value
        case .list(let nodes): .list(nodes.map(\.value))
        case .object(let nodes): .object(nodes.mapValues(\.value))
        }
    }

    var count: Int {
        if case .list(let nodes) = content { nodes.count } else { 0 }
    }

    func becomeList() {
        if case .list = content { return }
        content = .list([])
    }

    func becomeObject() {
        if case .object = content { return }
        content = .object([:])
    }

    func append() -> Node {
        let node = Node()
        if case .list(let nodes) = content {
            // Released first, so that the array is not copied for every element.
            content = .scalar(.null)
            var nodes = consume nodes
            nodes.append(node)
            content = .list(nodes)
        }
        return node
    }

    func child(_ key: String) -> Node {
        guard case .object(var nodes) = content else { return Node() }
        if let node = nodes[key] { return node }
        let node = Node()
        content = .scalar(.null)
        nodes[key] = node
        content = .object(nodes)
        return node
    }
}

private struct QueryEncoder: Encoder, SingleValueEncodingContainer {
    let node: Node
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.becomeObject()
        return KeyedEncodingContainer(Keyed<Key>(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.becomeList()
        return Unkeyed(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { node.content = .scalar(.null) }

    func encode<Value: Encodable>(_ value: Value) throws {
        switch value {
        case let value as Bool: node.content = .scalar(.bool(value))
        case let value as String: node.content = .scalar(.string(value))
        case let value as Double: node.content = .scalar(.double(try value.finite(at: codingPath)))
        case let value as Float:
            // Its own digits, which are fewer than those of the same number as a double.
            _ = try Double(value).finite(at: codingPath)
            node.content = .scalar(.string(String(value)))
        case let value as any FixedWidthInteger & Encodable:
            node.content = .scalar(Int(exactly: value).map(QueryValue.int) ?? .string(String(describing: value)))
        case let value as Date: node.content = .scalar(.date(value))
        case let value as Data: node.content = .scalar(.data(value))
        case let value as URL: node.content = .scalar(.string(value.absoluteString))
        case let value as Decimal: node.content = .scalar(.string("\(value)"))
        default: try value.encode(to: self)
        }
    }
}

private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: Node
    let codingPath: [any CodingKey]

    private func encoder(_ key: any CodingKey) -> QueryEncoder {
        QueryEncoder(node: node.child(key.stringValue), codingPath: codingPath + [key])
    }

    func encodeNil(forKey key: Key) { encoder(key).encodeNil() }
    func encode(_ value: some Encodable, forKey key: Key) throws { try encoder(key).encode(value) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder(PathKey("super")) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }
}

private struct Unkeyed: UnkeyedEncodingContainer {
    let node: Node
    let codingPath: [any CodingKey]
    var count: Int { node.count }

    private func encoder() -> QueryEncoder {
        let index = node.count
        return QueryEncoder(node: node.append(), codingPath: codingPath + [PathKey(index)])
    }

    func encodeNil() { encoder().encodeNil() }
    func encode(_ value: some Encodable) throws { try encoder().encode(value) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        encoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder() }
}
