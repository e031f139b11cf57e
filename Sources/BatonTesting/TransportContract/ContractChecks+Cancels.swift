internal import Baton
internal import Foundation

/// Cancelling, at every moment.
extension ContractCheck {
    static let cancels = [
        ContractCheck("Cancelling at once ends the exchange once, as cancelled, however often it is said") { bench in
            bench.server.reply(.silence, to: .get, "/c")
            for _ in 0..<50 {
                let (recorder, transmission) = try bench.start(.get, "/c")
                transmission.cancel()
                transmission.cancel()
                await recorder.ended()
                transmission.cancel()
                transmission.resume()
                bench.expectFailure(recorder.record, .cancelled, of: "an exchange that is cancelled at once")
            }
        },
        ContractCheck("Cancelling ends an exchange that has stalled, within half a second") { bench in
            bench.server.reply(.silence, to: .get, "/c")
            bench.server.reply(.silenceAfter(.text("0123456789")), to: .get, "/b")
            for path in ["/c", "/b"] {
                let (recorder, transmission) = try bench.start(.get, path)
                if path == "/c" { await bench.server.waitForRequests(1) } else { await recorder.wait { $0.chunks > 0 } }
                let (start, end) = (LiveScheduler.shared.now, LockBox<Instant?>(nil))
                // Looked at where it is told: the task that waits for it may get its turn much later.
                recorder.react(when: { $0.ends > 0 }, { end.withLock { $0 = LiveScheduler.shared.now } })
                transmission.cancel()
                await recorder.ended()
                let time = end.withLock { $0 }.map { start.duration(to: $0) } ?? .zero
                bench.expectFailure(recorder.record, .cancelled, of: "an exchange that stalls")
                bench.expect(time < .milliseconds(500), "a cancel took \(time)")
            }
        },
        ContractCheck("Cancelling in the middle of a body keeps what was told, and tells no more") { bench in
            bench.server.reply(.silenceAfter(.text("0123456789")), to: .get, "/b")
            let (recorder, transmission) = try bench.start(.get, "/b")
            await recorder.wait { $0.body.count == 10 }
            transmission.cancel()
            await recorder.ended()
            bench.expectFailure(recorder.record, .cancelled, of: "an exchange whose body stalls")
            bench.expect(recorder.record.head?.status == 200, "the head of an exchange that was cancelled is missing")
            bench.expect(recorder.record.text == "0123456789", "the body that was told has changed")
        },
        ContractCheck("Cancelling from inside an event ends the exchange after that event") { bench in
            let bytes = LoopbackServer.pattern(0..<3_000_000)
            bench.server.reply(.pieces(HTTPResponse(status: 200, body: bytes), bytes: 100_000), to: .get, "/c")
            for count in [0, 1, 100_000] {
                let (box, recorder) = (LockBox<(any Transmission)?>(nil), ExchangeRecorder())
                recorder.demand { _ in box.withLock { $0 } == nil ? .wait : .more }
                recorder.react {
                    $0.head != nil && $0.body.count >= count
                } _: {
                    box.withLock { $0 }?.cancel()
                }
                let (_, transmission) = try bench.start(.get, "/c", recorder: recorder)
                box.withLock { $0 = transmission }
                // Where the event came before there was anything to cancel, it is cancelled now.
                if recorder.record.body.count >= count, recorder.record.head != nil { transmission.cancel() }
                transmission.resume()
                await recorder.ended()
                bench.expectFailure(recorder.record, .cancelled, of: "an exchange cancelled from inside an event")
                bench.expect(recorder.record.body.count < bytes.count, "the whole body came all the same")
            }
        },
        ContractCheck("Cancelling while it is being sent, from another thread, ends it once") { bench in
            bench.reply(.text("x"), "/c")
            for round in 0..<200 {
                let (recorder, transmission) = try bench.start(.get, "/c")
                Task.detached { transmission.cancel() }
                if round % 2 == 0 { transmission.cancel() }
                await recorder.ended()
                let error = recorder.record.error
                bench.expect(
                    error == nil || error?.isCancelled == true, "a cancel ended as \(error?.code.rawValue ?? "")")
                bench.expectOneEnd(recorder.record, "an exchange that is cancelled while it is sent")
            }
        },
        ContractCheck("Cancelling after the end changes nothing") { bench in
            bench.reply(.text("x"), "/c")
            let (recorder, transmission) = try bench.start(.get, "/c")
            await recorder.ended()
            transmission.cancel()
            transmission.resume()
            bench.expectWhole(try await bench.exchange(.get, "/c"), "the next exchange")
            bench.expectWhole(recorder.record, "an exchange that is cancelled after its end")
        },
        ContractCheck("Cancelling an upload stops it, and closes its stream once") { bench in
            bench.reply(HTTPResponse(status: 200), to: .post, "/u")
            for isSilent in [true, false] {
                let reader = StalledReader(bytesBefore: isSilent ? 0 : 100_000)
                let stream = HTTPBodyStream(isReplayable: false) { reader }
                let (recorder, transmission) = try bench.start(.post, "/u", body: .stream(stream))
                await reader.stalled()
                transmission.cancel()
                await recorder.ended()
                bench.expectFailure(recorder.record, .cancelled, of: "an upload that stalls")
                await reader.closed()
                reader.wake()
                bench.expect(reader.closes == 1, "its stream was closed \(reader.closes) times")
            }
            bench.expectWhole(try await bench.exchange(.post, "/u"), "the next exchange")
        },
        ContractCheck("Cancelling some of many leaves the others alone") { bench in
            bench.server.reply(.silence, to: .get, "/c")
            bench.server.reply(.pieces(.text("0123456789"), bytes: 1), to: .get, "/d")
            let started = try (0..<40).map { try bench.start(.get, $0 % 2 == 0 ? "/c" : "/d") }
            for (index, item) in started.enumerated() where index % 2 == 0 { item.1.cancel() }
            for (index, item) in started.enumerated() {
                await item.0.ended()
                if index % 2 == 0 {
                    bench.expectFailure(item.0.record, .cancelled, of: "the one that was cancelled")
                } else {
                    bench.expectWhole(item.0.record, "one that was not cancelled")
                }
            }
        },
        ContractCheck(onTheWire: "Cancelling closes the connection") { bench, server in
            let text = String(repeating: "x", count: 100_000)
            for place: LoopbackServer.Reply.Place in [.beforeReply, .afterHead, .midBody] {
                server.on(.get, "/c", .text(text).held(by: LoopbackServer.Gate(), at: place))
                let (recorder, transmission) = try bench.start(.get, "/c")
                if place == .beforeReply {
                    await server.waitForRequests(1)
                } else {
                    await recorder.wait { $0.head != nil && ($0.chunks > 0 || place == .afterHead) }
                }
                transmission.cancel()
                await recorder.ended()
                bench.expectFailure(recorder.record, .cancelled, of: "an exchange held at \(place)")
                await server.wait { $0.openConnections == 0 }
            }
        },
        ContractCheck(onTheWire: "Cancelling a large upload that nobody reads stops it") { bench, server in
            server.on(.post, "/u", .stall, body: .unread)
            let (recorder, transmission) = try bench.start(.post, "/u", body: .data(Data(count: 30_000_000)))
            await recorder.wait { !$0.sent.isEmpty }
            transmission.cancel()
            await recorder.ended()
            bench.expectFailure(recorder.record, .cancelled, of: "a large upload")
            bench.expect(recorder.record.sent.last ?? 0 < 30_000_000, "all of it was said to be sent")
        },
    ]
}
