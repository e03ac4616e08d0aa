package io.farheap.procedure.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** How leases share a server thread, in rounds as the thread makes them, by a clock of the test's own. */
class LeaseSharesTest {

    private static final long SLICE = 20_000;
    /** What a round takes beside batches and slices. */
    private static final long LOOKS = 300;
    /** A round ends when it has served two rings, and others than the first for this time. */
    private static final long ROUND = 20_000;

    private static final long WINDOW = 100_000_000;

    /** A ring that has batches, always unless said otherwise, each of which takes this time. */
    private static final class FilledRing {

        final LeaseProcedures lease;
        final long nanos;
        /** Whether these are calls, for which the lease is charged. */
        final boolean calls;
        /** It has a batch in each pass whose number this divides. */
        int each = 1;
        /** For how long it has no batch after one was served. */
        long roundTrip;

        int served;
        /** The longest time without a batch that was served. */
        long longest;

        private long last;

        FilledRing(LeaseProcedures lease, long nanos, boolean calls) {
            this.lease = lease;
            this.nanos = nanos;
            this.calls = calls;
        }
    }

    private long now = Long.MAX_VALUE - 1_000_000_000;
    private long worked;
    private int pass;
    private int looked;
    private int last;
    private final Random random = new Random(1);
    private final RunQueue queue = new RunQueue(() -> now);
    private final List<FilledRing> rings = new ArrayList<>();
    /** The calls that run in turns in a slice. */
    private RunningCall[] group = new RunningCall[1];

    private long sliceEnd;
    private long sliceNanos;
    private int slices;

    private static LeaseProcedures lease() {
        return new LeaseProcedures("test", () -> 0);
    }

    private FilledRing ring(LeaseProcedures lease, long nanos) {
        return ring(lease, nanos, true);
    }

    private FilledRing ring(LeaseProcedures lease, long nanos, boolean calls) {
        FilledRing ring = new FilledRing(lease, nanos, calls);
        ring.last = now;
        rings.add(ring);
        return ring;
    }

    private void putOff(LeaseProcedures lease, int calls) {
        for (int i = 0; i < calls; i++) {
            RunningCall call = new RunningCall();
            call.lease = lease;
            queue.add(call, lease, worked);
        }
    }

    private void serve(FilledRing ring) {
        now += ring.nanos;
        ring.served++;
        ring.longest = Math.max(ring.longest, now - ring.last);
        ring.last = now;
        if (ring.calls) {
            ran(ring.lease, ring.nanos, true);
        }
    }

    private void ran(LeaseProcedures lease, long nanos, boolean batch) {
        lease.used(nanos);
        worked += nanos;
        queue.ran(lease, nanos, batch, worked);
    }

    private void round() {
        int served = 0;
        long second = 0;
        now += LOOKS;
        for (int i = 0; i < rings.size() && (served < 2 || now - second < ROUND); i++) {
            last = (last + 1) % rings.size();
            looked++;
            FilledRing ring = rings.get(last);
            if (pass % ring.each != 0 || now - ring.last < ring.roundTrip || queue.waits(ring.lease, worked)) {
                continue;
            }
            if (++served == 2) {
                second = now;
            }
            serve(ring);
        }
        if (!queue.yields(worked) && (served == 0 || sliceNanos == 0 || now - sliceEnd >= sliceNanos)) {
            sliceNanos = 0;
            RunningCall first = queue.take();
            if (first != null && first.lease != null) {
                slice(first, first.lease);
            }
        }
        if (looked >= rings.size()) {
            looked = 0;
            pass++;
            if (queue.passEnds(worked) && !rings.isEmpty()) {
                last = random.nextInt(rings.size());
            }
        }
    }

    private void slice(RunningCall first, LeaseProcedures lease) {
        group[0] = first;
        int count = queue.takeMore(lease, group, 1, group.length);
        now += SLICE;
        slices++;
        sliceEnd = now;
        sliceNanos = SLICE;
        ran(lease, SLICE, false);
        for (int i = 0; i < count; i++) {
            queue.add(group[i], lease, worked);
        }
    }

    private void run(long nanos) {
        long end = now + nanos;
        while (now - end < 0) {
            round();
        }
    }

    /** The leases' shares of what they use in 100 ms; before that, rounds of as long. */
    private double[] shares(LeaseProcedures... leases) {
        run(WINDOW);
        return sharesAtOnce(leases);
    }

    private double[] sharesAtOnce(LeaseProcedures... leases) {
        long[] used = Arrays.stream(leases).mapToLong(LeaseProcedures::used).toArray();
        run(WINDOW);
        long all = 0;
        for (int i = 0; i < used.length; i++) {
            used[i] = leases[i].used() - used[i];
            all += used[i];
        }
        double sum = all;
        return Arrays.stream(used).mapToDouble(each -> each / sum).toArray();
    }

    private void assertEqualShares(LeaseProcedures... leases) {
        assertEqual(shares(leases));
    }

    private static void assertEqual(double... shares) {
        for (double share : shares) {
            assertEquals(1.0 / shares.length, share, 0.1 / shares.length, () -> Arrays.toString(shares));
        }
    }

    private LeaseProcedures[] threeWithBatches() {
        LeaseProcedures[] leases = {lease(), lease(), lease(), lease()};
        ring(leases[0], 40_000);
        ring(leases[1], 2_000);
        ring(leases[2], 7_000);
        return leases;
    }

    /** Batches of short calls, some of twenty times the others' time. */
    @Test
    void leasesShareTheTimeOfBatches() {
        assertEqualShares(Arrays.copyOf(threeWithBatches(), 3));
        for (FilledRing ring : rings) {
            assertTrue(ring.longest < 1_000_000, ring.longest + " ns without a batch");
        }
    }

    @Test
    void leasesShareTheTimeOfBatchesAndManyCalls() {
        LeaseProcedures[] leases = threeWithBatches();
        putOff(leases[3], 50);
        assertEqualShares(leases);
    }

    /** While its only call runs, a lease has none that waits: the time that it runs counts all the same. */
    @Test
    void leasesShareTheTimeOfBatchesAndOneCall() {
        LeaseProcedures[] leases = threeWithBatches();
        putOff(leases[3], 1);
        assertEqualShares(leases);
    }

    @Test
    void leasesShareTheTimeOfBatchesAndCallsInTurns() {
        group = new RunningCall[16];
        LeaseProcedures[] leases = threeWithBatches();
        putOff(leases[3], 16);
        assertEqualShares(leases);
    }

    /** A round serves two rings, so one of many is looked at seldom. */
    @Test
    void aLeaseWithManyRingsHasTheTimeOfOneWithARing() {
        LeaseProcedures many = lease();
        LeaseProcedures one = lease();
        for (int i = 0; i < 60; i++) {
            ring(many, 40_000);
        }
        FilledRing only = ring(one, 2_000);
        assertEqualShares(many, one);
        for (FilledRing ring : rings) {
            assertTrue(ring == only || ring.served >= 5, ring.served + " batches of a ring in 200 ms");
        }
    }

    /** A ring of reads has batches in each pass, and its lease has made a call once. */
    @Test
    void aLeaseWhoseBatchesAreNotChargedKeepsNoneWaiting() {
        LeaseProcedures reads = lease();
        LeaseProcedures calls = lease();
        FilledRing ofReads = ring(reads, 1_000, false);
        FilledRing ofCalls = ring(calls, 20_000);
        ran(reads, 1_000, true);
        run(WINDOW);
        assertTrue(ofCalls.served > 0.7 * ofReads.served, ofCalls.served + " and " + ofReads.served);
        putOff(calls, 1);
        run(WINDOW);
        assertTrue(slices > 1_000, slices + " slices");
    }

    /** Its calls are a hundredth of what the thread does for it. */
    @Test
    void aLeaseWithFewCallsBesideReadsKeepsNoneWaitingForLong() {
        LeaseProcedures hostile = lease();
        ring(hostile, 100);
        for (int i = 0; i < 9; i++) {
            ring(hostile, 40_000, false);
        }
        LeaseProcedures other = lease();
        FilledRing ring = ring(other, 40_000);
        putOff(other, 1);
        run(2 * WINDOW);
        assertTrue(ring.longest < 5_000_000, ring.longest + " ns without a batch");
        assertTrue(slices > 50, slices + " slices");
    }

    /** A lease whose first call is put off, or was taken from another thread, begins where the others are. */
    @Test
    void aLeaseThatComesWithACallKeepsNoneWaitingForLong() {
        LeaseProcedures[] leases = {lease(), lease(), lease()};
        ring(leases[0], 2_000);
        ring(leases[1], 40_000);
        run(20 * WINDOW);
        for (FilledRing ring : rings) {
            ring.longest = 0;
        }
        putOff(leases[2], 1);
        run(10_000_000);
        for (FilledRing ring : rings) {
            assertTrue(ring.longest < 1_000_000, ring.longest + " ns without a batch");
        }
        assertEqualShares(leases);
    }

    /** What it uses on other threads puts it back here, and not without an end. */
    @Test
    void aLeaseThatHasOtherThreadsWaitsForTenMilliseconds() {
        LeaseProcedures elsewhere = lease();
        LeaseProcedures here = lease();
        ring(here, 20_000);
        FilledRing ring = ring(elsewhere, 40_000);
        for (int i = 0; i < 10_000; i++) {
            elsewhere.used(100_000);
            round();
        }
        assertTrue(ring.longest > RunQueue.MOST_AHEAD / 2, ring.longest + " ns");
        assertTrue(ring.longest < RunQueue.MOST_AHEAD + 1_000_000, ring.longest + " ns");
        // It stops using the others: it owes no more than that.
        assertEqualShares(elsewhere, here);
    }

    /** A client that waits for each answer has batches in every other round, and wants little time. */
    @Test
    void aLeaseWithOneCallUnderWayDoesNotDecideOthersShares() {
        LeaseProcedures light = lease();
        LeaseProcedures[] leases = {lease(), lease()};
        FilledRing lights = ring(light, 1_000);
        lights.roundTrip = 5_000;
        ring(leases[0], 40_000);
        putOff(leases[1], 1);
        assertEqualShares(leases);
        assertTrue(lights.longest < 150_000, lights.longest + " ns without a batch");
    }

    @Test
    void aLeaseWithOneCallUnderWayDoesNotDecideOthersSharesOfBatches() {
        LeaseProcedures[] leases = {lease(), lease()};
        ring(lease(), 1_000).roundTrip = 5_000;
        ring(leases[0], 40_000);
        ring(leases[1], 2_000);
        assertEqualShares(leases);
    }

    /** It wanted little, and then wants as much as it gets. */
    @Test
    void aLeaseSavesNoTimeWhileItWantsNone() {
        LeaseProcedures light = lease();
        LeaseProcedures other = lease();
        FilledRing ring = ring(light, 1_000);
        ring.roundTrip = 5_000;
        putOff(other, 1);
        run(20 * WINDOW);
        ring.roundTrip = 0;
        assertEqual(sharesAtOnce(light, other));
    }

    @Test
    void aLeaseSavesNoTimeBesideBatches() {
        LeaseProcedures light = lease();
        LeaseProcedures other = lease();
        FilledRing ring = ring(light, 1_000);
        ring.roundTrip = 5_000;
        ring(other, 40_000);
        run(20 * WINDOW);
        ring.roundTrip = 0;
        assertEqual(sharesAtOnce(light, other));
    }

    /** Reads of a third are served between slices, and count for none. */
    @Test
    void readsBetweenSlicesDecideNoShares() {
        LeaseProcedures[] leases = {lease(), lease()};
        ring(lease(), 1_000, false);
        ring(leases[0], 40_000);
        putOff(leases[1], 1);
        assertEqualShares(leases);
    }

    /** Neither keeps the other from the share of its lease, whichever is looked at first. */
    @Test
    void batchesAndCallsOfALeaseTakeTurns() {
        LeaseProcedures both = lease();
        LeaseProcedures other = lease();
        FilledRing ring = ring(both, 40_000);
        ring(other, 2_000);
        putOff(both, 1);
        assertEqualShares(both, other);
        assertTrue(slices > ring.served / 2 && slices < 2 * ring.served, ring.served + " and " + slices);
    }

    @Test
    void callsAndBatchesOfALeaseTakeTurns() {
        LeaseProcedures both = lease();
        LeaseProcedures other = lease();
        ring(other, 2_000);
        FilledRing ring = ring(both, 40_000);
        putOff(both, 1);
        assertEqualShares(both, other);
        assertTrue(slices > ring.served / 2 && slices < 2 * ring.served, ring.served + " and " + slices);
    }

    /** A lease that stays away for a few passes comes back with what it was ahead. */
    @Test
    void aLeaseThatComesAndGoesHasNoMoreThanOthers() {
        LeaseProcedures goes = lease();
        LeaseProcedures stays = lease();
        ring(goes, 40_000).each = 4;
        ring(stays, 2_000);
        assertEqualShares(goes, stays);
    }

    /** A lease whose batches come now and then is served at once, and keeps none from the time that it leaves. */
    @Test
    void aLeaseWhoseBatchesComeSeldomKeepsNoneFromTheTimeThatItLeaves() {
        LeaseProcedures seldom = lease();
        LeaseProcedures busy = lease();
        FilledRing ring = ring(seldom, 1_000);
        ring.each = 10;
        ring(busy, 40_000);
        double[] shares = shares(seldom, busy);
        assertTrue(shares[1] > 0.99, Arrays.toString(shares));
        assertTrue(ring.longest < 500_000, ring.longest + " ns");
    }
}
