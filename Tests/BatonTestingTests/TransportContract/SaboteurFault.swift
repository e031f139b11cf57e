import BatonTesting

extension Saboteur {
    /// One way to break the contract; the text says which checks must notice.
    enum Fault: String, CaseIterable, Sendable {
        // What becomes of requests.
        case shoutsMethods, decodesTargets, dropsRequestFields, shortensBodies, shortensLargeBodies, closesStreamsTwice
        case swallowsStreamFailures, typesEmptyBodies, streamsMemory, makesForms, forgetsLengths, closesConnections
        case mixesUp
        // What becomes of responses.
        case endsTwice, dropsResponseFields, judgesStatuses, followsRedirects, dropsContentLength, inventsBodies
        case tellsInterims, waitsForCredentials, namesSecrets, refusesEmptiness, losesTails, leavesCoded
        case shortensResponses, swapsPieces, endsWhereItBreaks, namesNoFailure, givesUp
        // What becomes of cancels.
        case answersEachCancel, hesitates, babbles, ignoresCancelInEvents, answersAndForwards, answersLateCancels
        case leavesStreamsOpen, cancelsAll, keepsConnections, saysAllIsSent
        // The rest of its life.
        case refusesReentry, locks, ignoresWaits, ignoresCancelWhileWaiting, staysOpen, ignoresShutdownInEvents
        case leavesConnections, leaks

        /// Whether an exchange hangs, which only the limit of the check ends.
        var hangs: Bool {
            switch self {
            case .waitsForCredentials, .leavesStreamsOpen, .keepsConnections, .ignoresCancelWhileWaiting, .staysOpen,
                .ignoresShutdownInEvents, .leavesConnections:
                true
            default: false
            }
        }

        /// The checks that must fail, by how their names begin.
        var checks: [String] {
            switch self {
            case .shoutsMethods: ["Every method arrives"]
            case .decodesTargets: ["A target arrives"]
            case .dropsRequestFields: ["Fields of a request"]
            case .shortensBodies: ["A body in memory arrives"]
            case .shortensLargeBodies: ["A large body arrives"]
            case .closesStreamsTwice: ["A stream arrives whole"]
            case .swallowsStreamFailures: ["A stream that fails"]
            case .typesEmptyBodies: ["POST, PUT and PATCH without a body"]
            case .streamsMemory: ["A body in memory is framed once"]
            case .makesForms: ["No form is made"]
            case .forgetsLengths: ["A stream is framed once"]
            case .closesConnections: ["Connections are kept", "Exchanges at the same time share"]
            case .mixesUp: ["Many at once"]
            case .endsTwice: ["A response arrives whole"]
            case .dropsResponseFields: ["Fields of a response"]
            case .judgesStatuses: ["No status is an error"]
            case .followsRedirects: ["Redirects are returned"]
            case .dropsContentLength: ["A response to HEAD"]
            case .inventsBodies: ["204 and 304"]
            case .tellsInterims: ["Interim responses"]
            case .waitsForCredentials: ["A 401 with a Basic challenge"]
            case .namesSecrets: ["An error names no secret"]
            case .refusesEmptiness: ["An empty response"]
            case .losesTails: ["Chunked, unframed and empty"]
            case .leavesCoded: ["A compressed body"]
            case .shortensResponses: ["A large body comes back"]
            case .swapsPieces: ["A body in pieces"]
            case .endsWhereItBreaks: ["A body that is cut off", "A wrong length"]
            case .namesNoFailure:
                [
                    "A refused connection", "A name that no one has", "A connection that ends or is reset",
                    "What is no HTTP",
                ]
            case .givesUp: ["After a failure"]
            case .answersEachCancel: ["Cancelling at once"]
            case .hesitates: ["Cancelling ends an exchange that has stalled"]
            case .babbles: ["Cancelling in the middle of a body"]
            case .ignoresCancelInEvents: ["Cancelling from inside an event"]
            case .answersAndForwards: ["Cancelling while it is being sent"]
            case .answersLateCancels: ["Cancelling after the end"]
            case .leavesStreamsOpen: ["Cancelling an upload"]
            case .cancelsAll: ["Cancelling some of many"]
            case .keepsConnections: ["Cancelling closes the connection"]
            case .saysAllIsSent: ["Cancelling a large upload"]
            case .refusesReentry: ["An event may begin"]
            case .locks: ["No event is told under a lock"]
            case .ignoresWaits: ["A receiver that waits"]
            case .ignoresCancelWhileWaiting: ["Cancelling an exchange whose receiver waits"]
            case .staysOpen: ["Shutting down ends what is open"]
            case .ignoresShutdownInEvents: ["Shutting down from inside an event"]
            case .leavesConnections: ["Shutting down closes every connection"]
            case .leaks: ["A transport that was shut down leaves"]
            }
        }
    }
}
