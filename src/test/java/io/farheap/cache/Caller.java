package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.cache.contract.CallResult;

/** A session with a buffer: arguments at 0, results at 64, words to write at 128. */
final class Caller implements AutoCloseable {

    final CacheSession session;
    final Buffer buffer;

    Caller(Cache cache) {
        session = cache.openSession();
        buffer = cache.allocate(8192);
    }

    /** Writes longs at the beginning of the buffer. */
    void arguments(long... arguments) {
        for (int i = 0; i < arguments.length; i++) {
            buffer.segment().set(JAVA_LONG, i * 8L, arguments[i]);
        }
    }

    CallResult call(Procedure procedure, long address, long... arguments) {
        arguments(arguments);
        return session.callBlocking(procedure, address, buffer, 0, arguments.length * 8, 64, 64);
    }

    long result() {
        return buffer.segment().get(JAVA_LONG, 64);
    }

    void write(long address, long value) {
        buffer.segment().set(JAVA_LONG, 128, value);
        session.writeBlocking(address, buffer, 128, 8);
    }

    long read(long address) {
        session.readBlocking(address, buffer, 136, 8);
        return buffer.segment().get(JAVA_LONG, 136);
    }

    /**
     * Writes a list whose nodes of 24 bytes are in all regions; the first node is at 8.
     *
     * @return the sum of the nodes' values
     */
    long list(int nodes, int regions) {
        long sum = 0;
        for (int i = 0; i < nodes; i++) {
            long at = node(i, regions);
            write(at, i == nodes - 1 ? 0 : node(i + 1, regions));
            write(at + 8, i);
            write(at + 16, 3L * i + 1);
            sum += 3L * i + 1;
        }
        return sum;
    }

    static long node(int i, int regions) {
        return i % regions * Cluster.REGION_BYTES + 8 + 24L * (i / regions);
    }

    @Override
    public void close() {
        session.close();
        buffer.close();
    }
}
