package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.Completion;
import io.farheap.latency.LatencyTracking;
import io.farheap.posix.AsymmetricFence;
import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Reads and writes allocate nothing, with and without latency tracking: measured in bytes, by the JVM's own count. */
@Tag("optimised")
@Needs(Need.HOST)
class AllocationTest {

    /** The operations of a round. */
    private static final int OPERATIONS = 10_000;
    /** The operations of a round if each waits for other threads, which takes a time slice on a busy machine. */
    private static final int HANDED_OVER_OPERATIONS = 1_000;

    private static final int FENCES = 20_000;
    /** The number of successive rounds in which nothing may be allocated. */
    private static final int SILENT_ROUNDS = Effort.either(10, 20);
    /**
     * The most rounds until then. At first code is not compiled yet, and the compilers may take long; the JVM counts
     * allocation buffers, one of which may be retired during any round; and compiled code may be deoptimised.
     */
    private static final int MOST_ROUNDS = 500;

    private static boolean fenced;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final long[] addresses = new long[16];
    private long[] clientThreads;
    private int called;
    private final Completion count = (token, status) -> called++;

    private record Case(Configurations.Way way, LatencyTracking tracking) {}

    /** @return all cases; in a short run each way with one of the trackings, and the first way with all of them */
    static List<Case> cases() {
        List<Configurations.Way> ways = Configurations.allAndOneCoded().toList();
        List<LatencyTracking> trackings = List.of(LatencyTracking.values());
        List<Case> cases = new ArrayList<>();
        for (int way = 0; way < ways.size(); way++) {
            for (int tracking = 0; tracking < trackings.size(); tracking++) {
                if (Effort.isFull() || way == 0 || way % trackings.size() == tracking) {
                    cases.add(new Case(ways.get(way), trackings.get(tracking)));
                }
            }
        }
        return cases;
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    void aReadOrWriteAllocatesNothing(Case each) {
        Configurations.Way way = each.way;
        CacheConfiguration configuration = way.configuration();
        try (Cluster cluster = way.coded() ? new Cluster(2, 2, 2) : new Cluster(4);
                Cache cache = way.builder()
                        .capacity(4 * Cluster.REGION_BYTES)
                        .servers(cluster.addresses())
                        .trackLatency(each.tracking)
                        .create();
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(64 * 1024)) {
            int operations = configuration.equals(Configurations.DIRECT) ? OPERATIONS : HANDED_OVER_OPERATIONS;
            run(session, buffer, operations);
            // A thread that goes to sleep calls this fence, so seldom that it would stay interpreted and allocate.
            for (int i = fenced ? FENCES : 0; i < FENCES; i++) {
                AsymmetricFence.heavy();
            }
            fenced = true;
            clientThreads = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().contains("-cli-"))
                    .mapToLong(Thread::threadId)
                    .toArray();
            assertEquals(configuration.clientThreads(), clientThreads.length);
            long last = 0;
            int silent = 0;
            for (int round = 0; round < MOST_ROUNDS && silent < SILENT_ROUNDS; round++) {
                long before = allocated();
                run(session, buffer, operations);
                long bytes = allocated() - before;
                silent = bytes == 0 ? silent + 1 : 0;
                last = bytes == 0 ? last : bytes;
            }
            assertEquals(
                    SILENT_ROUNDS,
                    silent,
                    "last rounds of " + operations + " operations that allocated nothing; before, one allocated " + last
                            + " bytes");
        }
    }

    @Test
    void theMeasurementSeesWhatIsAllocated() {
        long before = threads.getCurrentThreadAllocatedBytes();
        Object kept = new byte[1024];
        assertEquals(true, threads.getCurrentThreadAllocatedBytes() - before >= 1024 && kept != null);
    }

    /** @return the bytes that this thread and the client threads have allocated */
    private long allocated() {
        long bytes = threads.getCurrentThreadAllocatedBytes();
        for (long thread : clientThreads) {
            bytes += threads.getThreadAllocatedBytes(thread);
        }
        return bytes;
    }

    /** Makes reads and writes, within a region and across regions, one at a time and with many in flight. */
    private void run(CacheSession session, Buffer buffer, int operations) {
        long span = 3 * Cluster.REGION_BYTES;
        for (int i = 0; i < operations; i++) {
            long address = (i * 4099L) % span;
            int length = (i & 63) == 0 ? 8192 : 64;
            while (!((i & 1) == 0
                    ? session.read(address, buffer, 0, length, count, i)
                    : session.write(address, buffer, 16384, length, count, i))) {
                session.poll();
            }
            if ((i & 7) == 0) {
                session.poll();
            }
        }
        while (session.pending() > 0) {
            session.poll();
        }
        for (int i = 0; i < operations / 8; i++) {
            long address = (i * 4099L) % span;
            session.readBlocking(address, buffer, 0, 64);
            session.writeBlocking(address, buffer, 16384, 64);
            for (int record = 0; record < addresses.length; record++) {
                addresses[record] = (address + record * 7919L) % span;
            }
            // Now and then the first request has not ended, so the records of the second become requests of their own.
            while (!session.readAll(addresses, addresses.length, buffer, 0, 64, count, i)) {
                session.poll();
            }
            while (!session.writeAll(addresses, addresses.length, buffer, 16384, 64, count, i)) {
                session.poll();
            }
        }
        while (session.pending() > 0) {
            session.poll();
        }
    }
}
