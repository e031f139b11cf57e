/// Pages that are asked for by their number or their offset.
extension Pages {
    /// Pages from a first number on, each of so many items, until a rule says which is the last.
    ///
    /// ```swift
    /// Pages(from: 1, size: 20, until: .shortPage) { page in
    ///     Call("/orders", as: [Order].self) { $0.query = page.query() }       // page=1&size=20
    /// }
    /// ```
    /// - Parameters:
    ///   - first: the number of the first page. Default: 1.
    ///   - size: how many items are asked for. Default: 20.
    ///   - maxPages: how many pages are read at most. Default: no limit.
    ///   - rule: which page is the last.
    ///   - request: the plan of a page.
    public init(
        from first: Int = 1, size: Int = 20, maxPages: Int = .max, until rule: LastPage<P.Output>,
        request: @escaping @Sendable (PageNumber) -> P
    ) {
        self.init(request(PageNumber(index: 0, first: first, size: size)), maxPages, nil, nil) { page, count in
            if rule.isLast(page, PageNumber(index: count - 1, first: first, size: size)) { return nil }
            return request(PageNumber(index: count, first: first, size: size))
        }
    }
}

/// Which page of a list is asked for.
public struct PageNumber: Sendable, Hashable {
    /// Its place among the pages, from 0.
    public let index: Int
    /// The server's number of it.
    public let number: Int
    /// How many items a whole page has.
    public let size: Int
    /// How many items stand on the pages before it, for servers that want an offset.
    public var offset: Int { index * size }

    init(index: Int, first: Int, size: Int) {
        self.index = index
        self.size = size
        number = first + index
    }

    /// Number and size as parameters.
    public func query(number numberName: String = "page", size sizeName: String = "size") -> QueryParameters {
        QueryParameters([(numberName, .int(number)), (sizeName, .int(size))])
    }

    /// Offset and size as parameters.
    public func query(offset offsetName: String, size sizeName: String) -> QueryParameters {
        QueryParameters([(offsetName, .int(offset)), (sizeName, .int(size))])
    }
}

/// Which page of a list is the last one.
public struct LastPage<Page: Sendable>: Sendable {
    let isLast: @Sendable (Page, PageNumber) -> Bool

    /// The page of which `isLast` says so: where the server tells.
    public static func when(_ isLast: @escaping @Sendable (Page) -> Bool) -> LastPage {
        LastPage { page, _ in isLast(page) }
    }

    /// The first page with fewer items than were asked for, as `count` counts them.
    public static func shortPage(_ count: @escaping @Sendable (Page) -> Int) -> LastPage {
        LastPage { page, number in count(page) < number.size }
    }

    /// The page with which so many items were asked for as the list has in all, as `total` reads it out of a page.
    public static func total(_ total: @escaping @Sendable (Page) -> Int) -> LastPage {
        LastPage { page, number in number.offset + number.size >= total(page) }
    }
}

extension LastPage where Page: Collection {
    /// The first page with fewer items than were asked for.
    public static var shortPage: LastPage { shortPage { $0.count } }
}
