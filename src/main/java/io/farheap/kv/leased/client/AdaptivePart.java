package io.farheap.kv.leased.client;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/**
 * Pointers that ARC replaces (Megiddo and Modha, FAST '03): two LRU lists, of keys that were seen once and of keys that
 * were seen again, and for each a list of hashes that were in it before, whose hits shift memory to their list. One
 * thread at a time.
 *
 * <pre>
 * a node, 64 bytes; node 0 is none
 *  0  u64  hash            24  u64  end of the lease     40  u32  list        52  u32  next of its bucket
 *  8  u64  incarnation     32  u32  bytes of the value   44  u32  before
 * 16  u64  place           36  u32  bytes of the key     48  u32  after         56  u32  uses not reported
 * </pre>
 */
final class AdaptivePart {

    static final int MOST_POINTERS = 1 << 24;

    private static final int NONE = 0;
    private static final int ONCE = 0;
    private static final int AGAIN = 1;
    private static final int ONCE_GONE = 2;
    private static final int AGAIN_GONE = 3;
    private static final int LISTS = 4;

    private static final long NODE_BYTES = 64;
    private static final long HASH = 0;
    private static final long INCARNATION = 8;
    private static final long PLACE = 16;
    private static final long LEASED = 24;
    private static final long VALUE_BYTES = 32;
    private static final long KEY_BYTES = 36;
    private static final long LIST = 40;
    private static final long BEFORE = 44;
    private static final long AFTER = 48;
    private static final long NEXT = 52;
    private static final long USES = 56;

    private final int most;
    private final int mask;
    private final MemorySegment nodes;
    private final MemorySegment buckets;
    /** By list: the node that was used longest ago, the one that was used last, and how many there are. */
    private final int[] oldest = new int[LISTS];

    private final int[] latest = new int[LISTS];
    private final int[] size = new int[LISTS];
    /** How many of those that were seen once should be kept. */
    private int target;

    private boolean closed;
    private int free;
    /** The last node that was ever in use. */
    private int last;

    /**
     * @param most pointers, 1 to {@link #MOST_POINTERS}
     * @param memory zeroed, {@link #bytes} of it; the caller's
     */
    AdaptivePart(int most, MemorySegment memory) {
        this.most = most;
        mask = buckets(most) - 1;
        nodes = memory.asSlice(0, nodeBytes(most));
        buckets = memory.asSlice(nodeBytes(most));
    }

    /** The bytes of a part with so many pointers, a multiple of 64. */
    static long bytes(int most) {
        long buckets = (long) buckets(most) * Integer.BYTES;
        return nodeBytes(most) + Math.ceilDiv(buckets, NODE_BYTES) * NODE_BYTES;
    }

    private static int buckets(int most) {
        return Integer.highestOneBit(4 * most - 1);
    }

    private static long nodeBytes(int most) {
        return (2L * most + 2) * NODE_BYTES;
    }

    /** Its memory is not used any more: it finds and keeps nothing. */
    void close() {
        closed = true;
    }

    int size() {
        return size[ONCE] + size[AGAIN];
    }

    boolean find(long hash, long now, RemotePointer into) {
        if (closed) {
            return false;
        }
        int node = lookUp(hash);
        if (node == NONE || list(node) >= ONCE_GONE) {
            return false;
        }
        move(node, AGAIN);
        if (now - word(node, LEASED) < 0) {
            // Other uses reach the server as calls.
            set(node, USES, number(node, USES) + 1);
        }
        into.place = word(node, PLACE);
        into.incarnation = word(node, INCARNATION);
        into.leasedUntil = word(node, LEASED);
        into.keyBytes = number(node, KEY_BYTES);
        into.valueBytes = number(node, VALUE_BYTES);
        return true;
    }

    void put(long hash, RemotePointer pointer) {
        if (closed) {
            return;
        }
        int node = lookUp(hash);
        if (node == NONE) {
            makeRoomForNew();
            node = take(hash);
            add(node, ONCE);
        } else if (list(node) == ONCE_GONE) {
            target = Math.min(most, target + Math.max(1, size[AGAIN_GONE] / size[ONCE_GONE]));
            replace(false);
            move(node, AGAIN);
        } else if (list(node) == AGAIN_GONE) {
            target = Math.max(0, target - Math.max(1, size[ONCE_GONE] / size[AGAIN_GONE]));
            replace(true);
            move(node, AGAIN);
        } else if (word(node, INCARNATION) > pointer.incarnation
                || word(node, INCARNATION) == pointer.incarnation && word(node, LEASED) - pointer.leasedUntil > 0) {
            return;
        }
        if (word(node, INCARNATION) != pointer.incarnation) {
            set(node, USES, 0);
        }
        set(node, PLACE, pointer.place);
        set(node, INCARNATION, pointer.incarnation);
        set(node, LEASED, pointer.leasedUntil);
        set(node, KEY_BYTES, pointer.keyBytes);
        set(node, VALUE_BYTES, pointer.valueBytes);
    }

    /**
     * Takes the uses that were not reported of keys that were seen again, of the most recent ones first.
     *
     * @param into receives them
     * @param before how many it has received
     * @param most how many it receives at most
     * @param looks at how many keys this looks at most
     * @return how many it has received now
     */
    int takeUses(ReportedUses into, int before, int most, int looks) {
        if (closed) {
            return before;
        }
        int taken = before;
        int left = looks;
        for (int node = latest[AGAIN]; node != NONE && taken < most && left-- > 0; node = number(node, BEFORE)) {
            int uses = number(node, USES);
            if (uses > 0 && into.add(taken, word(node, PLACE), word(node, INCARNATION), uses)) {
                set(node, USES, 0);
                taken++;
            }
        }
        return taken;
    }

    /** Receives uses of pointers. */
    interface ReportedUses {

        /** @return false to leave the uses of this place for later */
        boolean add(int number, long place, long incarnation, int uses);
    }

    void drop(long hash, long incarnation) {
        if (closed) {
            return;
        }
        int node = lookUp(hash);
        if (node != NONE && list(node) < ONCE_GONE && word(node, INCARNATION) <= incarnation) {
            remove(node);
            give(node);
        }
    }

    private void makeRoomForNew() {
        if (size[ONCE] + size[ONCE_GONE] >= most) {
            if (size[ONCE_GONE] > 0) {
                discard(ONCE_GONE);
                replace(false);
            } else {
                discard(ONCE);
            }
            return;
        }
        if (size() + size[ONCE_GONE] + size[AGAIN_GONE] >= 2 * most) {
            discard(AGAIN_GONE);
        }
        replace(false);
    }

    /** If there is no room for a pointer, one becomes a hash. @param again whether an {@link #AGAIN_GONE} was hit */
    private void replace(boolean again) {
        if (size() < most) {
            return;
        }
        boolean once = size[ONCE] > 0 && (size[ONCE] > target || again && size[ONCE] == target || size[AGAIN] == 0);
        move(oldest[once ? ONCE : AGAIN], once ? ONCE_GONE : AGAIN_GONE);
    }

    private void discard(int list) {
        int node = oldest[list];
        remove(node);
        give(node);
    }

    private void move(int node, int list) {
        remove(node);
        add(node, list);
    }

    private void add(int node, int list) {
        set(node, LIST, list);
        set(node, BEFORE, latest[list]);
        set(node, AFTER, NONE);
        if (latest[list] == NONE) {
            oldest[list] = node;
        } else {
            set(latest[list], AFTER, node);
        }
        latest[list] = node;
        size[list]++;
    }

    private void remove(int node) {
        int list = list(node);
        int before = number(node, BEFORE);
        int after = number(node, AFTER);
        if (before == NONE) {
            oldest[list] = after;
        } else {
            set(before, AFTER, after);
        }
        if (after == NONE) {
            latest[list] = before;
        } else {
            set(after, BEFORE, before);
        }
        size[list]--;
    }

    private int take(long hash) {
        int node = free;
        if (node == NONE) {
            node = ++last;
        } else {
            free = number(node, NEXT);
        }
        set(node, HASH, hash);
        set(node, USES, 0);
        set(node, INCARNATION, 0L);
        long bucket = bucket(hash);
        set(node, NEXT, buckets.get(JAVA_INT, bucket));
        buckets.set(JAVA_INT, bucket, node);
        return node;
    }

    private void give(int node) {
        long bucket = bucket(word(node, HASH));
        int each = buckets.get(JAVA_INT, bucket);
        if (each == node) {
            buckets.set(JAVA_INT, bucket, number(node, NEXT));
        } else {
            while (number(each, NEXT) != node) {
                each = number(each, NEXT);
            }
            set(each, NEXT, number(node, NEXT));
        }
        set(node, NEXT, free);
        free = node;
    }

    private int lookUp(long hash) {
        int node = buckets.get(JAVA_INT, bucket(hash));
        while (node != NONE && word(node, HASH) != hash) {
            node = number(node, NEXT);
        }
        return node;
    }

    private long bucket(long hash) {
        return (hash & mask) * Integer.BYTES;
    }

    private int list(int node) {
        return number(node, LIST);
    }

    private long word(int node, long field) {
        return nodes.get(JAVA_LONG, node * NODE_BYTES + field);
    }

    private void set(int node, long field, long word) {
        nodes.set(JAVA_LONG, node * NODE_BYTES + field, word);
    }

    private int number(int node, long field) {
        return nodes.get(JAVA_INT, node * NODE_BYTES + field);
    }

    private void set(int node, long field, int number) {
        nodes.set(JAVA_INT, node * NODE_BYTES + field, number);
    }
}
