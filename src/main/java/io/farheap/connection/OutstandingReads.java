package io.farheap.connection;

import io.farheap.verbs.SendRequests;

/**
 * Which remote memory the READs of a connection are outstanding on, for the WRITEs that may overlap them. Operations
 * are numbers, in the order of posting. It may say yes for a range that no READ touches, never no for one that a READ
 * touches: a wrong yes costs a fence. One thread at a time.
 *
 * <p>READs are counted, by a hash of the blocks they touch, only when a WRITE asks, and what they read is in their work
 * requests until they have completed: where there are READs alone, or WRITEs alone, nothing is done here.
 */
final class OutstandingReads {

    private static final int BLOCK_SHIFT = 12;
    private static final int COUNTERS = 1024;
    /** A READ of more blocks than this is counted once, as overlapping everything. */
    private static final int WIDE_BLOCKS = 16;

    private static final long HASH = 0x9E3779B97F4A7C15L;
    private static final int HASH_SHIFT = 54;

    private final SendRequests requests;
    /**
     * Of operation n that is counted, in place {@code n & mask}: its work request may be another's by now. No bytes for
     * one that is no READ.
     */
    private final long[] addresses;

    private final int[] bytes;
    private final int mask;

    private final short[] blocks = new short[COUNTERS];
    private int wide;
    /** Of the operations from the one to the other, READs are counted. */
    private long from;

    private long to;

    /**
     * @param requests the work request of operation n is {@code n & (places - 1)}
     * @param places a power of two; no more operations are outstanding at a time
     */
    OutstandingReads(SendRequests requests, int places) {
        this.requests = requests;
        addresses = new long[places];
        bytes = new int[places];
        mask = places - 1;
    }

    /**
     * Whether a range may be read by one of the operations from {@code completed} to {@code posted}, all of them
     * prepared.
     */
    boolean mayOverlap(long completed, long posted, long address, int length) {
        forget(completed);
        for (; to < posted; to++) {
            int place = (int) to & mask;
            bytes[place] = requests.bytesRead(place);
            addresses[place] = requests.remoteAddress(place);
            count(place, 1);
        }
        return from < to && overlapsCounted(address, length);
    }

    private boolean overlapsCounted(long address, int length) {
        long first = address >>> BLOCK_SHIFT;
        long last = address + length - 1 >>> BLOCK_SHIFT;
        if (wide > 0 || last - first >= WIDE_BLOCKS) {
            return true;
        }
        for (long block = first; block <= last; block++) {
            if (blocks[index(block)] > 0) {
                return true;
            }
        }
        return false;
    }

    /** Operations before {@code end} are not counted any more. */
    private void forget(long end) {
        while (from < to && from < end) {
            count((int) from++ & mask, -1);
        }
        if (from == to) {
            from = end;
            to = end;
        }
    }

    private void count(int place, int change) {
        int length = bytes[place];
        if (length == 0) {
            return;
        }
        long address = addresses[place];
        long first = address >>> BLOCK_SHIFT;
        long last = address + length - 1 >>> BLOCK_SHIFT;
        if (last - first >= WIDE_BLOCKS) {
            wide += change;
            return;
        }
        for (long block = first; block <= last; block++) {
            blocks[index(block)] += (short) change;
        }
    }

    private static int index(long block) {
        return (int) (block * HASH >>> HASH_SHIFT);
    }
}
