import Baton
import Testing

/// What a plan says of itself before it runs.
@Suite("Diagrams of plans")
struct PlanDiagramTests {
    struct SignIn: Request {
        struct Output: Codable, Response { let token: String }
        let password: String
        var method: HTTPMethod { .post }
        var path: String { "/sign-in?key=\(password)" }
        var body: HTTPBody { .json(["password": password]) }
    }

    struct OpenShop: Plan {
        var chain: Chain<Item> { SignIn(password: "hunter2").then { _ in GetItem(n: 1) } }
    }

    @Test("A chain shows its steps by the numbers that errors name, and calls none of its closures")
    func chain() {
        let called = Record<String>()
        let plan = SignIn(password: "hunter2")
            .then { _ in
                called.add("then")
                return GetItem(n: 1)
            }
            .map { item in
                called.add("map")
                return item.n
            }
            .then { (n: Int) async -> Batch<Item> in
                called.add("then async")
                await Task.yield()
                return Batch([GetItem(n: n)])
            }
            .recover { error in
                called.add("recover")
                return Chain<Report<Item>>.failure(error)
            }
            .undo { _ in
                called.add("undo")
                return Chain.value(())
            }
            .delayed(by: .milliseconds(1_500))
        #expect(
            plan.description == """
                chain of 3 steps
                ├─ [0] SignIn: POST /sign-in
                ├─ [1] then … → GetItem
                ├─ map … → Int
                ├─ [2] then async … → Batch<Item>
                ├─ recover …
                ├─ undo …, within 30 s
                └─ wait 1.5 s
                """)
        #expect("\(plan)" == plan.description)
        #expect(called.all.isEmpty)
    }

    @Test("A batch shows its limit, its count where that is known, and its first items")
    func batch() {
        let called = Record<Int>()
        let batch = Batch((1...12).map { GetItem(n: $0) }, maxConcurrency: 4)
            .reconnect { _ in
                called.add(1)
                return .accept
            }
            .failurePolicy(.failFast)
        #expect(
            batch.description == """
                batch of 12 × GetItem, at most 4 at once, reconnect …, failFast
                ├─ [0] GetItem: GET /items/1
                ├─ [1] GetItem: GET /items/2
                ├─ [2] GetItem: GET /items/3
                └─ … 9 more items
                """)
        let lazy = Batch(
            Made(7) { n in
                called.add(n)
                return GetItem(n: n)
            }, maxConcurrency: 2)
        #expect(lazy.description == "batch of GetItem, at most 2 at once")
        #expect(Batch(LazyPlans(count: 1_000_000)).description == "batch of 1,000,000 × GetItem, at most 5 at once")
        #expect(called.all.isEmpty)
    }

    @Test("Parts, options, polling, pages, shared parts and plans of one's own show what they are")
    func parts() {
        let session = SignIn(password: "p").shared()
        let plan = zip(
            session.then { _ in GetItem(n: 1) }.timeout(.seconds(5)),
            session.tag("x"),
            GetItem(n: 2).repeated(every: .seconds(2), atMost: 10) { $0.n > 3 },
            Pages(GetPage(n: 1), maxPages: 3) { $0.next.map(GetPage.init) },
            OpenShop(),
            Call("http://u:pw@h/users?token=1", as: [Item].self),
            Optional<GetItem>.none,
            Chain.value(7))
        #expect(
            plan.description == """
                chain of 1 step
                ├─ [0] zip of 8
                │  ├─ [0] timeout 5 s
                │  │  └─ chain of 2 steps
                │  │     ├─ [0] shared, run once
                │  │     │  └─ SignIn: POST /sign-in
                │  │     └─ [1] then … → GetItem
                │  ├─ [1] tag "x"
                │  │  └─ shared, as above
                │  ├─ [2] repeated every 2 s, at most 10 times, until …
                │  │  └─ GetItem: GET /items/2
                │  ├─ [3] pages, next …, at most 3
                │  │  └─ GetPage: GET /pages/1
                │  ├─ [4] OpenShop
                │  │  └─ chain of 2 steps
                │  │     ├─ [0] SignIn: POST /sign-in
                │  │     └─ [1] then … → GetItem
                │  ├─ [5] GET http://h/users → Array<Item>
                │  ├─ [6] nothing to do
                │  └─ [7] value: Int
                └─ map … → (Item, Output, Item, Array<Page>, Item, Array<Item>, Option…
                """)
    }

    @Test("No form of a plan shows a query, a field, a body or a value", arguments: DiagramFormat.allCases)
    func secrets(format: DiagramFormat) {
        let plan = SignIn(password: "hunter2").then { _ in Chain.value("hunter2") }.fallback(to: "hunter2")
        #expect(!plan.diagram(format).contains("hunter2"))
        #expect(!Call("http://ada:hunter2@h/", as: String.self).diagram(format).contains("hunter2"))
    }

    @Test("Mermaid and Graphviz get boxes within boxes, and arrows from step to step")
    func graphs() {
        let plan = SignIn(password: "p").then { _ in GetItem(n: 1) }.map { "\($0)" }
        #expect(
            plan.diagram(.mermaid) == """
                flowchart TB
                    subgraph n0["chain of 2 steps"]
                        n1(["#91;0#93; SignIn: POST /sign-in"])
                        n2["#91;1#93; then … → GetItem"]
                        n3["map … → String"]
                    end
                    n1 --> n2
                    n2 --> n3
                """)
        let dot = zip(GetItem(n: 1), GetItem(n: 2)).diagram(.dot)
        #expect(dot.contains(#"subgraph cluster1 { label="[0] zip of 2""#))
        #expect(dot.contains("n2 -> n4 [ltail=cluster1]"))
        #expect(dot.filter { $0 == "{" }.count == dot.filter { $0 == "}" }.count)
    }

    @Test("A chain of 100,000 steps is cut in the middle, and says by how much")
    func long() {
        var chain = Chain.value(0)
        for _ in 0..<100_000 { chain = chain.then { Chain.value($0) } }
        let lines = chain.description.split(separator: "\n")
        #expect(lines.first == "chain of 100,001 steps")
        #expect(lines.count == 26)
        #expect(lines.contains("├─ … 99,977 more steps"))
        #expect(lines.last == "└─ [100000] then … → Chain<Int>")
    }

    @Test("A plan that is nested 10,000 deep is cut below, on a small stack", arguments: DiagramFormat.allCases)
    func deep(format: DiagramFormat) async {
        let text = Record<String>()
        await Threads.onSmallStack {
            var plan = Chain.value(0)
            for _ in 0..<10_000 { plan = plan.timeout(.seconds(1)) }
            text.add(plan.diagram(format))
        }
        #expect(text.all.first?.contains("… 9,977 more within") == true)
    }

    @Test("A plan whose parts are used twice at each of 60 levels ends soon, and says that it is cut")
    func doubled() {
        var plan = Chain.value(0)
        for _ in 0..<60 {
            let part = plan
            plan = zip(part, part).map { $0.0 }
        }
        let lines = plan.description.split(separator: "\n")
        #expect(lines.count == 1_001)
        #expect(lines.last == "… and more")
    }
}
