package io.farheap.kv.replacement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.farheap.kv.policy.ObjectMetadata;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.lang.management.ManagementFactory;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The methods of replacements that a map's operations call allocate nothing. */
@Tag("optimised")
@Needs(Need.HOST)
class PolicyAllocationTest {

    private static final int OPERATIONS = 20_000;
    private static final int SILENT_ROUNDS = 3;
    private static final int MOST_ROUNDS = 100;
    private static final int OBJECTS = 64;

    private final ObjectMetadata[] objects = new ObjectMetadata[OBJECTS];
    private final SplittableRandom random = new SplittableRandom(8);
    private final FrequencyCounterCache counters = new FrequencyCounterCache(
            OBJECTS / 2 * FrequencyCounterCache.ENTRY_BYTES, 10, 100, (key, slot, accesses) -> this.sent += accesses);
    private long sent;
    private long exchanges;
    private long now;

    @ParameterizedTest
    @ValueSource(strings = {"adaptive", "paper", "lirs,gdsf,lru-k", "lrfu,mru,fifo,size", "hyperbolic,gds,lfuda"})
    void operationsAllocateNothing(String policy) {
        for (int i = 0; i < OBJECTS; i++) {
            objects[i] = new ObjectMetadata();
        }
        Replacement replacement = Replacements.named(policy, OBJECTS, 3);
        SharedWeights controller = Replacements.controller(policy);
        long[] words = new long[replacement.words()];
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        // Now and then compiled code is deoptimised and then allocates. If an operation itself allocated, it would do
        // so in all rounds.
        int silent = 0;
        long last = 0;
        for (int round = 0; round < MOST_ROUNDS && silent < SILENT_ROUNDS; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            operate(replacement, controller, words);
            long bytes = threads.getCurrentThreadAllocatedBytes() - before;
            silent = bytes == 0 ? silent + 1 : 0;
            last = bytes == 0 ? last : bytes;
        }
        assertEquals(SILENT_ROUNDS, silent, "rounds that allocated nothing; before, one allocated " + last + " bytes");
        assertTrue(sent > 0 && exchanges > 0, sent + " counts sent, " + exchanges + " exchanges");
    }

    private void operate(Replacement replacement, SharedWeights controller, long[] words) {
        for (int i = 0; i < OPERATIONS; i++) {
            now++;
            int accessed = random.nextInt(OBJECTS);
            ObjectMetadata object = objects[accessed].now(now);
            replacement.accessed(object);
            object.frequency(object.frequency() + 1).lastAccess(now);
            counters.add(accessed, accessed, now);
            replacement.begin();
            for (int slot = 0; slot < OBJECTS; slot += 4) {
                replacement.offer(slot, objects[slot].now(now));
                replacement.offerHistory(now, now - slot, slot & 3);
            }
            int victim = replacement.choose();
            replacement.inserted(objects[victim].now(now), replacement.missed(now, now - 1, replacement.experts()));
            if (replacement.due()) {
                replacement.send(words);
                controller.answer(words);
                replacement.answered(words);
                exchanges++;
            }
        }
    }
}
