import Baton
import Foundation
import Testing

@Suite("Query and form parameters")
struct QueryParametersTests {
    static let reserved: QueryParameters = ["sig": "a+b/c=", "q": "x y", "e": "é😀&=#%"]

    @Test("Q01 reserved characters are escaped in a query")
    func reservedInQuery() {
        #expect(
            Self.reserved.encoded(.query) == "sig=a%2Bb%2Fc%3D&q=x%20y&e=%C3%A9%F0%9F%98%80%26%3D%23%25")
    }

    @Test("Q01 reserved characters are escaped in a form, where a space is a plus")
    func reservedInForm() throws {
        let body = try HTTPBody.form(Self.reserved).encoded(with: BodyCoding())
        let text = String(decoding: try #require(body.bytes), as: UTF8.self)
        #expect(text == "sig=a%2Bb%2Fc%3D&q=x+y&e=%C3%A9%F0%9F%98%80%26%3D%23%25")
        #expect(body.contentType == "application/x-www-form-urlencoded")
        let decoded = try #require(PercentEncoding.decodePairs(text, from: .form))
        #expect(decoded.map(\.name) == ["sig", "q", "e"])
        #expect(decoded.map(\.value) == ["a+b/c=", "x y", "é😀&=#%"])
    }

    static let collections: QueryParameters = [
        "arg": [["id": "001", "name": "p1"], ["id": "002", "name": "p2"]], "a": [1, 2], "k": ["n": "v"], "none": [],
    ]
    static let indexedObjects = "arg[0][id]=001&arg[0][name]=p1&arg[1][id]=002&arg[1][name]=p2"

    @Test(
        "Q03 collections are written in the style that is asked for, objects in lists always with their index",
        arguments: [
            (ParameterStyle(), "\(indexedObjects)&a[]=1&a[]=2&k[n]=v"),
            (ParameterStyle(arrays: .repeated), "\(indexedObjects)&a=1&a=2&k[n]=v"),
            (ParameterStyle(arrays: .indexed), "\(indexedObjects)&a[0]=1&a[1]=2&k[n]=v"),
            (ParameterStyle(arrays: .commaSeparated), "\(indexedObjects)&a=1,2&k[n]=v"),
            (
                ParameterStyle(arrays: .repeated, nesting: .dotted),
                "arg[0].id=001&arg[0].name=p1&arg[1].id=002&arg[1].name=p2&a=1&a=2&k.n=v"
            ),
        ])
    func styles(style: ParameterStyle, expected: String) {
        let escaped = expected.replacingOccurrences(of: "[", with: "%5B").replacingOccurrences(of: "]", with: "%5D")
        #expect(Self.collections.styled(style).encoded(.query) == escaped)
        #expect(Self.collections.encoded(.query, defaultStyle: style) == escaped)
    }

    @Test("Q03 a list of lists keeps its lists apart, and a comma inside a value is escaped")
    func nestedLists() {
        let nested: QueryParameters = ["a": [[1, 2], [3]]]
        #expect(PercentEncoding.decode(nested.encoded(.query), from: .query) == "a[0][]=1&a[0][]=2&a[1][]=3")
        let commas: QueryParameters = ["a": ["x,y", "z"]]
        #expect(commas.styled(.init(arrays: .commaSeparated)).encoded(.query) == "a=x%2Cy,z")
    }

    @Test(
        "Booleans, dates, data and nil follow the style",
        arguments: [
            (ParameterStyle(), "b=true&d=2026-05-25T22:46:27Z&x=+/8=&"),
            (ParameterStyle(booleans: .numbers, dates: .seconds, data: .hex), "b=1&d=1779749187&x=fbff&"),
            (
                ParameterStyle(dates: .milliseconds, data: .base64URL, nils: .empty),
                "b=true&d=1779749187000&x=-_8&n=&"
            ),
        ])
    func scalars(style: ParameterStyle, expected: String) {
        let parameters: QueryParameters = [
            "b": true, "d": .date(Date(timeIntervalSince1970: 1_779_749_187)), "x": .data(Data([0xFB, 0xFF])), "n": nil,
        ]
        let text = parameters.styled(style).encoded(.query)
        #expect(PercentEncoding.decode(text + "&", from: .query) == expected)
    }

    @Test(
        "Q05 empty collections and nil send nothing",
        arguments: [
            [:], QueryParameters([]), ["n": nil], ["a": []], ["a": [:]], ["a": ["b": nil]], ["a": [nil]],
        ] as [QueryParameters])
    func nothing(parameters: QueryParameters) throws {
        #expect(parameters.encoded(.query).isEmpty)
        let origin = try HTTPOrigin(base: "https://h/x")
        #expect(try origin.target(path: "", query: parameters.encoded(.query)) == "/x")
        let withQuery = try HTTPOrigin(base: "https://h/x?a=1")
        #expect(try withQuery.target(path: "", query: parameters.encoded(.query)) == "/x?a=1")
    }

    @Test("Q05 an empty form is an empty body of length 0, not the absence of one")
    func emptyForm() throws {
        let body = try HTTPBody.form([:]).encoded(with: BodyCoding())
        #expect(!body.isNone)
        #expect(body.length == 0)
        #expect(body.bytes == Data())
    }

    @Test("The first parameter of a name is read, replaced and removed by its name")
    func namedAccess() {
        var parameters: QueryParameters = ["a": 1, "b": 2, "a": 3]
        #expect(parameters["a"] == 1)
        parameters["a"] = 4
        #expect(parameters == ["a": 4, "b": 2])
        parameters["b"] = nil
        parameters.append("c", "x")
        #expect(parameters == ["a": 4, "c": "x"])
    }

    @Test("Parameters can be put together, compared and kept in a set; a style of their own outlasts a stranger's")
    func together() {
        var parameters: QueryParameters = ["a": 1.5]
        let strangers = (["b": nil, "c": true] as QueryParameters).styled(ParameterStyle(arrays: .repeated))
        parameters.append(contentsOf: strangers)
        #expect(parameters.style == strangers.style)
        #expect(parameters.encoded(.query) == (["a": 1.5, "b": nil, "c": true] as QueryParameters).encoded(.query))
        let own = ParameterStyle(arrays: .indexed)
        var styled = (["a": 1.5] as QueryParameters).styled(own)
        styled.append(contentsOf: strangers)
        #expect(styled.style == own)
        #expect(styled != parameters)
        var same: QueryParameters = ["a": 1.5, "b": nil, "c": true]
        same.style = strangers.style
        #expect(Set([parameters, styled, same]).count == 2)
    }
}
