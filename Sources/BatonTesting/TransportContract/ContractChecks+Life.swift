internal import Baton
internal import Foundation

/// Many at once, calls from inside events, backpressure, and the end of the transport.
extension ContractCheck {
    static let life = [
        ContractCheck("Many at once all get their own response") { bench in
            let paths = (0..<20).map { "/n/\($0)" }
            for path in paths { bench.reply(.text(path), path) }
            let started = try (0..<bench.sizes.atOnce).map { try bench.start(.get, "/n/\($0 % 20)?\($0)") }
            for (index, item) in started.enumerated() {
                await item.0.ended()
                bench.expectWhole(item.0.record, "exchange \(index)")
                bench.expect(
                    item.0.record.text == paths[index % 20],
                    "exchange \(index) got “\(item.0.record.text)” for \(paths[index % 20])")
            }
            let arrived = bench.server.requests.count
            bench.expect(arrived == started.count, "\(started.count) requests arrived \(arrived) times")
        },
        ContractCheck("An event may begin and end other exchanges") { bench in
            bench.reply(.text("x"), "/a")
            bench.server.reply(.silence, to: .get, "/b")
            let (first, second, third) = (ExchangeRecorder(), ExchangeRecorder(), ExchangeRecorder())
            let failures = LockBox<[String]>([])
            first.react {
                $0.ends > 0
            } _: {
                do {
                    _ = try bench.start(.get, "/a", recorder: second)
                    try bench.start(.get, "/b", recorder: third).1.cancel()
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            _ = try bench.start(.get, "/a", recorder: first)
            bench.expectWhole(await first.ended(), "an exchange whose end begins others")
            bench.expectWhole(await second.ended(), "an exchange that was begun from inside an event")
            bench.expectFailure(await third.ended(), .cancelled, of: "one begun and cancelled from inside an event")
            bench.expect(failures.withLock { $0.isEmpty }, "nothing could be begun from inside an event")
        },
        ContractCheck("No event is told under a lock of the transport") { bench in
            bench.server.reply(.pieces(.text("0123456789"), bytes: 5), to: .get, "/a")
            bench.server.reply(.silence, to: .get, "/b")
            let (recorder, other) = (ExchangeRecorder(), try bench.start(.get, "/b"))
            let isBlocked = LockBox(false)
            for isTime: @Sendable (ExchangeRecorder.Record) -> Bool in [{ $0.head != nil }, { $0.ends > 0 }] {
                recorder.react(when: isTime) {
                    // Another thread calls the transport, and this one waits for it to come back.
                    let done = DispatchSemaphore(value: 0)
                    Thread.detachNewThread {
                        other.1.cancel()
                        _ = try? bench.start(.get, "/b").1.cancel()
                        done.signal()
                    }
                    if done.wait(timeout: .now() + .seconds(1)) == .timedOut { isBlocked.withLock { $0 = true } }
                }
            }
            _ = try bench.start(.get, "/a", recorder: recorder)
            bench.expectWhole(await recorder.ended(), "an exchange during whose events the transport is called")
            await other.0.ended()
            bench.expect(
                !isBlocked.withLock { $0 }, "a call from another thread had to wait until an event was over")
        },
        ContractCheck("A receiver that waits is told no bytes until it resumes", unless: .cannotHoldBack) { bench in
            let bytes = LoopbackServer.pattern(0..<min(2_000_000, bench.sizes.largeBody))
            bench.server.reply(.pieces(HTTPResponse(status: 200, body: bytes), bytes: bytes.count / 20), to: .get, "/p")
            bench.reply(.text("x"), "/x")
            let recorder = ExchangeRecorder()
            recorder.demand { $0 == 1 || $0 == 2 ? .wait : .more }
            let (_, transmission) = try bench.start(.get, "/p", recorder: recorder)
            for chunk in 1...2 {
                await recorder.wait { $0.chunks >= chunk || $0.ends > 0 }
                // Others go on meanwhile, and give the bytes time to come.
                for _ in 0..<5 { bench.expectWhole(try await bench.exchange(.get, "/x"), "another exchange") }
                let record = recorder.record
                bench.expect(record.chunks == chunk, "after waiting at chunk \(chunk), \(record.chunks) had come")
                bench.expect(record.ends == 0, "it ended while the receiver waited")
                transmission.resume()
            }
            await recorder.ended()
            bench.expectWhole(recorder.record, "an exchange whose receiver waited")
            bench.expect(recorder.record.body == bytes, "bytes were lost while the receiver waited")
        },
        ContractCheck("Cancelling an exchange whose receiver waits ends it", unless: .cannotHoldBack) { bench in
            let bytes = LoopbackServer.pattern(0..<min(2_000_000, bench.sizes.largeBody))
            bench.server.reply(.pieces(HTTPResponse(status: 200, body: bytes), bytes: bytes.count / 20), to: .get, "/p")
            let recorder = ExchangeRecorder()
            recorder.demand { _ in .wait }
            let (_, transmission) = try bench.start(.get, "/p", recorder: recorder)
            await recorder.wait { $0.chunks > 0 }
            transmission.cancel()
            await recorder.ended()
            bench.expectFailure(recorder.record, .cancelled, of: "an exchange whose receiver waits")
        },
        ContractCheck("Shutting down ends what is open once, and refuses what comes later") { bench in
            bench.server.reply(.silence, to: .get, "/c")
            bench.reply(.text("x"), "/x")
            bench.expectWhole(try await bench.exchange(.get, "/x"), "an exchange before the shutdown")
            let started = try (0..<100).map { _ in try bench.start(.get, "/c") }
            await bench.server.waitForRequests(4)
            bench.transport.shutdown()
            bench.transport.shutdown()
            for (recorder, transmission) in started {
                await recorder.ended()
                transmission.cancel()
            }
            for path in ["/c", "/x"] {
                let record = try await bench.exchange(.get, path)
                bench.expectFailure(record, .transportClosed, of: "an exchange after the shutdown")
            }
            for (recorder, _) in started {
                bench.expectFailure(recorder.record, .transportClosed, .cancelled, of: "one that was open at shutdown")
            }
        },
        ContractCheck("Shutting down from inside an event does not hang") { bench in
            bench.reply(.text("x"), "/x")
            bench.server.reply(.silence, to: .get, "/c")
            let (recorder, open) = (ExchangeRecorder(), try bench.start(.get, "/c"))
            recorder.react(when: { $0.ends > 0 }, { bench.transport.shutdown() })
            _ = try bench.start(.get, "/x", recorder: recorder)
            bench.expectWhole(await recorder.ended(), "an exchange whose end shuts the transport down")
            bench.expectFailure(await open.0.ended(), .transportClosed, .cancelled, of: "one that was open then")
        },
    ]
}
