package io.farheap.store;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads of many keys at once, for one session: first a word of each key's bucket is loaded, then two of each record,
 * then the values are copied. The loads are in loops with little else in them: a processor looks ahead so far, and so
 * has many of these misses under way. One thread at a time; nothing here allocates after construction.
 */
final class GroupReads {

    /** More than a processor has misses under way, and few enough for what was loaded to stay in its cache. */
    static final int GROUP = 64;

    private final HashIndex index;
    private final SessionGate gate;
    private final SessionSerials serials;
    private final Operations records;
    private final DeviceReads device;
    private final SessionCounts counts;
    private final long[] words = new long[GROUP];
    /** Where each key's first record is in memory, or 0. */
    private final long[] first = new long[GROUP];
    /** Those that are, one behind the other. */
    private final long[] inMemory = new long[GROUP];

    private final int[] statuses = new int[GROUP];
    private final int[] bytes = new int[GROUP];
    /** So that a load is not taken for one without an effect. */
    @SuppressWarnings("unused")
    private long touched;

    /** The index of the first key that was not begun: there was no room, or an exception. */
    private int reached;

    private boolean callingBack;
    private @Nullable GroupReads inner;

    GroupReads(
            HashIndex index,
            SessionGate gate,
            SessionSerials serials,
            Operations records,
            DeviceReads device,
            SessionCounts counts) {
        this.index = index;
        this.gate = gate;
        this.serials = serials;
        this.records = records;
        this.device = device;
        this.counts = counts;
    }

    /** As {@link StoreSession#readAll}. */
    int read(
            long[] keys,
            int from,
            int count,
            MemorySegment into,
            long offset,
            int room,
            StoreCompletion completion,
            long token) {
        Objects.checkFromIndexSize(from, count, keys.length);
        // Before the first is taken: in the midst of them it would be too late to throw.
        Objects.checkFromIndexSize(offset + (long) from * room, (long) count * room, into.byteSize());
        if (into.isReadOnly() || !into.isAccessibleBy(Thread.currentThread())) {
            throw new IllegalArgumentException("the segment is read-only, or another thread's");
        }
        return unused().readGroups(keys, from, from + count, into, offset, room, completion, token);
    }

    /** These, or, within a callback of these, others. */
    private GroupReads unused() {
        if (!callingBack) {
            return this;
        }
        GroupReads other = inner;
        if (other == null) {
            other = new GroupReads(index, gate, serials, records, device, counts);
            inner = other;
        }
        return other.unused();
    }

    private int readGroups(
            long[] keys,
            int from,
            int end,
            MemorySegment into,
            long offset,
            int room,
            StoreCompletion completion,
            long token) {
        for (int at = from; at < end; ) {
            int last = Math.min(end, at + GROUP);
            reached = at;
            try {
                beginGroup(keys, at, last, into, offset, room, completion, token);
            } finally {
                callBack(at, reached, completion, token);
            }
            if (reached < last) {
                return reached - from;
            }
            at = last;
        }
        return end - from;
    }

    private void beginGroup(
            long[] keys,
            int from,
            int end,
            MemorySegment into,
            long offset,
            int room,
            StoreCompletion completion,
            long token) {
        gate.enter();
        try {
            serials.look();
            begin(keys, from, end, into, offset, room, completion, token);
        } finally {
            counts.reads += reached - from;
            serials.accept(reached - from);
            gate.leave();
        }
    }

    /** Begins the reads of a group, inside an epoch, in which each takes effect unless it is pending. */
    private void begin(
            long[] keys,
            int from,
            int end,
            MemorySegment into,
            long offset,
            int room,
            StoreCompletion completion,
            long token) {
        // Two loops of plain loads, and little else: with a load of the table's field in it, or opaque ones, they take
        // twice as long.
        IndexTable table = index.newest();
        long sum = 0;
        for (int i = from; i < end; i++) {
            sum += Words.get(table.bucket(Hashes.of(keys[i])));
        }
        int count = 0;
        for (int i = from; i < end; i++) {
            records.key.use(keys[i]);
            long word = records.found();
            long record = records.firstOf(word);
            words[i - from] = word;
            first[i - from] = record;
            if (record != 0) {
                inMemory[count++] = record;
            }
        }
        for (int i = 0; i < count; i++) {
            // A quarter of those of 24 bytes begin in one line of the cache and go on in the next.
            sum += Words.get(inMemory[i]) + Words.get(inMemory[i] + Layout.LEAST_RECORD - Long.BYTES);
        }
        touched = sum;
        for (int i = from; i < end; i++, reached = i) {
            records.key.use(keys[i]);
            long to = offset + (long) i * room;
            int status = records.read(words[i - from], first[i - from], into, to, room);
            if (status == Operations.ON_DEVICE) {
                status = device.startRead(into, to, room, completion, token + i);
            }
            if (status == StoreStatus.FULL) {
                return;
            }
            statuses[i - from] = status;
            bytes[i - from] = status == StoreStatus.DONE ? records.bytes : 0;
        }
    }

    /** Calls back those that {@link #begin} has ended, outside the epoch; all of them, whatever one throws. */
    private void callBack(int from, int end, StoreCompletion completion, long token) {
        callingBack = true;
        RuntimeException thrown = null;
        try {
            for (int i = from; i < end; i++) {
                if (statuses[i - from] != StoreStatus.PENDING) {
                    try {
                        completion.completed(token + i, statuses[i - from], bytes[i - from]);
                    } catch (RuntimeException e) {
                        thrown = thrown == null ? e : thrown;
                    }
                }
            }
        } finally {
            callingBack = false;
        }
        if (thrown != null) {
            throw thrown;
        }
    }
}
