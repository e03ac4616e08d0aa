package io.farheap.bench.procedure;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import java.util.SplittableRandom;

/**
 * Nodes of {@value #NODE_BYTES} bytes that fill a span of a cache; the first word of each is the address of the next,
 * in one random cycle.
 */
final class PointerChains {

    static final int NODE_BYTES = 64;
    private static final int CHUNK_BYTES = 1 << 20;

    private final int nodes;

    /** Writes the nodes. */
    PointerChains(Cache cache, long span) {
        nodes = (int) (span / NODE_BYTES);
        int[] order = new int[nodes];
        for (int i = 0; i < nodes; i++) {
            order[i] = i;
        }
        SplittableRandom random = new SplittableRandom(1);
        for (int i = nodes - 1; i > 0; i--) {
            int other = random.nextInt(i + 1);
            int swapped = order[i];
            order[i] = order[other];
            order[other] = swapped;
        }
        int[] next = new int[nodes];
        for (int i = 0; i < nodes; i++) {
            next[order[i]] = order[(i + 1) % nodes];
        }
        int chunk = (int) Math.min(span, CHUNK_BYTES);
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(chunk)) {
            for (long at = 0; at < (long) nodes * NODE_BYTES; at += chunk) {
                for (int offset = 0; offset < chunk; offset += NODE_BYTES) {
                    int node = (int) ((at + offset) / NODE_BYTES);
                    buffer.segment().set(JAVA_LONG, offset, (long) next[node] * NODE_BYTES);
                }
                session.writeBlocking(at, buffer, 0, chunk);
            }
        }
    }

    /** Returns the address of a random node. */
    long any(SplittableRandom random) {
        return (long) random.nextInt(nodes) * NODE_BYTES;
    }
}
