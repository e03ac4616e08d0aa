package io.farheap.bench.kv.leases;

import io.farheap.bench.report.BenchReport;
import io.farheap.control.ControlException;
import io.farheap.kv.FarMap;
import io.farheap.kv.FarMapBuilder;
import io.farheap.kv.contract.MapException;
import java.time.Duration;

/**
 * One side of a comparison: how its map is made, and how processes use it.
 *
 * @param policy the name of the side
 * @param engine of the map
 * @param term of queue 1 of a leased map, in ms
 * @param longest the longest term, in ms; 0: no leases
 * @param queues LRU queues of a leased map
 * @param pointers whether processes keep pointers; without them every get is a message
 * @param reports whether processes report their READs
 * @param written whether processes write their reports into memory of their own at the servers
 */
record LeaseSide(
        String policy,
        String engine,
        int term,
        int longest,
        int queues,
        boolean pointers,
        boolean reports,
        boolean written) {

    static final int MOST_QUEUES = 16;

    private static final String NAME = "leases";
    private static final String TOKEN = "of a benchmark";
    private static final long MOST_POINTERS = 1 << 18;
    /** Of a pointer of a leased map, and of one of the other engine. */
    private static final int LEASED_POINTER_BYTES = 128;

    private static final int POINTER_BYTES = 64;
    private static final int MOST_TRIES = 3;

    /** A map of the engine as it is made by default, but for its terms and queues. */
    static LeaseSide leased(String policy, int term, int longest, int queues) {
        return new LeaseSide(policy, FarMapBuilder.LEASED, term, longest, queues, true, true, false);
    }

    /** The same without leases: every get is a message, by which the server sees it. */
    static LeaseSide byMessage(String policy, int term, int queues) {
        return new LeaseSide(policy, FarMapBuilder.LEASED, term, 0, queues, false, false, false);
    }

    LeaseSide withoutReports(String named) {
        return new LeaseSide(named, engine, term, longest, queues, pointers, false, false);
    }

    LeaseSide withWrittenReports(String named) {
        return new LeaseSide(named, engine, term, longest, queues, pointers, true, true);
    }

    boolean isLeased() {
        return engine.equals(FarMapBuilder.LEASED);
    }

    /** Creates the map, as the first process. */
    FarMap create(LeaseServerPair servers, long bytes, long objects) {
        FarMapBuilder builder = of(servers).engine(engine).memory(bytes).objects(objects);
        if (isLeased()) {
            builder.leaseTerms(Duration.ofMillis(term), Duration.ofMillis(longest))
                    .leaseQueues(queues);
        }
        // Tried again, so that a long run does not end if a server on a busy machine answers late once.
        for (int tries = 1; ; tries++) {
            try {
                return builder.create();
            } catch (MapException | ControlException e) {
                if (tries == MOST_TRIES) {
                    throw e;
                }
            }
        }
    }

    /** Opens the map, as another process. */
    FarMap open(LeaseServerPair servers) {
        return of(servers).open();
    }

    private FarMapBuilder of(LeaseServerPair servers) {
        return FarMap.builder()
                .name(NAME)
                .token(TOKEN)
                .servers(servers.addresses())
                .pointers(pointers ? MOST_POINTERS : 0)
                .reports(reports)
                .writtenReports(written);
    }

    /** Returns the memory that each process has for pointers at most, of which it uses what it needs. */
    long localBytes() {
        return pointers ? MOST_POINTERS * (isLeased() ? LEASED_POINTER_BYTES : POINTER_BYTES) : 0;
    }

    /** Puts what the side is. */
    void put(BenchReport.Row row) {
        row.put("engine", engine).put("policy", policy).put("bytes_local", localBytes());
        if (isLeased()) {
            row.put("term", (long) term)
                    .put("longest", (long) longest)
                    .put("queues", (long) queues)
                    .put("reports", reports)
                    .put("written_reports", written);
        }
    }
}
