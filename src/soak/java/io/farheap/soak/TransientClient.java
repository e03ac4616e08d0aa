package io.farheap.soak;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.CacheException;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Predicate;

/**
 * Comes and goes: a small cache on one server, which is created, found to be zero, filled, read and closed, until it is
 * stopped.
 */
final class TransientClient implements Runnable {

    private static final int LONGEST_PAUSE_MILLIS = 400;
    private static final String NAME = "a visitor";

    private final List<String> servers;
    private final long regionBytes;
    private final SplittableRandom random;
    private final Predicate<String> mayFail;
    private final WaitTimes waits;
    private final Problems problems;
    private volatile boolean stop;

    /** @param mayFail whether a fault excuses what fails at a server */
    TransientClient(
            List<String> servers,
            long regionBytes,
            SplittableRandom random,
            Predicate<String> mayFail,
            WaitTimes waits,
            Problems problems) {
        this.servers = servers;
        this.regionBytes = regionBytes;
        this.random = random;
        this.mayFail = mayFail;
        this.waits = waits;
        this.problems = problems;
    }

    @Override
    public void run() {
        try {
            while (!stop) {
                String server = servers.get(random.nextInt(servers.size()));
                try {
                    visit(server);
                } catch (CacheException e) {
                    if (!mayFail.test(server)) {
                        problems.add("a cache on " + server + " failed, and no fault excuses it: " + e.getMessage());
                    }
                }
                Thread.sleep(random.nextInt(LONGEST_PAUSE_MILLIS));
            }
        } catch (Throwable e) {
            problems.add(NAME, e);
        }
    }

    void stop() {
        stop = true;
    }

    private void visit(String server) {
        long start = System.nanoTime();
        try (Cache cache = Cache.builder()
                .capacity(regionBytes)
                .servers(server)
                .name("soak-visitor")
                .configuration(RandomConfigurations.next(random))
                .create()) {
            start = call(start);
            Buffer buffer = cache.allocate(2 * regionBytes);
            CacheSession session = cache.openSession();
            start = call(start);
            session.readBlocking(0, buffer, 0, regionBytes);
            check(buffer, (byte) 0);
            byte pattern = (byte) (1 + random.nextInt(Byte.MAX_VALUE));
            buffer.segment().asSlice(regionBytes).fill(pattern);
            session.writeBlocking(0, buffer, regionBytes, regionBytes);
            session.readBlocking(0, buffer, 0, regionBytes);
            check(buffer, pattern);
            waits.request(NAME, System.nanoTime() - start);
            start = System.nanoTime();
        } finally {
            call(start);
        }
    }

    private long call(long start) {
        long now = System.nanoTime();
        waits.call(NAME, now - start);
        return now;
    }

    private void check(Buffer buffer, byte expected) {
        for (long at = 0; at < regionBytes; at++) {
            byte found = buffer.segment().get(JAVA_BYTE, at);
            if (found != expected) {
                problems.add(
                        "byte %d of a visitor's cache is 0x%02x and must be 0x%02x".formatted(at, found, expected));
                return;
            }
        }
    }
}
