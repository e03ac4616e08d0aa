package io.farheap.resilience.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.RegionGrant;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.resilience.contract.Resilience;
import io.farheap.thread.ThreadJoiner;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The slabs of a range, as other threads see them while they change. */
// Regions are not used.
@SuppressWarnings("NullAway")
class SlabTableTest {

    private static final Resilience CODE = Resilience.failureRecovery(8, 2);
    private static final int LOOKS = 5_000_000;

    private static Slab slab(int split, int generation, int state) {
        return new Slab(null, 0, split, generation, state);
    }

    /** @return the slab that takes the place of the given-up one */
    private static Slab giveUp(SlabTable table, int split, int generation) {
        Slab old = table.slab(0, split);
        assertTrue(table.giveUp(old));
        Slab next = slab(split, generation, Slab.REBUILDING);
        table.replace(old, next);
        return next;
    }

    /** A slab becomes good before another is given up, so k are good at any time: no reader may see fewer. */
    @Test
    void aRangeThatHasKGoodSlabsAtAnyTimeNeverSeemsLost() {
        SlabTable table = new SlabTable(
                CODE,
                IntStream.range(0, CODE.splits())
                        .mapToObj(split -> slab(split, 0, Slab.GOOD))
                        .toList());
        AtomicBoolean enough = new AtomicBoolean();
        Thread changer = Thread.ofPlatform().start(() -> {
            SplittableRandom random = new SplittableRandom(1);
            Slab first = giveUp(table, 0, 1);
            Slab second = giveUp(table, 1, 1);
            for (int generation = 2; !enough.get(); generation++) {
                table.rebuilt(first);
                int other = random.nextInt(CODE.splits());
                while (other == first.split() || other == second.split()) {
                    other = random.nextInt(CODE.splits());
                }
                first = second;
                second = giveUp(table, other, generation);
            }
            table.rebuilt(first);
            table.rebuilt(second);
        });
        int least = CODE.splits();
        try {
            for (int i = 0; i < LOOKS && least >= CODE.dataSplits(); i++) {
                least = Math.min(least, Integer.bitCount(table.good(0)));
            }
        } finally {
            enough.set(true);
            ThreadJoiner.join(changer);
        }
        assertTrue(least >= CODE.dataSplits(), least + " good slabs were seen");
        assertEquals(CODE.splits(), Integer.bitCount(table.good(0)));
    }

    /** At most one slab is void at any time: a server of a range that is not lost must not seem to be empty. */
    @Test
    void aServerOfARangeThatChangesKeepsItsPlaces() {
        Resilience code = Resilience.failureRecovery(8, 1);
        // All slabs are on the server null.
        RemoteRegion region = new RemoteRegion(null, 0, new RegionGrant(0, 0, 0, 0), 1);
        SlabTable table = new SlabTable(
                code,
                IntStream.range(0, code.splits())
                        .mapToObj(split -> new Slab(region, 0, split, 0, Slab.GOOD))
                        .toList());
        AtomicBoolean enough = new AtomicBoolean();
        Thread changer = Thread.ofPlatform().start(() -> {
            SplittableRandom random = new SplittableRandom(1);
            for (int generation = 1; !enough.get(); generation++) {
                Slab old = table.slab(0, random.nextInt(code.splits()));
                assertTrue(table.giveUp(old));
                Slab next = new Slab(region, 0, old.split(), generation, Slab.REBUILDING);
                table.replace(old, next);
                assertTrue(table.rebuilt(next));
            }
        });
        int least = code.splits();
        try {
            for (int i = 0; i < LOOKS / 10 && least == code.splits(); i++) {
                least = table.placesAt(null);
            }
        } finally {
            enough.set(true);
            ThreadJoiner.join(changer);
        }
        assertEquals(code.splits(), least);
    }
}
