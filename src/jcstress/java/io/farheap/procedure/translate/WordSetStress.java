package io.farheap.procedure.translate;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.memory.NativeMemory;
import java.lang.foreign.Arena;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** What a set of two words does under its region's lock, beside an addition to one of them: all or nothing. */
@JCStressTest
@Outcome(id = "2, 1", expect = Expect.ACCEPTABLE, desc = "the set, then the addition")
@Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "the addition first, so that the set found another value")
@Outcome(expect = Expect.FORBIDDEN, desc = "half of a set, or a lost addition")
@State
public class WordSetStress {

    private static final Arena ARENA = Arena.global();
    private static final ThreadLocal<Long> PLACE =
            ThreadLocal.withInitial(() -> ARENA.allocate(128, 64).address());

    private final long region = PLACE.get();

    public WordSetStress() {
        put(region, 0);
        put(region + 64, 0);
    }

    private static void put(long place, long value) {
        NativeMemory.ALL.set(JAVA_LONG, place, value);
    }

    private static long get(long place) {
        return NativeMemory.ALL.get(JAVA_LONG, place);
    }

    @Actor
    public void set() {
        int lock = RegionLocks.lock(region);
        if (get(region) == 0 && get(region + 64) == 0) {
            put(region, 1);
            put(region + 64, 1);
        }
        RegionLocks.unlock(lock);
    }

    @Actor
    public void add() {
        int lock = RegionLocks.lock(region);
        put(region, get(region) + 1);
        RegionLocks.unlock(lock);
    }

    @Arbiter
    public void rest(JJ_Result result) {
        result.r1 = get(region);
        result.r2 = get(region + 64);
    }
}
