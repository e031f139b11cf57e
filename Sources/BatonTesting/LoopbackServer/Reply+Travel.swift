public import Baton
internal import Foundation

/// How a reply travels: its pace, its framing and what goes wrong on the way.
extension LoopbackServer.Reply {
    private func changed(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }

    /// The reply after a wait, before its status line.
    public func delayed(by delay: Duration) -> Self { changed { $0.delay = delay } }

    /// The reply with a field line more.
    public func adding(_ name: HTTPFieldName, _ value: String) -> Self {
        changed { $0.fields.append(value, for: name) }
    }

    /// The reply with a `Set-Cookie` line for each of the cookies.
    public func settingCookies(_ cookies: String...) -> Self {
        changed { for cookie in cookies { $0.fields.append(cookie, for: .setCookie) } }
    }

    /// The reply with the connection closed after it.
    public func closing() -> Self { changed { $0.connection = .close } }

    /// The reply with a chunked body.
    public func chunked() -> Self { changed { $0.framing = .chunked } }

    /// The reply with neither length nor chunks: the body ends with the connection.
    public func untilClose() -> Self {
        changed { $0.framing = .untilClose }
    }

    /// The reply with its body in pieces of so many bytes, and a pause between one and the next. A body that is
    /// generated is not cut up; throttle it instead.
    public func dribbled(bytes size: Int, every interval: Duration) -> Self {
        changed { reply in
            guard case .pieces = reply.content else { return }
            let body = reply.body
            let step = max(size, 1)
            let pieces = stride(from: body.startIndex, to: body.endIndex, by: step).map { start in
                body[start..<min(start + step, body.endIndex)]
            }
            reply.content = .pieces(pieces, interval: interval)
        }
    }

    /// The reply with its body held to a rate, in slices of a few milliseconds.
    public func throttled(bytesPerSecond: Int) -> Self { changed { $0.bytesPerSecond = max(bytesPerSecond, 1) } }

    /// The reply after an interim one, such as 100 (Continue) or 103 (Early Hints).
    public func preceded(byStatus status: Int, fields: HTTPFields = [:]) -> Self {
        changed { $0.interim.append(Interim(status: status, fields: fields)) }
    }

    /// The reply held at a place until the gate is released.
    public func held(by gate: LoopbackServer.Gate, at place: Place = .beforeReply) -> Self {
        changed { $0.cuts.append(Cut(place: place, action: .hold(gate))) }
    }

    /// The reply cut off at a place.
    public func broken(_ break: Break, at place: Place) -> Self {
        changed { $0.cuts.append(Cut(place: place, action: .breakOff(`break`))) }
    }

    /// The reply with a chunked body whose last chunk never comes: the connection is closed in its place.
    public func withoutLastChunk() -> Self {
        changed {
            $0.framing = .chunked
            $0.omitsLastChunk = true
            $0.connection = .close
        }
    }

    /// The reply with a wrong `Content-Length`. When it is too large, the connection is closed after the body;
    /// when it is too small, the rest of the body follows as stray bytes.
    public func claiming(contentLength: Int64) -> Self {
        changed { $0.fields[.contentLength] = String(contentLength) }
    }

    /// The reply with a field that makes the head larger by so many bytes, and one line longer.
    public func padded(headBytes: Int) -> Self {
        adding("X-Padding", String(repeating: "x", count: max(headBytes, 0)))
    }
}
