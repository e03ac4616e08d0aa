package io.farheap.tier.tiered;

import java.util.Arrays;

/**
 * The parts of the log that a tier has lost or never received, as an open-addressed set of numbers of chunks of
 * {@value #CHUNK_BYTES} bytes. Reads take no lock; only additions allocate. Any thread.
 */
final class Holes {

    static final long CHUNK_BYTES = 64 * 1024;
    private static final int SHIFT = Long.numberOfTrailingZeros(CHUNK_BYTES);
    private static final int LEAST = 64;
    private static final long FREE = -1;
    private static final long[] NONE = {};

    /**
     * Its length is a power of two, and at least half of it is free. An element changes once, from free to a number.
     */
    private volatile long[] table = NONE;

    private int count;

    boolean isEmpty() {
        return table == NONE;
    }

    /** Whether a hole overlaps a range. */
    boolean overlap(long address, long length) {
        long[] now = table;
        if (now == NONE) {
            return false;
        }
        long last = address + length - 1 >>> SHIFT;
        for (long chunk = address >>> SHIFT; chunk <= last; chunk++) {
            if (now[place(now, chunk)] == chunk) {
                return true;
            }
        }
        return false;
    }

    /** @param begin holes below this address may be forgotten */
    synchronized void add(long address, long length, long begin) {
        long last = address + length - 1 >>> SHIFT;
        for (long chunk = address >>> SHIFT; chunk <= last; chunk++) {
            add(chunk, begin >>> SHIFT);
        }
    }

    private void add(long chunk, long first) {
        long[] now = table;
        if (2 * (count + 1) > now.length) {
            now = grown(now, first);
        }
        int place = place(now, chunk);
        if (now[place] == FREE) {
            now[place] = chunk;
            count++;
        }
        table = now;
    }

    private long[] grown(long[] from, long first) {
        long[] kept = Arrays.stream(from).filter(chunk -> chunk >= first).toArray();
        long[] to = new long[Math.max(LEAST, Integer.highestOneBit(Math.max(1, kept.length)) * 4)];
        Arrays.fill(to, FREE);
        for (long chunk : kept) {
            to[place(to, chunk)] = chunk;
        }
        count = kept.length;
        return to;
    }

    /** The index at which a chunk's number is, or would be. */
    private static int place(long[] table, long chunk) {
        int mask = table.length - 1;
        int place = (int) (chunk * 0x9e3779b97f4a7c15L >>> 40) & mask;
        while (table[place] != FREE && table[place] != chunk) {
            place = place + 1 & mask;
        }
        return place;
    }
}
