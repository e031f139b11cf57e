public import Foundation

extension Timeline {
    /// The attempts in the Trace Event Format, which `chrome://tracing`, Perfetto and other viewers open: a process for
    /// each run, a thread for each attempt that overlaps others, and the phases of a connection within their attempt.
    public func chromeTrace() -> Data {
        let model = model
        var events: [JSONValue] = []
        for (index, run) in model.runs.enumerated() {
            let process = JSONValue.int(Int64(index + 1))
            events.append([
                "ph": "M", "name": "process_name", "pid": process, "args": ["name": .string(run.name)],
            ])
            var lanes: [Double] = []
            let calls = run.groups.flatMap { group in group.calls.map { (group.name, $0) } }
            for (group, call) in calls.sorted(by: { $0.1.begin < $1.1.begin }) {
                for attempt in call.attempts {
                    let lane = lanes.firstIndex { $0 <= attempt.begin } ?? lanes.count
                    if lane == lanes.count { lanes.append(0) }
                    lanes[lane] = attempt.ended
                    let thread = JSONValue.int(Int64(lane + 1))
                    events += attempt.slices(of: call, in: group).map { slice in
                        .object([
                            "ph": "X", "pid": process, "tid": thread, "name": .string(slice.name),
                            "cat": .string(slice.kind), "ts": .double(slice.start * 1_000),
                            "dur": .double(slice.length * 1_000), "args": slice.arguments,
                        ])
                    }
                }
            }
        }
        for mark in model.marks {
            events.append([
                "ph": "i", "s": "g", "pid": 1, "tid": 0, "name": .string(mark.text), "ts": .double(mark.time * 1_000),
            ])
        }
        return JSONValue.object(["displayTimeUnit": "ms", "traceEvents": .array(events)]).data
    }
}

extension TimelineModel.Call {
    fileprivate var begin: Double { attempts.first?.begin ?? 0 }
}

extension TimelineModel.Attempt {
    fileprivate typealias Slice = (name: String, kind: String, start: Double, length: Double, arguments: JSONValue)

    fileprivate func slices(of call: TimelineModel.Call, in group: String) -> [Slice] {
        var slices: [Slice] = []
        if let queued {
            let end = started ?? ended
            slices.append(("wait for a slot", "queue", queued, max(0, end - queued), .object([:])))
        }
        guard let started else { return slices }
        var arguments: [String: JSONValue] = [
            "url": .string(call.url), "attempt": .int(Int64(number)), "place": .string(group + call.place),
            "end": .string(end.rawValue),
        ]
        if let status { arguments["status"] = .int(Int64(status)) }
        if let error { arguments["error"] = .string(error) }
        for fact in facts { arguments[fact.name] = .string(fact.value) }
        slices.append(
            ("\(call.method) \(call.path)", "attempt", started, max(0, ended - started), .object(arguments)))
        slices += phases.map { ($0.name, "phase", $0.start, $0.length, .object([:])) }
        return slices
    }
}
