package io.farheap.tier.tiered;

import java.util.Arrays;

/**
 * The parts of the log that a tier was sent and did not write, since its storage refused them. Unlike {@link Holes},
 * they are exact, and each ends once the tier has its part after all. Reads take no lock; only changes allocate. Any
 * thread.
 */
final class TierDebts {

    private static final long[] NONE = {};

    /** Pairs of a beginning and an end, ascending, without overlap and not adjacent; it is not changed. */
    private volatile long[] owed = NONE;
    /** How often a part was added. */
    private long added;
    /** How often a part was added of an append that was not listed as pending. */
    private volatile long unlisted;

    boolean isEmpty() {
        return owed == NONE;
    }

    /** Whether a part that is owed overlaps a range. */
    boolean overlap(long address, long length) {
        long[] now = owed;
        // Parts before the last one that begins below the range's end, end below that one's beginning.
        int last = lastBelow(now, address + length);
        return last >= 0 && now[last + 1] > address;
    }

    /** Whether all of a range is owed. */
    boolean cover(long address, long length) {
        long[] now = owed;
        int last = lastBelow(now, address + length);
        return last >= 0 && now[last] <= address && now[last + 1] >= address + length;
    }

    /** The index of the last part that begins below an address; negative if there is none. */
    private static int lastBelow(long[] parts, long address) {
        int low = 0;
        int high = parts.length / 2;
        while (low < high) {
            int middle = low + high >>> 1;
            if (parts[2 * middle] < address) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return 2 * low - 2;
    }

    /** Whether something from an address on is owed. */
    boolean from(long address) {
        long[] now = owed;
        return now.length > 0 && now[now.length - 1] > address;
    }

    /** The parts that are owed: pairs of a beginning and an end, ascending; the caller does not change it. */
    long[] all() {
        return owed;
    }

    /** The lowest address, above {@code at}, at which a part begins or ends; {@code to} if that is lower. */
    long boundary(long at, long to) {
        long[] now = owed;
        for (int i = 0; i < now.length && now[i] < to; i++) {
            if (now[i] > at) {
                return now[i];
            }
        }
        return to;
    }

    /** How many bytes are owed from an address on. */
    long bytes(long address) {
        long[] now = owed;
        long bytes = 0;
        for (int i = 0; i < now.length; i += 2) {
            bytes += Math.max(0, now[i + 1] - Math.max(address, now[i]));
        }
        return bytes;
    }

    /** @param begin debts below this address are forgotten */
    synchronized void add(long address, long length, long begin) {
        added++;
        long from = address;
        long to = address + length;
        long[] now = owed;
        long[] next = new long[now.length + 2];
        int count = 0;
        boolean put = false;
        for (int i = 0; i < now.length; i += 2) {
            if (now[i + 1] <= begin) {
                continue;
            }
            if (now[i + 1] < from) {
                next[count++] = now[i];
                next[count++] = now[i + 1];
            } else if (now[i] <= to) {
                from = Math.min(from, now[i]);
                to = Math.max(to, now[i + 1]);
            } else {
                if (!put) {
                    next[count++] = from;
                    next[count++] = to;
                    put = true;
                }
                next[count++] = now[i];
                next[count++] = now[i + 1];
            }
        }
        if (!put) {
            next[count++] = from;
            next[count++] = to;
        }
        owed = Arrays.copyOf(next, count);
    }

    /** As {@link #add}, of an append that was not listed as pending at the tier, so that no other waited for it. */
    synchronized void addUnlisted(long address, long length, long begin) {
        unlisted++;
        add(address, length, begin);
    }

    /**
     * Says that the tier has a range now.
     *
     * @return whether some of it was owed
     */
    boolean remove(long address, long length) {
        boolean some = owed != NONE && overlap(address, length);
        if (some) {
            removePresent(address, address + length);
        }
        return some;
    }

    /** How often a part was added; for {@link #removeUnlessAdded}. */
    synchronized long added() {
        return added;
    }

    /**
     * Says that the tier has a range now, unless a part was added since {@link #added} returned {@code since}: it may
     * be one of this range, and newer than what the tier has got.
     *
     * @return whether some of it was owed, and is not any more
     */
    synchronized boolean removeUnlessAdded(long address, long length, long since) {
        return added == since && remove(address, length);
    }

    /** How often a part of an unlisted append was added; for {@link #removeUnlessUnlisted}. */
    long unlisted() {
        return unlisted;
    }

    /**
     * As {@link #removeUnlessAdded}, but only parts of unlisted appends count: any other that overlaps the range waits
     * for the append that the tier has got, so it cannot have failed before.
     */
    synchronized boolean removeUnlessUnlisted(long address, long length, long since) {
        return unlisted == since && remove(address, length);
    }

    private synchronized void removePresent(long from, long to) {
        long[] now = owed;
        long[] next = new long[now.length + 2];
        int count = 0;
        for (int i = 0; i < now.length; i += 2) {
            if (now[i] < Math.min(from, now[i + 1])) {
                next[count++] = now[i];
                next[count++] = Math.min(from, now[i + 1]);
            }
            if (now[i + 1] > Math.max(to, now[i])) {
                next[count++] = Math.max(to, now[i]);
                next[count++] = now[i + 1];
            }
        }
        owed = count == 0 ? NONE : Arrays.copyOf(next, count);
    }
}
