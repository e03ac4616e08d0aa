package io.farheap.kv.service;

import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.SizeClasses;
import io.farheap.kv.format.SpaceShape;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.agrona.collections.Long2LongHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Empties segments of one server, so that a class that is short of room can have them. From the moment when a segment
 * is chosen none of its free blocks is handed out. Processes learn of it from the answers to their heartbeats; from
 * then on they take no block of it into use, and give back the free ones that they have. When every request in flight
 * began after that, no slot will newly name one of its blocks. Then one process, the emptier, moves or evicts the
 * objects that slots name there. When all of its blocks are in the pool it is retired like any other
 * ({@code BlockStore}).
 *
 * <p>Some blocks may not come back, if they belong to a session that is not polled or to a dead process. So a segment
 * to which no block has come back for a while is left as it is, and not chosen again soon. One thread at a time.
 */
final class SegmentRebalancer {

    /** The store of the segments. */
    interface SegmentStore {

        SpaceShape shape();

        int regions();

        RegionBlocks at(int region);

        long segmentsHandedOut();

        /** Segments that are retired and not of another class yet. */
        int onTheWay();

        /** Raises the store's epoch, and returns its new value. */
        long nextEpoch();

        /** Takes a segment's free blocks out of the pool. */
        void withdraw(RegionBlocks region, int segment);

        /** Puts them back. */
        void offer(RegionBlocks region, int segment);

        /** Free blocks of a class that may be handed out. */
        long usableOf(int sizeClass);

        long segmentsOf(int sizeClass);
    }

    /** One in this many of a server's segments is emptied at a time. */
    private static final int SHARE = 32;
    /** The limit of segments that are emptied at a time. */
    static final int MOST = 64;
    /** Segments that are looked at to find one. */
    private static final int LOOKED_AT = 2048;
    /** How long a segment is kept in emptying although no block comes back. */
    private static final long PATIENCE_NANOS = 3_000_000_000L;
    /** How long it is not chosen again after that. */
    private static final long AGAIN_NANOS = 10_000_000_000L;
    /** How long after an attempt blocks that could not be moved are tried again. */
    private static final long RETRY_NANOS = 200_000_000L;
    /** If one in this many of a segment's blocks is worn out, the segment is worth emptying. */
    private static final int WORN_SHARE = 8;
    /**
     * If eviction was not in vain yet, only a segment with at least one in this many of its blocks free or worn out is
     * emptied.
     */
    private static final int LEAST_FREE_SHARE = 8;
    /** After this many requests that found nothing, all earlier ones together count half. */
    private static final int UNMET_PERIOD = 256;

    /** A segment that is being emptied. */
    private static final class EmptiedSegment {
        final RegionBlocks region;
        final int segment;
        final long epoch;
        long deadline;
        boolean handedOver;
        long retryAt;

        EmptiedSegment(RegionBlocks region, int segment, long epoch, long deadline) {
            this.region = region;
            this.segment = segment;
            this.epoch = epoch;
            this.deadline = deadline;
        }

        boolean is(RegionBlocks ofRegion, int number) {
            return region == ofRegion && segment == number;
        }
    }

    private final SegmentStore blocks;
    private final LongSupplier nanoTime;
    private final List<EmptiedSegment> chosen = new ArrayList<>();
    /** By segment: until when it is not chosen. */
    private final Long2LongHashMap givenUp = new Long2LongHashMap(Long.MIN_VALUE);

    /** By class: requests that found nothing, even by eviction. */
    private final long[] unmet = new long[SizeClasses.COUNT];

    private long unmetSince;
    private long settled;
    private long emptied;
    private int lookRegion;
    private int lookSegment;

    SegmentRebalancer(SegmentStore blocks, LongSupplier nanoTime) {
        this.blocks = blocks;
        this.nanoTime = nanoTime;
    }

    boolean any() {
        return !chosen.isEmpty();
    }

    int count() {
        return chosen.size();
    }

    /** Segments that have been emptied so far. */
    long emptied() {
        return emptied;
    }

    /** Chooses segments to empty for a class that has no block left. @param want as {@link MapCalls#TAKE} has it */
    void choose(int sizeClass, int want) {
        if (want >= MapCalls.AGAIN) {
            countUnmet(sizeClass);
        }
        // There a segment is a block.
        if (blocks.shape().segmentBytes() == BlockFormat.UNIT_BYTES) {
            return;
        }
        long most = Math.clamp(blocks.segmentsHandedOut() / SHARE, 1, MOST);
        long epoch = 0;
        while (chosen.size() < most && blocks.onTheWay() < most) {
            SegmentCandidate best = best(sizeClass, want);
            if (best.region == null) {
                return;
            }
            epoch = epoch == 0 ? blocks.nextEpoch() : epoch;
            blocks.withdraw(best.region, best.segment);
            best.region.setEmptying(best.segment, true);
            chosen.add(new EmptiedSegment(best.region, best.segment, epoch, nanoTime.getAsLong() + PATIENCE_NANOS));
        }
    }

    private void countUnmet(int sizeClass) {
        unmet[sizeClass]++;
        if (++unmetSince == UNMET_PERIOD) {
            unmetSince = 0;
            for (int i = 0; i < unmet.length; i++) {
                unmet[i] /= 2;
            }
        }
    }

    /** The best candidate so far. */
    private static final class SegmentCandidate {
        @Nullable
        RegionBlocks region;

        int segment;
        boolean evicts;
        double cost;

        void offer(RegionBlocks ofRegion, int number, boolean withEvictions, double atCost) {
            if (region == null || evicts && !withEvictions || evicts == withEvictions && atCost < cost) {
                region = ofRegion;
                segment = number;
                evicts = withEvictions;
                cost = atCost;
            }
        }
    }

    private SegmentCandidate best(int sizeClass, int want) {
        SegmentCandidate best = new SegmentCandidate();
        long[] reserved = reserved();
        for (int looked = 0; looked < LOOKED_AT && blocks.regions() > 0; looked++) {
            if (lookRegion >= blocks.regions()) {
                lookRegion = 0;
            }
            if (lookSegment >= blocks.at(lookRegion).handedOut()) {
                lookSegment = 0;
                lookRegion = (lookRegion + 1) % blocks.regions();
            } else {
                look(blocks.at(lookRegion), lookSegment++, sizeClass, want, reserved, best);
            }
        }
        return best;
    }

    /** By class: free blocks that objects of segments that are being emptied will need. */
    private long[] reserved() {
        long[] reserved = new long[SizeClasses.COUNT];
        for (EmptiedSegment each : chosen) {
            reserved[each.region.classOf(each.segment)] += each.region.out(each.segment);
        }
        return reserved;
    }

    /**
     * Considers a segment. Prefer a segment whose live blocks fit into free blocks of the same class in other segments:
     * emptying it costs copies and evicts nothing. Else, if eviction has not helped at all, take one of the class that
     * has most segments in proportion to its own unmet requests; or, earlier, one that has many worn-out blocks.
     */
    private void look(
            RegionBlocks region, int segment, int forClass, int want, long[] reserved, SegmentCandidate best) {
        if (!region.inUse(segment) || region.isEmptying(segment) || isGivenUp(region, segment)) {
            return;
        }
        int sizeClass = region.classOf(segment);
        int all = region.blocks(segment);
        int out = region.out(segment);
        if (out == 0) {
            return;
        }
        boolean worn = region.worn(segment) * WORN_SHARE >= all;
        if (sizeClass == forClass && !worn) {
            return;
        }
        long elsewhere = blocks.usableOf(sizeClass) - region.usable(segment) - reserved[sizeClass];
        if (out <= elsewhere) {
            if (want >= MapCalls.AGAIN || worn || (all - out) * LEAST_FREE_SHARE >= all) {
                best.offer(region, segment, false, (double) out / all);
            }
        } else if (want == MapCalls.LAST || worn && want == MapCalls.AGAIN) {
            double evicted = (double) (out - Math.max(0, elsewhere)) / all;
            double due = (double) (1 + unmet[sizeClass]) / blocks.segmentsOf(sizeClass);
            best.offer(region, segment, true, worn ? 0 : due * (1 + evicted));
        }
    }

    private static long id(RegionBlocks region, int segment) {
        return (long) region.index() << Integer.SIZE | segment;
    }

    private boolean isGivenUp(RegionBlocks region, int segment) {
        long until = givenUp.get(id(region, segment));
        if (until == Long.MIN_VALUE) {
            return false;
        }
        if (nanoTime.getAsLong() - until < 0) {
            return true;
        }
        givenUp.remove(id(region, segment));
        return false;
    }

    /** Every request in flight began when the store's epoch had this value, or later. */
    void settle(long reached) {
        settled = Math.max(settled, reached);
        long now = nanoTime.getAsLong();
        for (int i = chosen.size() - 1; i >= 0; i--) {
            EmptiedSegment each = chosen.get(i);
            if (now - each.deadline > 0) {
                givenUp.put(id(each.region, each.segment), now + AGAIN_NANOS);
                stop(i);
            }
        }
    }

    private void stop(int index) {
        EmptiedSegment each = chosen.remove(index);
        each.region.setEmptying(each.segment, false);
        blocks.offer(each.region, each.segment);
    }

    void stopAll() {
        while (!chosen.isEmpty()) {
            stop(chosen.size() - 1);
        }
    }

    /** A block of one has come back. */
    void came(RegionBlocks region, int segment) {
        for (EmptiedSegment each : chosen) {
            if (each.is(region, segment)) {
                each.deadline = nanoTime.getAsLong() + PATIENCE_NANOS;
            }
        }
    }

    /** All blocks of one have come back. */
    void done(RegionBlocks region, int segment) {
        chosen.removeIf(each -> each.is(region, segment));
        emptied++;
    }

    private boolean isDue(EmptiedSegment each) {
        return each.epoch <= settled && (!each.handedOver || nanoTime.getAsLong() - each.retryAt > 0);
    }

    /** Whether there is something for an emptier to do. */
    boolean isDue() {
        return chosen.stream().anyMatch(this::isDue);
    }

    /**
     * For an emptier: place and class of each segment that can be emptied now.
     *
     * @return how many
     */
    int handOver(long[] reply, int at) {
        int n = 0;
        for (EmptiedSegment each : chosen) {
            if (isDue(each)) {
                long now = nanoTime.getAsLong();
                // Only once: an emptier that returns and moves nothing makes no progress.
                each.deadline = each.handedOver ? each.deadline : now + PATIENCE_NANOS;
                each.handedOver = true;
                each.retryAt = now + RETRY_NANOS;
                reply[at + 2 * n] = each.region.placeOf(each.segment);
                reply[at + 2 * n + 1] = each.region.classOf(each.segment);
                n++;
            }
        }
        return n;
    }

    /**
     * For the answers to heartbeats: the places of all.
     *
     * @return how many
     */
    int places(long[] reply, int at) {
        for (int i = 0; i < chosen.size(); i++) {
            reply[at + i] = chosen.get(i).region.placeOf(chosen.get(i).segment);
        }
        return chosen.size();
    }
}
