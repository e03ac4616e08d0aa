package io.farheap.store.session;

import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.format.NativeWords;
import io.farheap.store.format.RecordLayout;
import io.farheap.store.index.HashIndex;
import io.farheap.store.index.IndexTable;
import io.farheap.store.operation.InMemoryOperations;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads of many keys at once, for one session: it first loads a word of each key's bucket, then two words of each
 * record, then copies the values. The loads are in tight loops, so that the processor's out-of-order window holds many
 * of them and their cache misses overlap. One thread at a time. Calls do not allocate, with two exceptions: the first
 * call with a key in memory that does not have 8 bytes, and the first call within a callback of another call.
 */
public final class GroupReads {

    /**
     * Keys in a group: more than the cache misses that a processor can have in flight, and few enough that the loaded
     * lines stay in its cache.
     */
    static final int GROUP = 64;

    private static final int[] NO_ENDS = {};

    private final HashIndex index;
    private final SessionGate gate;
    private final SessionSerials serials;
    private final InMemoryOperations records;
    private final DeviceReads device;
    private final StoreSessionCounts counts;
    private final SessionKeys sessionKeys;
    private final GroupKeys keys;
    private final long[] words = new long[GROUP];
    /** The address in memory of the first record of each key's chain, or 0. */
    private final long[] first = new long[GROUP];
    /** The addresses of {@link #first} that are not 0, without gaps. */
    private final long[] inMemory = new long[GROUP];

    private final int[] statuses = new int[GROUP];
    private final int[] bytes = new int[GROUP];
    /** Receives what was loaded, so that the compiler does not remove the loads. */
    @SuppressWarnings("unused")
    private long touched;

    /** The index of the first key whose read was not begun, since there was no room or an exception was thrown. */
    private int reached;

    /** The source of the keys: either words, or memory with the end of each key. */
    private long @Nullable [] wordKeys;

    private @Nullable MemorySegment keyMemory;
    private int[] keyEnds = NO_ENDS;

    private boolean callingBack;
    private @Nullable GroupReads inner;

    public GroupReads(
            HashIndex index,
            SessionGate gate,
            SessionSerials serials,
            InMemoryOperations records,
            DeviceReads device,
            SessionKeys sessionKeys,
            StoreSessionCounts counts) {
        this.index = index;
        this.gate = gate;
        this.serials = serials;
        this.records = records;
        this.device = device;
        this.sessionKeys = sessionKeys;
        this.keys = new GroupKeys(records.key, sessionKeys, GROUP);
        this.counts = counts;
    }

    /**
     * As {@link io.farheap.store.StoreSession#readAll(long[], int, int, MemorySegment, long, int, StoreCompletion,
     * long)}.
     */
    public int read(
            long[] keys,
            int from,
            int count,
            MemorySegment into,
            long offset,
            int room,
            StoreCompletion completion,
            long token) {
        Objects.checkFromIndexSize(from, count, keys.length);
        checkDestination(from, count, into, offset, room);
        GroupReads free = unused();
        free.wordKeys = keys;
        return free.readGroups(from, from + count, into, offset, room, completion, token);
    }

    /**
     * As {@link io.farheap.store.StoreSession#readAll(MemorySegment, int[], int, int, MemorySegment, long, int,
     * StoreCompletion, long)}.
     */
    public int read(
            MemorySegment keys,
            int[] ends,
            int from,
            int count,
            MemorySegment into,
            long offset,
            int room,
            StoreCompletion completion,
            long token) {
        Objects.checkFromIndexSize(from, count, ends.length);
        int begin = from == 0 ? 0 : ends[from - 1];
        for (int i = from; i < from + count; i++) {
            Objects.checkFromToIndex(begin, ends[i], keys.byteSize());
            sessionKeys.check(ends[i] - begin);
            begin = ends[i];
        }
        checkUsable(keys);
        checkDestination(from, count, into, offset, room);
        GroupReads free = unused();
        free.keyMemory = keys;
        free.keyEnds = ends;
        return free.readGroups(from, from + count, into, offset, room, completion, token);
    }

    /** Checks arguments before the first read is accepted: after that it would be too late to throw. */
    private static void checkDestination(int from, int count, MemorySegment into, long offset, int room) {
        Objects.checkFromIndexSize(offset + (long) from * room, (long) count * room, into.byteSize());
        if (into.isReadOnly()) {
            throw new IllegalArgumentException("the segment for values is read-only");
        }
        checkUsable(into);
    }

    private static void checkUsable(MemorySegment segment) {
        if (!segment.isAccessibleBy(Thread.currentThread())) {
            throw new IllegalArgumentException("the segment is another thread's");
        }
        if (!segment.scope().isAlive()) {
            throw new IllegalStateException("the segment is closed");
        }
    }

    /** This object, or another one if the caller is inside a callback of this one. */
    private GroupReads unused() {
        if (!callingBack) {
            return this;
        }
        GroupReads other = inner;
        if (other == null) {
            other = new GroupReads(index, gate, serials, records, device, sessionKeys, counts);
            inner = other;
        }
        return other.unused();
    }

    private int readGroups(
            int from, int end, MemorySegment into, long offset, int room, StoreCompletion completion, long token) {
        try {
            for (int at = from; at < end; ) {
                int last = Math.min(end, at + GROUP);
                reached = at;
                try {
                    beginGroup(at, last, into, offset, room, completion, token);
                } finally {
                    callBack(at, reached, completion, token);
                }
                if (reached < last) {
                    return reached - from;
                }
                at = last;
            }
            return end - from;
        } finally {
            // The caller owns these again.
            wordKeys = null;
            keyMemory = null;
            keyEnds = NO_ENDS;
        }
    }

    private void beginGroup(
            int from, int end, MemorySegment into, long offset, int room, StoreCompletion completion, long token) {
        if (wordKeys != null) {
            keys.take(wordKeys, from, end - from);
        } else {
            keys.take(Objects.requireNonNull(keyMemory), keyEnds, from, end - from);
        }
        gate.enter();
        try {
            serials.look();
            touch(end - from);
            begin(from, end, into, offset, room, completion, token);
        } finally {
            counts.reads += reached - from;
            serials.accept(reached - from);
            gate.leave();
        }
    }

    /**
     * Brings the buckets and the first records of a group's keys into the processor's cache, by loops of plain loads
     * with little else in them. With a load of the table's field in the loop, or with opaque loads, they take twice as
     * long.
     */
    private void touch(int count) {
        IndexTable table = index.newest();
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += NativeWords.get(table.bucket(keys.hash(i)));
        }
        int found = 0;
        for (int i = 0; i < count; i++) {
            keys.use(i);
            long word = records.found();
            long record = records.firstOf(word);
            words[i] = word;
            first[i] = record;
            if (record != 0) {
                inMemory[found++] = record;
            }
        }
        for (int i = 0; i < found; i++) {
            // A quarter of the records of 24 bytes lie in two cache lines.
            sum += NativeWords.get(inMemory[i]) + NativeWords.get(inMemory[i] + RecordLayout.LEAST_RECORD - Long.BYTES);
        }
        touched = sum;
    }

    /** Begins the reads of a group, inside the epoch of {@link #touch}: each has taken effect unless it is pending. */
    private void begin(
            int from, int end, MemorySegment into, long offset, int room, StoreCompletion completion, long token) {
        for (int i = from; i < end; i++, reached = i) {
            int place = i - from;
            keys.use(place);
            long to = offset + (long) i * room;
            int status = records.read(words[place], first[place], into, to, room);
            if (status == InMemoryOperations.ON_DEVICE) {
                status = device.startRead(into, to, room, completion, token + i);
            }
            if (status == StoreStatus.FULL) {
                return;
            }
            statuses[place] = status;
            bytes[place] = status == StoreStatus.DONE ? records.bytes : 0;
        }
    }

    /**
     * Calls the completion of each read that {@link #begin} has ended, outside the epoch; of all of them, whatever one
     * throws.
     */
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
