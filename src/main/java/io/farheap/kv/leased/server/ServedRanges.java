package io.farheap.kv.leased.server;

import io.farheap.kv.leased.format.ShardDirectory;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Which ranges of hashes the shards of one server have now. A range that goes to another server is first had by none
 * here: calls for its keys are carried out no more, and each shard's thread drops the objects that it has of it. Any
 * thread reads it; one thread at a time changes it.
 */
final class ServedRanges {

    static final int ELSEWHERE = -1;

    /**
     * @param number of the ranges that have gone so far
     * @param index by range: the index here of the shard that has it, or {@link #ELSEWHERE}
     * @param former the same, with the ranges that have gone: a shard's thread may be carrying out a call for one
     */
    private record State(long number, int[] index, int[] former) {}

    private final int server;
    private volatile State state;
    /** By shard: the number of the state without whose gone ranges it is. */
    private final AtomicLongArray settled;

    /**
     * @param server whose shards these are
     * @param shards that it has
     */
    ServedRanges(int server, int shards, ShardDirectory directory) {
        this.server = server;
        settled = new AtomicLongArray(shards);
        int[] index = indexes(directory);
        state = new State(0, index, index);
    }

    /** How many shards the server has. */
    int shards() {
        return settled.length();
    }

    private int[] indexes(ShardDirectory directory) {
        int[] index = new int[directory.ranges()];
        for (int range = 0; range < index.length; range++) {
            int shard = directory.shardOfRange(range);
            index[range] = directory.serverOf(shard) == server ? directory.indexOf(shard) : ELSEWHERE;
        }
        return index;
    }

    private static int range(long hash, int[] of) {
        return ShardDirectory.range(hash, of.length);
    }

    /** The index here of the shard that has a key, or {@link #ELSEWHERE}. */
    int indexOf(long hash) {
        int[] index = state.index;
        return index[range(hash, index)];
    }

    /** The same with ranges that have gone, as long as a shard may have objects of those. */
    int formerIndexOf(long hash) {
        State now = state;
        return isSettled(now) ? now.index[range(hash, now.index)] : now.former[range(hash, now.former)];
    }

    /** The shards have no range any more that they do not have in this directory. */
    void release(ShardDirectory next) {
        State before = state;
        int[] index = before.index.clone();
        int[] had = isSettled(before) ? before.index.clone() : before.former.clone();
        int[] then = indexes(next);
        for (int range = 0; range < index.length; range++) {
            if (index[range] != ELSEWHERE) {
                had[range] = index[range];
                index[range] = index[range] == then[range] ? index[range] : ELSEWHERE;
            }
        }
        if (!Arrays.equals(index, before.index)) {
            state = new State(before.number + 1, index, had);
        }
    }

    /** The shards have the ranges of this directory, and have dropped all others. */
    void serve(ShardDirectory next) {
        int[] index = indexes(next);
        state = new State(state.number, index, index);
    }

    /** Whether a shard has dropped what it had of ranges that have gone. */
    boolean isSettled(int shard) {
        return settled.get(shard) == state.number;
    }

    /** The same of all shards. */
    boolean isSettled() {
        return isSettled(state);
    }

    private boolean isSettled(State of) {
        for (int shard = 0; shard < settled.length(); shard++) {
            if (settled.get(shard) != of.number) {
                return false;
            }
        }
        return true;
    }

    /** Drops the objects of a shard. */
    interface Dropping {
        void dropAllBut(KeptKeys kept);
    }

    /** Says which keys a shard has. */
    interface KeptKeys {
        boolean has(long hash);
    }

    /** Which keys a shard has; null if it has not dropped all others yet. The shard's thread. */
    @Nullable
    KeptKeys settledKeys(int shard) {
        State now = state;
        return settled.get(shard) == now.number ? hash -> now.index[range(hash, now.index)] == shard : null;
    }

    /** Has a shard drop what it had of ranges that have gone. The shard's thread. */
    void settle(int shard, Dropping dropping) {
        State now = state;
        dropping.dropAllBut(hash -> now.index[range(hash, now.index)] == shard);
        settled.set(shard, now.number);
    }
}
