package io.farheap.procedure.translate.running;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.procedure.CallStatus;
import io.farheap.procedure.translate.Translator;
import io.farheap.procedure.translate.instruction.ClassGenerator;
import io.farheap.procedure.translate.instruction.RefusedProcedureException;
import io.farheap.testing.Effort;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Contexts that no call saved: random classes are resumed at random points, with random values in all saved fields.
 * Each is refused, or behaves as a call with other arguments could: it ends, and touches only its own memory.
 * {@code -Dfarheap.seed} repeats a run.
 */
@Timeout(1200)
class CallContextFuzzTest {

    private static final int SHIFT = 12;
    private static final int REGIONS = 4;
    private static final int GUARD = 64;
    private static final int FUEL = 20_000;
    private static final int HEADER_BYTES = 72;

    private final long seed = Long.getLong("farheap.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment table = arena.allocate(REGIONS * 8L, 8);
    private final MemorySegment[] guarded = new MemorySegment[REGIONS + 1];
    private final MemorySegment saved = arena.allocate(CallContext.mostSaveBytes() + 64L, 8);
    private final CallContext context;
    private int admitted;
    private int refused;

    CallContextFuzzTest() {
        for (int i = 0; i <= REGIONS; i++) {
            long bytes = i < REGIONS ? 1L << SHIFT : CallContext.MEMORY_BYTES;
            guarded[i] = arena.allocate(bytes + 2 * GUARD, 64).fill((byte) 7);
        }
        context = new CallContext(guarded[REGIONS].asSlice(GUARD, CallContext.MEMORY_BYTES));
    }

    @Test
    void forgedContexts() {
        long end = System.nanoTime() + Effort.fuzzSeconds() * 1_000_000_000L;
        int classes = 0;
        for (; classes < 50 || System.nanoTime() < end; classes++) {
            TranslatedCode code;
            try {
                code = Translator.translate(new ClassGenerator(random).generate(), Translator.Limits.DEFAULT)
                        .code();
            } catch (RefusedProcedureException e) {
                continue;
            }
            for (int i = 0; i < 50; i++) {
                resume(code);
            }
            assertTrue(guardsHold(), "bytes around the memory have changed; seed " + seed);
        }
        System.out.println(classes + " classes; of contexts " + admitted + " were admitted, " + refused
                + " refused; seed " + seed);
        assertTrue(admitted > 100 && refused > 100, admitted + " admitted, " + refused + " refused; seed " + seed);
        arena.close();
    }

    private void resume(TranslatedCode code) {
        int capacity = random.nextInt(4097);
        context.begin(code, random.nextInt(3) * 1000L, random.nextInt(20_000), 0, capacity, FUEL);
        context.turns(random.nextInt(4) == 0);
        int bytes = forge(code.shape);
        map();
        if (!context.load(saved, 0, bytes)) {
            refused++;
            context.end();
            return;
        }
        admitted++;
        for (int runs = 0; runs < 3 * FUEL; runs++) {
            map();
            int outcome = context.run(1 + random.nextInt(1 + random.nextInt(2000)));
            if (outcome == CallContext.ACCESS && random.nextBoolean()) {
                context.accessDone(random.nextLong());
            } else if (outcome == CallContext.ENDED || outcome == CallContext.RETURNED) {
                assertTrue(context.resultBytes() <= capacity, "seed " + seed);
                assertTrue(context.status() >= 0 && context.status() <= CallStatus.NOT_ALIGNED, "seed " + seed);
                return;
            }
        }
        throw new AssertionError("it does not end; seed " + seed);
    }

    /** Maps the regions but a few, which another server has. */
    private void map() {
        for (int i = 0; i < REGIONS; i++) {
            boolean here = random.nextInt(8) != 0;
            table.setAtIndex(ValueLayout.JAVA_LONG, i, here ? guarded[i].address() + GUARD : 0);
        }
        context.map(table.address(), REGIONS, SHIFT);
    }

    /** Forges a saved call as {@link SavedCall} writes it, with random content and mostly with consistent lengths. */
    private int forge(CodeShape shape) {
        for (long at = 0; at < saved.byteSize(); at += 8) {
            saved.set(ValueLayout.JAVA_LONG, at, number());
        }
        int point = random.nextInt(shape.points());
        int arguments = random.nextInt(100);
        int result = random.nextInt(100);
        int scratch = random.nextInt(4097);
        int slots = shape.slots()[point];
        saved.set(ValueLayout.JAVA_INT, 0, point);
        saved.set(ValueLayout.JAVA_INT, 4, random.nextInt(2));
        saved.set(ValueLayout.JAVA_LONG, 8, random.nextInt(1000));
        saved.set(ValueLayout.JAVA_INT, 48, random.nextInt(4200) - 50);
        saved.set(ValueLayout.JAVA_INT, 52, random.nextInt(4200) - 50);
        saved.set(ValueLayout.JAVA_INT, 56, arguments);
        saved.set(ValueLayout.JAVA_INT, 60, result);
        saved.set(ValueLayout.JAVA_INT, 64, scratch);
        saved.set(ValueLayout.JAVA_INT, 68, slots);
        int bytes = HEADER_BYTES + slots * 8 + padded(arguments) + padded(result) + padded(scratch);
        for (int n = random.nextInt(3); n > 0; n--) {
            int at = 4 * random.nextInt(HEADER_BYTES / 4);
            saved.set(ValueLayout.JAVA_INT, at, random.nextBoolean() ? random.nextInt() : random.nextInt(60) - 30);
        }
        return bytes + (random.nextInt(16) == 0 ? 8 * (random.nextInt(9) - 4) : 0);
    }

    private long number() {
        return switch (random.nextInt(4)) {
            case 0 -> random.nextLong();
            case 1 -> random.nextInt(200) - 100;
            case 2 -> 8L * random.nextInt(1 << SHIFT) * (random.nextInt(8) == 0 ? -1 : 1);
            default -> random.nextInt(1 << SHIFT + 2);
        };
    }

    private static int padded(int bytes) {
        return (bytes + 7) & -8;
    }

    private boolean guardsHold() {
        boolean hold = true;
        for (MemorySegment memory : guarded) {
            for (int i = 0; i < GUARD; i++) {
                hold &= memory.get(ValueLayout.JAVA_BYTE, i) == 7;
                hold &= memory.get(ValueLayout.JAVA_BYTE, memory.byteSize() - 1 - i) == 7;
            }
        }
        return hold;
    }
}
