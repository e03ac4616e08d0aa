package io.farheap.kv.leased.server;

import io.farheap.kv.format.BlockAudit;
import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.kv.leased.format.ShardShape;
import io.farheap.kv.leased.format.ShardTotals;
import io.farheap.server.contract.ServedSpace;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongSupplier;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The shards of a leased map on this server, and the thread that each belongs to. A shard's owner alone gives it to
 * another thread, between two calls; the shard of a thread that has ended goes to the first that finds that.
 */
final class ServedShards {

    static final int ELSEWHERE = ServedRanges.ELSEWHERE;

    private final ServedSpace space;
    private final LeasedDescriptor map;
    private final LongSupplier nanoTime;
    private final BlockChecksum checksum;
    private final ShardShape shape;
    private final ShardEdition edition;
    private final LeasedShard[] shards;
    private final AtomicReferenceArray<@Nullable ShardOwner> owners;
    /** The number of the last audit, and by shard what it has found last. */
    private final AtomicInteger audit = new AtomicInteger();

    private final AtomicReferenceArray<@Nullable ShardAudit> audits;
    /** By lease. Replaced, so that a look allocates nothing. */
    private volatile Long2ObjectHashMap<LeaseSessions> sessions = new Long2ObjectHashMap<>();

    private record ShardAudit(int number, BlockAudit found) {}

    /** @throws IllegalArgumentException if the map cannot have such shards */
    ServedShards(ServedSpace space, LeasedDescriptor map, LongSupplier nanoTime) {
        this.space = space;
        this.map = map;
        this.nanoTime = nanoTime;
        shape = map.shape();
        shards = new LeasedShard[(map.joined() ? space.regions() : map.regionsOfEach()) * shape.perRegion()];
        edition = new ShardEdition(map, shards.length, nanoTime);
        owners = new AtomicReferenceArray<>(shards.length);
        audits = new AtomicReferenceArray<>(shards.length);
        checksum = new BlockChecksum(map.keyHash());
        for (int i = 0; i < shards.length; i++) {
            int region = i / shape.perRegion();
            shards[i] = new LeasedShard(
                    number(i),
                    space.region(region),
                    i % shape.perRegion() * shape.shardBytes(),
                    shape,
                    map,
                    checksum,
                    nanoTime);
        }
    }

    BlockChecksum checksum() {
        return checksum;
    }

    KeyHash keyHash() {
        return map.keyHash();
    }

    /** Which servers have the map's shards, as far as this one knows. */
    ShardEdition edition() {
        return edition;
    }

    /** The index here of the map's shard of a number, or {@link #ELSEWHERE}. @param number any */
    int indexOf(int number) {
        ShardDirectory directory = edition.directory();
        return number >= 0 && number < directory.shards() && directory.serverOf(number) == map.server()
                ? directory.indexOf(number)
                : ELSEWHERE;
    }

    /** The index here of the shard that has a key, or {@link #ELSEWHERE}. */
    int indexOfKey(long hash) {
        return edition.ranges().indexOf(hash);
    }

    /** The same; or of the shard that had it, and has not dropped it yet. */
    int formerIndexOfKey(long hash) {
        return edition.ranges().formerIndexOf(hash);
    }

    /**
     * Has a shard drop the keys that it has no more, and account for its blocks, if it has not done that yet. The
     * shard's thread.
     */
    void settle(int index) {
        ServedRanges ranges = edition.ranges();
        if (!ranges.isSettled(index)) {
            ranges.settle(index, kept -> shards[index].dropAllBut(map.keyHash(), kept));
        }
        if (isToBeAudited(index)) {
            int number = audit.get();
            ServedRanges.KeptKeys kept = ranges.settledKeys(index);
            if (kept != null) {
                audits.set(index, new ShardAudit(number, shards[index].audit(map.keyHash(), kept)));
            }
            // Else the shard has lost ranges since, and settles these first.
        }
    }

    /** Whether a shard has dropped the keys that it has no more, and accounted for its blocks if it is asked to. */
    boolean isSettled(int index) {
        return edition.ranges().isSettled(index) && !isToBeAudited(index);
    }

    private boolean isToBeAudited(int index) {
        ShardAudit last = audits.get(index);
        return (last == null ? 0 : last.number) < audit.get();
    }

    /** Asks all shards to account for their blocks, unless they do so now. @return the audit's number */
    int beginAudit() {
        int present = audit.get();
        return present == 0 || audited(present) != null ? audit.incrementAndGet() : present;
    }

    /** What all shards have found in an audit, or a later one; null as long as one has not. */
    @Nullable
    BlockAudit audited(int number) {
        BlockAudit sum = BlockAudit.NONE;
        for (int index = 0; index < shards.length; index++) {
            ShardAudit last = audits.get(index);
            if (last == null || last.number < number) {
                return null;
            }
            sum = sum.plus(last.found);
        }
        return sum;
    }

    int count() {
        return shards.length;
    }

    LeasedShard shard(int index) {
        return shards[index];
    }

    /** The map's number of a shard. */
    int number(int index) {
        return map.joined() ? map.firstShard() + index : edition.directory().shard(map.server(), index);
    }

    ServedSpace space() {
        return space;
    }

    /** The thread that a shard belongs to, or null if it has none yet. */
    @Nullable
    ShardOwner owner(int index) {
        return owners.get(index);
    }

    /** A shard belongs to another thread from now on. @return false if it does not belong to {@code before} any more */
    boolean give(int index, @Nullable ShardOwner before, ShardOwner to) {
        return owners.compareAndSet(index, before, to);
    }

    /** The sessions of a process. */
    LeaseSessions sessions(long lease) {
        LeaseSessions known = sessions.get(lease);
        if (known != null) {
            return known;
        }
        LeaseSessions made = add(lease);
        if (!space.openedBy(lease)) {
            // It may have ended before these were there, and ends but once.
            ended(lease);
        }
        return made;
    }

    private synchronized LeaseSessions add(long lease) {
        LeaseSessions known = sessions.get(lease);
        if (known == null) {
            known = new LeaseSessions(now());
            var more = new Long2ObjectHashMap<>(sessions);
            more.put(lease, known);
            sessions = more;
        }
        return known;
    }

    /** The server's clock, in ns. */
    long now() {
        return nanoTime.getAsLong();
    }

    /** A process has ended, or has the map open no more. */
    synchronized void ended(long lease) {
        edition.ended(lease);
        LeaseSessions known = sessions.get(lease);
        if (known != null) {
            var fewer = new Long2ObjectHashMap<>(sessions);
            fewer.remove(lease);
            sessions = fewer;
            known.end();
        }
    }

    ShardTotals totals() {
        ShardTotals sum = ShardTotals.of(new long[ShardTotals.WORDS]);
        for (LeasedShard shard : shards) {
            sum = sum.plus(shard.totals());
        }
        return sum;
    }
}
