package io.farheap.procedure.translate.running;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.farheap.procedure.CallStatus;
import io.farheap.procedure.translate.Compiled;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A running call: its slices, the results of its accesses, saved and forged calls, and no traces of earlier ones. */
@Tag("optimised")
@Timeout(300)
class CallContextTest {

    private static final int SHIFT = 12;
    private static final long REGION_BYTES = 1L << SHIFT;
    /** Sums words from argument 0 on, argument 8 of them, and adds the last one's index to a counter at 0. */
    private static final Compiled SUM = Compiled.body("""
            long sum = 0;
            int i = 0;
            double half = 0;
            for (long at = call.argument(0); i < call.argument(8); at += 8, i++) {
                sum += 3 * call.getLong(at) + call.scratchByte(i);
                half += 0.5;
                call.scratch(i, sum);
            }
            call.getAndAdd(0, i);
            call.result(0, sum + (long) half);
            return i;
            """);

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment regions = arena.allocate(2 * REGION_BYTES, 64);
    private final MemorySegment table = arena.allocate(16, 8);
    private final MemorySegment memory = arena.allocate(CallContext.MEMORY_BYTES, 64);
    private final MemorySegment scratch = memory.asSlice(8192, 4096);
    private final MemorySegment saved = arena.allocate(CallContext.mostSaveBytes(), 8);
    private final CallContext context = new CallContext(memory);
    private final TranslatedCode sum = SUM.translated().code();

    @BeforeEach
    void fill() {
        table.setAtIndex(ValueLayout.JAVA_LONG, 0, regions.address());
        table.setAtIndex(ValueLayout.JAVA_LONG, 1, regions.address() + REGION_BYTES);
        for (int i = 0; i < 2 * REGION_BYTES / 8; i++) {
            regions.setAtIndex(ValueLayout.JAVA_LONG, i, i);
        }
    }

    @AfterEach
    void close() {
        arena.close();
    }

    private void begin(long from, long words, long fuel) {
        scratch.fill((byte) 0);
        memory.set(ValueLayout.JAVA_LONG, 0, from);
        memory.set(ValueLayout.JAVA_LONG, 8, words);
        context.begin(sum, 0, 2 * REGION_BYTES, 16, 8, fuel);
        context.map(table.address(), 2, SHIFT);
    }

    @Test
    void fuelIsWhatItTakesHoweverItIsSliced() {
        begin(8, 100, Long.MAX_VALUE);
        assertEquals(CallContext.RETURNED, context.run(Long.MAX_VALUE));
        long atOnce = context.fuelUsed();
        assertTrue(atOnce > 100 * 10, "only " + atOnce);
        for (int slice : new int[] {1, 7, 100}) {
            begin(8, 100, Long.MAX_VALUE);
            int slices = 1;
            while (context.run(slice) == CallContext.FUEL) {
                slices++;
            }
            assertEquals(atOnce, context.fuelUsed());
            assertTrue(slices > 5, slices + " slices of " + slice);
        }
        begin(8, 100, atOnce / 2);
        assertEquals(CallContext.ENDED, context.run(Long.MAX_VALUE));
        assertEquals(CallStatus.OUT_OF_FUEL, context.status());
        assertTrue(context.fuelUsed() >= atOnce / 2 && context.fuelUsed() < atOnce / 2 + 200, "" + context.fuelUsed());
        assertThrows(IllegalStateException.class, () -> context.run(1));
    }

    @Test
    void whatWasFetchedServesOneAccess() {
        TranslatedCode twice = Compiled.body("return (int) (call.getLong(8) * 1000 + call.getLong(8));")
                .translated()
                .code();
        context.begin(twice, 0, 2 * REGION_BYTES, 0, 0, 1000);
        table.setAtIndex(ValueLayout.JAVA_LONG, 0, 0);
        context.map(table.address(), 2, SHIFT);
        assertEquals(CallContext.ACCESS, context.run(100));
        assertEquals(CallContext.READ, context.accessKind());
        assertEquals(8, context.accessBytes());
        assertEquals(8, context.address());
        context.accessDone(7);
        assertEquals(CallContext.ACCESS, context.run(100));
        table.setAtIndex(ValueLayout.JAVA_LONG, 0, regions.address());
        context.map(table.address(), 2, SHIFT);
        assertEquals(CallContext.RETURNED, context.run(100));
        assertEquals(7001, context.code());
    }

    @Test
    void aMapIsLookedAtInEachSlice() {
        TranslatedCode spin = Compiled.body(
                        "long n = 0; while (call.getLong(8) == 1) { n++; } return (int) call.getLong(16);")
                .translated()
                .code();
        context.begin(spin, 0, REGION_BYTES, 0, 0, 1_000_000);
        context.map(table.address(), 2, SHIFT);
        assertEquals(CallContext.FUEL, context.run(100));
        assertEquals(CallContext.FUEL, context.run(100));
        table.setAtIndex(ValueLayout.JAVA_LONG, 0, 0);
        context.map(table.address(), 2, SHIFT);
        assertEquals(CallContext.ACCESS, context.run(100));
        table.setAtIndex(ValueLayout.JAVA_LONG, 0, regions.address() + REGION_BYTES);
        context.map(table.address(), 2, SHIFT);
        assertEquals(CallContext.RETURNED, context.run(100));
        assertEquals(512 + 2, context.code());
    }

    @Test
    void turnsComeBeforeEachAccessToAnotherLine() {
        begin(8, 26, Long.MAX_VALUE);
        context.turns(true);
        int turns = 0;
        while (context.run(1000) == CallContext.TURN) {
            long[] places = {8, 64, 128, 192, 0};
            assertEquals(regions.address() + places[turns], context.touchAddress());
            assertEquals(0, CallContext.touch(new CallContext[] {context}, 0, 0));
            turns++;
        }
        assertEquals(5, turns);
        assertEquals(26, context.code());
    }

    /**
     * A context runs calls of different leases one after another: a saved call contains no value of the call before.
     */
    @Test
    void nothingOfTheCallBeforeIsInASavedOne() {
        String[] before = {
            "return call.compareAndSet(8, 4711, 4712) ? 1 : 0;",
            "return (int) call.getAndAdd(8, 4711);",
            "call.putLong(8, 4711); return 0;",
            "call.copyToScratch(8, 4000, 40); return 0;",
            "call.copyFromScratch(4000, 8, 40); return 0;",
            "call.scratch(3000, 8); return call.compareAndSetAll(3000, 1) ? 1 : 0;",
        };
        TranslatedCode chase =
                Compiled.body("return (int) call.getLong(16);").translated().code();
        table.setAtIndex(ValueLayout.JAVA_LONG, 0, 0);
        for (String body : before) {
            TranslatedCode other = Compiled.body(body).translated().code();
            context.begin(other, 0, REGION_BYTES, 0, 0, 1000);
            context.map(table.address(), 2, SHIFT);
            assertEquals(CallContext.ACCESS, context.run(100), body);
            context.end();
            memory.fill((byte) 0);
            context.begin(chase, 0, REGION_BYTES, 0, 0, 1000);
            assertEquals(0, context.address(), body);
            assertEquals(CallContext.ACCESS, context.run(100), body);
            context.save(saved, 0);
            assertEquals(16, saved.get(ValueLayout.JAVA_LONG, 16), "its own address");
            for (int at = 24; at < 56; at += 8) {
                assertEquals(0, saved.get(ValueLayout.JAVA_LONG, at), "at " + at + " of what is saved after: " + body);
            }
            context.end();
        }
    }

    /** A forged saved call ends, whatever its bytes are, and touches no other memory than a call. */
    @Test
    void forgedContexts() {
        long seed = Long.getLong("farheap.seed", System.nanoTime());
        Random random = new Random(seed);
        MemorySegment guard = arena.allocate(CallContext.MEMORY_BYTES + 128, 64).fill((byte) 7);
        CallContext other = new CallContext(guard.asSlice(64, CallContext.MEMORY_BYTES));
        int admitted = 0;
        for (int i = 0; i < 20_000; i++) {
            begin(8, 20, 3000);
            context.run(1 + random.nextInt(200));
            if (context.fuelUsed() > 200) {
                context.begin(sum, 0, 2 * REGION_BYTES, 16, 8, 3000);
            }
            context.save(saved, 0);
            int bytes = context.saveBytes();
            for (int n = random.nextInt(4); n >= 0; n--) {
                if (random.nextBoolean()) {
                    saved.set(ValueLayout.JAVA_INT, random.nextInt(18) * 4, random.nextInt(40) - 20);
                } else {
                    saved.set(ValueLayout.JAVA_BYTE, random.nextInt(bytes), (byte) random.nextInt());
                }
            }
            bytes += random.nextInt(8) == 0 ? random.nextInt(64) - 32 : 0;
            other.begin(sum, 0, 2 * REGION_BYTES, 0, 8, 3000);
            other.turns(random.nextInt(4) == 0);
            other.map(table.address(), 2, SHIFT);
            if (!other.load(saved, 0, bytes)) {
                continue;
            }
            admitted++;
            int outcome;
            int runs = 0;
            do {
                outcome = other.run(1 + random.nextInt(1000));
                assertTrue(runs++ < 10_000, "it does not end; seed " + seed);
            } while (outcome == CallContext.FUEL || outcome == CallContext.TURN);
            assertNotEquals(CallContext.ACCESS, outcome, "seed " + seed);
            assertTrue(other.resultBytes() <= 8, "seed " + seed);
        }
        for (int i = 0; i < 64; i++) {
            assertEquals(7, guard.get(ValueLayout.JAVA_BYTE, i), "seed " + seed);
            assertEquals(7, guard.get(ValueLayout.JAVA_BYTE, guard.byteSize() - 1 - i), "seed " + seed);
        }
        assertTrue(admitted > 1000 && admitted < 20_000, admitted + " were admitted; seed " + seed);
        other.begin(sum, 0, 2 * REGION_BYTES, 0, 8, 3000);
        assertFalse(other.load(saved, 0, 10));
        assertFalse(other.load(saved, saved.byteSize() - 8, 72));
    }

    @Test
    void nothingIsAllocated() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 200 && least > 0; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 300; i++) {
                begin(8, 20, Long.MAX_VALUE);
                context.turns(i % 3 == 0);
                int outcome;
                while ((outcome = context.run(50)) != CallContext.RETURNED) {
                    if (outcome == CallContext.FUEL) {
                        context.save(saved, 0);
                        context.load(saved, 0, context.saveBytes());
                    }
                }
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertEquals(0, least);
    }

    @Test
    void classesGoWithTheirTranslations() throws InterruptedException {
        List<WeakReference<Class<?>>> classes = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            Translation translation = SUM.translated();
            context.begin(translation.code(), 0, 2 * REGION_BYTES, 16, 8, 100);
            context.map(table.address(), 2, SHIFT);
            context.run(100);
            classes.add(new WeakReference<>(translation.code().getClass()));
        }
        begin(8, 1, 100);
        for (int i = 0; i < 50 && classes.stream().anyMatch(type -> type.get() != null); i++) {
            System.gc();
            Thread.sleep(20);
        }
        long left = classes.stream().filter(type -> type.get() != null).count();
        assertEquals(0, left, "classes are left");
    }

    @Test
    void setsAreAllOrNothingAmongAtomics() throws InterruptedException {
        // Two threads raise both words by the same amounts, with sets, swaps and adds: in the end they are equal.
        TranslatedCode move = Compiled.body("""
                        int done = 0;
                        for (int i = 0; i < 20000; i++) {
                            long value = call.getLong(64);
                            call.scratch(0, 64); call.scratch(8, value); call.scratch(16, value + 1);
                            call.scratch(24, 1024); call.scratch(32, value); call.scratch(40, value + 1);
                            if (call.compareAndSetAll(0, 2)) { done++; }
                            if (call.compareAndSet(64, value, value + 2)) { call.getAndAdd(1024, 2); done += 2; }
                        }
                        return done;
                        """).translated().code();
        regions.set(ValueLayout.JAVA_LONG, 64, 0);
        regions.set(ValueLayout.JAVA_LONG, 1024, 0);
        long[] done = new long[2];
        CountDownLatch both = new CountDownLatch(2);
        long tableAddress = table.address();
        Thread[] threads = new Thread[2];
        for (int i = 0; i < 2; i++) {
            int index = i;
            threads[i] = new Thread(() -> {
                try (Arena own = Arena.ofConfined()) {
                    CallContext mine = new CallContext(own.allocate(CallContext.MEMORY_BYTES, 64));
                    both.countDown();
                    both.await();
                    mine.begin(move, 0, REGION_BYTES, 0, 0, Long.MAX_VALUE);
                    mine.map(tableAddress, 2, SHIFT);
                    int left = mine.run(Long.MAX_VALUE);
                    while (left == CallContext.FUEL) {
                        // The other thread had the region's lock for long.
                        left = mine.run(Long.MAX_VALUE);
                    }
                    if (left == CallContext.RETURNED) {
                        done[index] = mine.code();
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(done[0] + done[1], regions.get(ValueLayout.JAVA_LONG, 64));
        assertEquals(done[0] + done[1], regions.get(ValueLayout.JAVA_LONG, 1024));
        assertTrue(done[0] > 0 && done[1] > 0);
    }

    /** The thread that holds the lock may not run for long: an atomic leaves, and is made by a later slice. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "return call.compareAndSet(64, 5, 6) ? 1 : 0;",
                "return (int) call.getAndAdd(64, 1) - 4;",
                "call.scratch(0, 64); call.scratch(8, 5); call.scratch(16, 6);"
                        + "return call.compareAndSetAll(0, 1) ? 1 : 0;"
            })
    @Timeout(60)
    void anAtomicDoesNotWaitForAThreadThatHoldsTheLock(String body) throws Exception {
        TranslatedCode atomic = Compiled.body(body).translated().code();
        regions.set(ValueLayout.JAVA_LONG, 64, 5);
        int lock = RegionLocks.lock(regions.address());
        try {
            context.begin(atomic, 0, REGION_BYTES, 0, 0, 1_000_000);
            context.map(table.address(), 2, SHIFT);
            for (int slice = 0; slice < 3; slice++) {
                assertEquals(CallContext.FUEL, context.run(1_000));
                assertEquals(5, regions.get(ValueLayout.JAVA_LONG, 64));
            }
        } finally {
            RegionLocks.unlock(lock);
        }
        assertEquals(CallContext.RETURNED, context.run(1_000));
        assertEquals(1, context.code());
        assertEquals(6, regions.get(ValueLayout.JAVA_LONG, 64));
    }

    private static List<String> straightCode() {
        StringBuilder line = new StringBuilder();
        StringBuilder branches = new StringBuilder();
        StringBuilder nested = new StringBuilder();
        for (int i = 0; i < 150; i++) {
            line.append("x = x % 3.7 + 11.3;");
            branches.append("if (x > 5) { x = x % 3.7 + 11.3; } else { x = 19.5 % x; }");
            nested.append(i % 20 == 0 ? ";y += x % 3.5" : "+ x % " + (i + 0.25)).append(i % 20 == 0 ? "+ (1" : "");
            nested.append(i % 20 == 19 ? ")" : "");
        }
        nested.append(");");
        return List.of(line.toString(), branches.toString(), nested.toString());
    }

    /** Code without loops and accesses leaves when its fuel is used up, too. */
    @ParameterizedTest
    @MethodSource("straightCode")
    void codeWithoutLoopsLeaves(String code) {
        String body = "double x = call.argument(0); double y = 0;" + code + " return (int) (1000 * x + y);";
        TranslatedCode straight = Compiled.body(body).translated().code();
        memory.set(ValueLayout.JAVA_LONG, 0, 12_345);
        context.begin(straight, 0, REGION_BYTES, 8, 0, 1_000_000);
        context.map(table.address(), 2, SHIFT);
        assertEquals(CallContext.RETURNED, context.run(1_000_000));
        int whole = context.code();
        long fuel = context.fuelUsed();
        assertTrue(fuel > 8_000, fuel + " units");
        context.begin(straight, 0, REGION_BYTES, 8, 0, 1_000_000);
        context.map(table.address(), 2, SHIFT);
        int slices = 1;
        long before = 0;
        while (context.run(1) == CallContext.FUEL) {
            assertTrue(context.fuelUsed() - before <= 1_100, context.fuelUsed() - before + " units in a slice");
            before = context.fuelUsed();
            slices++;
        }
        assertTrue(slices >= fuel / 1_100, slices + " slices");
        assertEquals(whole, context.code());
        assertEquals(fuel, context.fuelUsed());
        context.begin(straight, 0, REGION_BYTES, 8, 0, 3_000);
        context.map(table.address(), 2, SHIFT);
        assertEquals(CallContext.ENDED, context.run(1_000_000));
        assertEquals(CallStatus.OUT_OF_FUEL, context.status());
    }
}
