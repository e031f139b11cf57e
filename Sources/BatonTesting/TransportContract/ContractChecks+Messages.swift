internal import Baton
internal import Foundation

/// Requests and responses.
extension ContractCheck {
    static let messages = [
        ContractCheck("A response arrives whole, and its end is told once") { bench in
            bench.reply(.text("hello", fields: ["X-Reply": "yes"]), "/x")
            for _ in 0..<20 {
                let record = try await bench.exchange(.get, "/x")
                bench.expectWhole(record, "an exchange")
                bench.expect(record.head?.status == 200, "the status was \(record.head?.status ?? 0), not 200")
                bench.expect(record.text == "hello", "the body was “\(record.text)”, not “hello”")
                bench.expect(record.head?.fields["x-reply"] == "yes", "a field of the response is missing")
            }
        },
        ContractCheck("Every method arrives as it is written") { bench in
            let methods: [HTTPMethod] = [
                .get, .head, .post, .put, .patch, .delete, .options, .trace, "PURGE", "report",
            ]
            for method in methods {
                bench.reply(HTTPResponse(status: 200), to: method, "/m")
                let record = try await bench.exchange(method, "/m")
                bench.expectWhole(record, "\(method)")
                let last = bench.server.requests.last
                bench.expect(last?.method == method, "\(method) arrived as \(last?.method.rawValue ?? "nothing")")
                bench.expect(last?.body.isEmpty == true, "\(method) without a body arrived with one")
            }
        },
        ContractCheck("A target arrives byte for byte") { bench in
            let path = "/a%20b/%C3%A9/;x=1/"
            bench.reply(HTTPResponse(status: 200), path)
            let target = path + "?q=%2B+a%26b&q=2&e=&=&%5B%5D=1"
            _ = try await bench.exchange(.get, target)
            let arrived = bench.server.requests.map(\.target)
            bench.expect(arrived == [target], "\(target) arrived as \(arrived)")
        },
        ContractCheck("Fields of a request arrive with all of their values, in order") { bench in
            bench.reply(HTTPResponse(status: 200), "/f")
            let fields: HTTPFields = ["X-One": "1", "x-one": "2", "X-Empty": "", "Cookie": "a=1", "cookie": "b=2"]
            _ = try await bench.exchange(.get, "/f", fields: fields)
            let arrived = bench.server.requests.last?.fields ?? [:]
            bench.expectValues(arrived, "X-One", ["1", "2"])
            let cookies = arrived.list(for: .cookie, separator: ";")
            bench.expect(cookies == ["a=1", "b=2"], "two cookies arrived as \(cookies)")
            bench.expect(arrived.contains("X-Empty"), "a field with an empty value did not arrive")
        },
        ContractCheck("Fields of a response arrive with all of their values, and no cookie is kept") { bench in
            let fields: HTTPFields = [
                "x-lower": "1", "X-Many": "a", "x-many": "b", "Set-Cookie": "a=1; Path=/", "Set-Cookie": "b=2",
            ]
            bench.reply(.text("x", fields: fields), "/f")
            let arrived = try await bench.exchange(.get, "/f").head?.fields ?? [:]
            bench.expect(arrived["X-Lower"] == "1", "a field in lower case is not found under another case")
            bench.expectValues(arrived, "X-Many", ["a", "b"])
            bench.expectValues(arrived, .setCookie, ["a=1; Path=/", "b=2"])
            _ = try await bench.exchange(.get, "/f")
            bench.expect(
                bench.server.requests.last?.fields.contains(.cookie) == false, "a cookie was kept and sent back")
        },
        ContractCheck("No status is an error") { bench in
            for status in [200, 201, 206, 300, 400, 403, 404, 407, 429, 500, 503] {
                bench.reply(.text("b", status: status), "/s")
                let record = try await bench.exchange(.get, "/s")
                bench.expectWhole(record, "status \(status)")
                bench.expect(record.head?.status == status, "\(status) came as \(record.head?.status ?? 0)")
                bench.expect(record.text == "b", "the body of a response with status \(status) was “\(record.text)”")
            }
        },
        ContractCheck("Redirects are returned with their body, and not followed") { bench in
            for status in [301, 302, 303, 307, 308] {
                for method: HTTPMethod in [.get, .post] {
                    bench.reply(.text("moved", status: status, fields: [.location: "/target"]), to: method, "/r")
                    let record = try await bench.exchange(method, "/r", body: method == .post ? .text("x") : .none)
                    bench.expectWhole(record, "a redirect with \(status)")
                    bench.expect(
                        record.head?.status == status && record.head?.fields[.location] == "/target",
                        "a redirect with \(status) to \(method) came as \(record.head?.status ?? 0)")
                    bench.expect(record.text == "moved", "the body of a redirect with \(status) is missing")
                }
            }
            let paths = Set(bench.server.requests.map(\.target))
            bench.expect(paths == ["/r"], "redirects were followed: \(paths.sorted())")
        },
    ]
}

extension ContractBench {
    /// Notes unless the field has these values: on lines of their own, unless the transport may join them.
    func expectValues(_ fields: HTTPFields, _ name: HTTPFieldName, _ values: [String]) {
        let joins = allowances.contains(.joinsRepeatedFields)
        let arrived = joins ? fields.list(for: name, separator: ",") : fields.values(for: name)
        expect(arrived == values, "\(name) with the values \(values) arrived as \(arrived)")
    }
}
