package io.farheap.procedure.translate.running;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.procedure.CallException;
import io.farheap.procedure.CallStatus;
import io.farheap.procedure.LocalCall;
import io.farheap.procedure.translate.Compiled;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;

/**
 * A cache of a few regions that lie apart from each other, with guard bytes around each, and two contexts, likewise. It
 * runs a procedure in one of several ways, and the same class as plain Java on a copy of the memory.
 */
public final class Stage implements AutoCloseable {

    /** How a context is run. */
    public enum Way {
        AT_ONCE,
        /** One unit of fuel at a time. */
        SLICES,
        TURNS,
        /** Each access is made elsewhere. */
        ELSEWHERE,
        /** Each region is mapped only after it was missed. */
        MISSED,
        /** Slices, and the call goes to another context each time. */
        MOVED,
        MOVED_ELSEWHERE,
        /** Slices of random length. */
        RANDOM_SLICES
    }

    static final int REGION_SHIFT = 12;
    static final int REGIONS = 4;
    static final long REGION_BYTES = 1L << REGION_SHIFT;
    public static final long CACHE_BYTES = REGIONS * REGION_BYTES;
    private static final int GUARD = 64;
    private static final byte GUARD_BYTE = 0x5a;

    /** The outcome of a call. */
    public record Outcome(int status, int code, long address, int line, MemorySegment result, long fuel) {}

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment table = arena.allocate(REGIONS * 8L, 8);
    private final MemorySegment empty = arena.allocate(REGIONS * 8L, 8);
    private final MemorySegment[] guarded = new MemorySegment[REGIONS + 2];
    private final MemorySegment[] regions = new MemorySegment[REGIONS];
    private final MemorySegment saved = arena.allocate(CallContext.mostSaveBytes(), 8);
    private final CallContext[] contexts = new CallContext[2];
    private final MemorySegment[] contextMemory = new MemorySegment[2];
    private final Random slices = new Random(1);
    public long from;
    public long span = CACHE_BYTES;
    public int capacity = 4096;
    public long fuel = 1_000_000;
    public MemorySegment arguments = MemorySegment.ofArray(new byte[0]);

    public Stage() {
        for (int i = 0; i < guarded.length; i++) {
            long bytes = i < REGIONS ? REGION_BYTES : CallContext.MEMORY_BYTES;
            guarded[i] = arena.allocate(bytes + 2 * GUARD, 64).fill(GUARD_BYTE);
            MemorySegment inner = guarded[i].asSlice(GUARD, bytes).fill((byte) 0);
            if (i < REGIONS) {
                regions[i] = inner;
                table.setAtIndex(ValueLayout.JAVA_LONG, i, inner.address());
            } else {
                contextMemory[i - REGIONS] = inner;
                contexts[i - REGIONS] = new CallContext(inner);
            }
        }
    }

    public void fill(Random random) {
        for (MemorySegment region : regions) {
            for (long at = 0; at < REGION_BYTES; at += 8) {
                region.set(
                        ValueLayout.JAVA_LONG, at, random.nextInt(4) == 0 ? random.nextLong() : random.nextInt(20_000));
            }
        }
    }

    MemorySegment region(int index) {
        return regions[index];
    }

    MemorySegment scratch(int context) {
        return contextMemory[context].asSlice(8192, 4096);
    }

    /** All regions, one behind the other, as a copy. */
    MemorySegment copy() {
        MemorySegment all = MemorySegment.ofArray(new long[(int) CACHE_BYTES / 8]);
        for (int i = 0; i < REGIONS; i++) {
            MemorySegment.copy(regions[i], 0, all, i * REGION_BYTES, REGION_BYTES);
        }
        return all;
    }

    void restore(MemorySegment all) {
        for (int i = 0; i < REGIONS; i++) {
            MemorySegment.copy(all, i * REGION_BYTES, regions[i], 0, REGION_BYTES);
        }
    }

    /** Whether the guard bytes around regions and contexts are unchanged. */
    public boolean guardsHold() {
        boolean hold = true;
        for (MemorySegment memory : guarded) {
            for (int i = 0; i < GUARD; i++) {
                hold &= memory.get(ValueLayout.JAVA_BYTE, i) == GUARD_BYTE;
                hold &= memory.get(ValueLayout.JAVA_BYTE, memory.byteSize() - 1 - i) == GUARD_BYTE;
            }
        }
        return hold;
    }

    /** Runs the procedure as plain Java over this memory. */
    Outcome plain(Compiled compiled, MemorySegment memory) {
        LocalCall call = new LocalCall(memory, REGION_BYTES)
                .withFootprint(from, span)
                .withArguments(arguments)
                .withResultCapacity(capacity);
        try {
            int code = compiled.run(call);
            return new Outcome(CallStatus.DONE, code, 0, 0, bytes(call), 0);
        } catch (CallException e) {
            return new Outcome(e.status(), 0, e.address(), 0, bytes(call), 0);
        } catch (ArithmeticException e) {
            return new Outcome(CallStatus.FAULT, 0, 0, 0, bytes(call), 0);
        }
    }

    private static MemorySegment bytes(LocalCall call) {
        return MemorySegment.ofArray(call.results().toArray(ValueLayout.JAVA_BYTE));
    }

    public Outcome run(TranslatedCode code, Way way) {
        for (MemorySegment memory : contextMemory) {
            memory.fill((byte) 0);
        }
        CallContext context = contexts[0];
        MemorySegment.copy(arguments, 0, contextMemory[0], 0, arguments.byteSize());
        context.turns(way == Way.TURNS);
        context.begin(code, from, span, (int) arguments.byteSize(), capacity, fuel);
        boolean elsewhere = way == Way.ELSEWHERE || way == Way.MOVED_ELSEWHERE;
        boolean here = !elsewhere && way != Way.MISSED;
        boolean once = way == Way.AT_ONCE || way == Way.ELSEWHERE || way == Way.MISSED;
        int which = 0;
        for (; ; ) {
            context.map((here ? table : empty).address(), REGIONS, REGION_SHIFT);
            int outcome = context.run(slice(way, once));
            if (outcome == CallContext.RETURNED || outcome == CallContext.ENDED) {
                return outcome(context, outcome, contextMemory[which]);
            }
            here = !elsewhere && (way != Way.MISSED || outcome == CallContext.ACCESS);
            if (outcome == CallContext.TURN) {
                CallContext.touch(contexts, which, 1);
            }
            if (elsewhere && outcome == CallContext.ACCESS) {
                context.accessDone(access(context, contextMemory[which].asSlice(8192, 4096)));
            }
            if (way == Way.MOVED || way == Way.MOVED_ELSEWHERE) {
                which = 1 - which;
                context = moved(context, contexts[which], code);
            }
        }
    }

    private long slice(Way way, boolean once) {
        return way == Way.RANDOM_SLICES ? 1 + slices.nextInt(1 + slices.nextInt(5000)) : once ? Long.MAX_VALUE : 1;
    }

    /** Seeds random slices. */
    public void slices(long seed) {
        slices.setSeed(seed);
    }

    private CallContext moved(CallContext context, CallContext other, TranslatedCode code) {
        context.save(saved, 0);
        int bytes = context.saveBytes();
        context.end();
        other.turns(false);
        other.begin(code, from, span, 0, capacity, fuel);
        if (!other.load(saved, 0, bytes)) {
            throw new AssertionError("what was saved cannot be loaded");
        }
        return other;
    }

    private static Outcome outcome(CallContext context, int outcome, MemorySegment memory) {
        byte[] result = memory.asSlice(4096, context.resultBytes()).toArray(ValueLayout.JAVA_BYTE);
        return outcome == CallContext.RETURNED
                ? new Outcome(CallStatus.DONE, context.code(), 0, 0, MemorySegment.ofArray(result), context.fuelUsed())
                : new Outcome(
                        context.status(),
                        0,
                        context.status() == CallStatus.OUT_OF_FUEL ? 0 : context.address(),
                        context.line(),
                        MemorySegment.ofArray(result),
                        context.fuelUsed());
    }

    /** Runs a procedure in each way, and compares all that can be seen with plain Java on a copy of the memory. */
    public Outcome same(Compiled compiled, long... values) {
        return same(compiled, compiled.translated().code(), values);
    }

    public Outcome same(Compiled compiled, TranslatedCode code, long... values) {
        arguments = MemorySegment.ofArray(values);
        MemorySegment before = copy();
        MemorySegment memory = copy();
        Outcome expected = plain(compiled, memory);
        long used = -1;
        for (Way way : Way.values()) {
            restore(before);
            Outcome found = run(code, way);
            String what = way + ": " + CallStatus.describe(found.status()) + ", line " + found.line();
            assertEquals(expected.status(), found.status(), what);
            assertEquals(expected.code(), found.code(), what);
            assertEquals(expected.address(), found.address(), what);
            assertArrayEquals(
                    expected.result().toArray(ValueLayout.JAVA_BYTE),
                    found.result().toArray(ValueLayout.JAVA_BYTE),
                    what);
            assertEquals(-1, memory.mismatch(copy()), what + ": the caches differ");
            assertEquals(used < 0 ? found.fuel() : used, found.fuel(), what + ": fuel");
            used = found.fuel();
        }
        return expected;
    }

    public void put(long address, long value) {
        regions[(int) (address >>> REGION_SHIFT)].set(ValueLayout.JAVA_LONG, address & (REGION_BYTES - 1), value);
    }

    /** Makes the access that a session would make for a context whose server does not have the region. */
    private long access(CallContext context, MemorySegment scratch) {
        long address = context.address();
        MemorySegment region = regions[(int) (address >>> REGION_SHIFT)];
        long at = address & (REGION_BYTES - 1);
        int bytes = context.accessBytes();
        switch (context.accessKind()) {
            case CallContext.READ -> {
                return load(region, at, bytes);
            }
            case CallContext.WRITE -> store(region, at, bytes, context.value());
            case CallContext.COMPARE_AND_SET -> {
                boolean same = load(region, at, 8) == context.expected();
                if (same) {
                    store(region, at, 8, context.value());
                }
                return same ? 1 : 0;
            }
            case CallContext.ADD -> {
                long before = load(region, at, 8);
                store(region, at, 8, before + context.value());
                return before;
            }
            case CallContext.SET -> {
                return setAll(region, scratch, context.scratchAt(), bytes) ? 1 : 0;
            }
            case CallContext.COPY_TO_SCRATCH -> MemorySegment.copy(region, at, scratch, context.scratchAt(), bytes);
            case CallContext.COPY_FROM_SCRATCH -> MemorySegment.copy(scratch, context.scratchAt(), region, at, bytes);
            default -> throw new AssertionError("kind " + context.accessKind());
        }
        return 0;
    }

    private static boolean setAll(MemorySegment region, MemorySegment scratch, int at, int bytes) {
        for (int i = at; i < at + bytes; i += 24) {
            long place = load(scratch, i, 8) & (REGION_BYTES - 1);
            if (load(region, place, 8) != load(scratch, i + 8, 8)) {
                return false;
            }
        }
        for (int i = at; i < at + bytes; i += 24) {
            store(region, load(scratch, i, 8) & (REGION_BYTES - 1), 8, load(scratch, i + 16, 8));
        }
        return true;
    }

    private static long load(MemorySegment memory, long at, int bytes) {
        return switch (bytes) {
            case 1 -> memory.get(ValueLayout.JAVA_BYTE, at) & 0xff;
            case 2 -> memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, at) & 0xffff;
            case 4 -> memory.get(ValueLayout.JAVA_INT_UNALIGNED, at) & 0xffff_ffffL;
            default -> memory.get(ValueLayout.JAVA_LONG_UNALIGNED, at);
        };
    }

    private static void store(MemorySegment memory, long at, int bytes, long value) {
        switch (bytes) {
            case 1 -> memory.set(ValueLayout.JAVA_BYTE, at, (byte) value);
            case 2 -> memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, at, (short) value);
            case 4 -> memory.set(ValueLayout.JAVA_INT_UNALIGNED, at, (int) value);
            default -> memory.set(ValueLayout.JAVA_LONG_UNALIGNED, at, value);
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
