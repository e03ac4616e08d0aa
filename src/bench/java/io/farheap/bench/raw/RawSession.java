package io.farheap.bench.raw;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.latency.LatencyTracking;
import io.farheap.verbs.VerbsException;

/**
 * The side of {@code bench raw} that users see: a session; blocking at queue depth 1, asynchronous above; instead of a
 * list it issues one request for as many records.
 */
final class RawSession implements RawSide, AutoCloseable {

    private final Cache cache;
    private final CacheSession session;
    private final Buffer buffer;
    private final int depth;
    private final int list;
    /** All 0: the operations have one address. */
    private final long[] addresses;

    private boolean write;
    private int bytes;
    private int done;
    private final Completion onDone = (token, status) -> {
        if (status != Status.OK) {
            throw new VerbsException("an operation ended with " + Status.describe(status));
        }
        done++;
    };

    RawSession(String server, int maxBytes, int depth, int list, LatencyTracking tracking) {
        this.depth = depth;
        this.list = list;
        this.addresses = new long[list];
        cache = Cache.builder()
                .capacity(maxBytes)
                .servers(server)
                .name("bench-raw-session")
                .queueDepth(depth)
                .inlineBytes(RawTarget.INLINE_BYTES)
                .trackLatency(tracking)
                .create();
        session = cache.openSession();
        buffer = cache.allocate((long) maxBytes * list);
    }

    void aim(RawOperation operation, int size) {
        write = operation == RawOperation.WRITE;
        bytes = size;
    }

    @Override
    public long run(int operations) {
        return depth == 1 ? blocking(operations) : list == 1 ? pipelined(operations) : listed(operations);
    }

    private long blocking(int operations) {
        long start = System.nanoTime();
        for (int i = 0; i < operations; i++) {
            if (write) {
                session.writeBlocking(0, buffer, 0, bytes);
            } else {
                session.readBlocking(0, buffer, 0, bytes);
            }
        }
        return System.nanoTime() - start;
    }

    private long pipelined(int operations) {
        done = 0;
        int issued = 0;
        long start = System.nanoTime();
        while (done < operations) {
            while (issued < operations
                    && issued - done < depth
                    && (write
                            ? session.write(0, buffer, 0, bytes, onDone, 0)
                            : session.read(0, buffer, 0, bytes, onDone, 0))) {
                issued++;
            }
            session.poll();
        }
        return System.nanoTime() - start;
    }

    private long listed(int operations) {
        done = 0;
        int lists = depth / list;
        int wanted = operations / list;
        int issued = 0;
        long start = System.nanoTime();
        while (done < wanted) {
            while (issued < wanted
                    && issued - done < lists
                    && (write
                            ? session.writeAll(addresses, list, buffer, 0, bytes, onDone, 0)
                            : session.readAll(addresses, list, buffer, 0, bytes, onDone, 0))) {
                issued++;
            }
            session.poll();
        }
        return System.nanoTime() - start;
    }

    @Override
    public void sample(int every, long[] nanos) {
        for (int i = 0; i < nanos.length; i++) {
            run(every - 1);
            nanos[i] = run(1);
        }
    }

    @Override
    public void close() {
        cache.close();
    }
}
