package io.farheap.kv.leased.server;

import io.farheap.kv.format.SizeClasses;
import java.util.Arrays;

/**
 * The objects of a shard in LRU queues, as multi-queue replacement has them: one that was used about c times is in
 * queue floor(log2 c), and at its end when it is used. Each size class has queues of its own, since an eviction makes
 * room for a block of the victim's class. The shard's thread.
 */
final class PopularityQueues {

    private final ShardEntries entries;
    private final int queues;
    private final int[] head;
    private final int[] tail;
    /** By class: a bit for each queue that is not empty. */
    private final int[] filled = new int[SizeClasses.COUNT];

    /** @param queues of each class, 1 to 16 */
    PopularityQueues(ShardEntries entries, int queues) {
        this.entries = entries;
        this.queues = queues;
        head = new int[SizeClasses.COUNT * queues];
        tail = new int[SizeClasses.COUNT * queues];
    }

    /** The queue of an object that was used so often. @param uses at least 1 */
    int queue(int uses) {
        return Math.min(queues - 1, Integer.SIZE - 1 - Integer.numberOfLeadingZeros(Math.max(1, uses)));
    }

    /** Adds an object, whose count and class are set, at the end of its queue. */
    void add(int entry) {
        int queue = queue(entries.count(entry));
        entries.setQueue(entry, queue);
        int at = entries.sizeClass(entry) * queues + queue;
        int last = tail[at];
        entries.setBefore(entry, last);
        entries.setAfter(entry, ShardEntries.NONE);
        if (last == ShardEntries.NONE) {
            head[at] = entry;
            filled[entries.sizeClass(entry)] |= 1 << queue;
        } else {
            entries.setAfter(last, entry);
        }
        tail[at] = entry;
    }

    void remove(int entry) {
        int at = entries.sizeClass(entry) * queues + entries.queue(entry);
        int before = entries.before(entry);
        int after = entries.after(entry);
        if (before == ShardEntries.NONE) {
            head[at] = after;
        } else {
            entries.setAfter(before, after);
        }
        if (after == ShardEntries.NONE) {
            tail[at] = before;
        } else {
            entries.setBefore(after, before);
        }
        if (head[at] == ShardEntries.NONE) {
            filled[entries.sizeClass(entry)] &= ~(1 << entries.queue(entry));
        }
    }

    /** A bit for each queue of a class that has an object. */
    int filled(int sizeClass) {
        return filled[sizeClass];
    }

    /** The object of a queue that was used longest ago, or {@link ShardEntries#NONE}. */
    int head(int sizeClass, int queue) {
        return head[sizeClass * queues + queue];
    }

    /** The head of the lowest queue of a class that has any, or {@link ShardEntries#NONE}. */
    int coldest(int sizeClass) {
        return filled[sizeClass] == 0
                ? ShardEntries.NONE
                : head(sizeClass, Integer.numberOfTrailingZeros(filled[sizeClass]));
    }

    void clear() {
        Arrays.fill(head, ShardEntries.NONE);
        Arrays.fill(tail, ShardEntries.NONE);
        Arrays.fill(filled, 0);
    }
}
