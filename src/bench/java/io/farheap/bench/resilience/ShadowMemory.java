package io.farheap.bench.resilience;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.SplittableRandom;

/** The expected content of far memory, updated by the writers. One thread. */
final class ShadowMemory implements AutoCloseable {

    private static final int UNIT = 64;
    /** Odd, and with bits in all positions, so that neighbouring words differ in many bits. */
    private static final long STEP = 0x9E3779B97F4A7C15L;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment bytes;
    private final SplittableRandom random;
    /** By unit: whether a write of it has failed, so that it may have taken effect or not. */
    private final BitSet unknown = new BitSet();

    ShadowMemory(long size, long seed) {
        bytes = arena.allocate(size, UNIT);
        random = new SplittableRandom(seed);
    }

    /**
     * Composes data to write that is unique. The second half of each unit repeats a word, so that it can be compressed.
     */
    void compose(MemorySegment memory, int length) {
        long word = random.nextLong();
        for (int at = 0; at < length; at += Long.BYTES) {
            word += at % UNIT <= UNIT / 2 ? STEP : 0;
            memory.set(JAVA_LONG, at, word);
        }
    }

    void written(long address, MemorySegment memory, int length) {
        MemorySegment.copy(memory, 0, bytes, address, length);
        if (!unknown.isEmpty()) {
            unknown.clear(unit(address), unit(address + length));
        }
    }

    void failed(long address, int length) {
        unknown.set(unit(address), unit(address + length));
    }

    private static int unit(long address) {
        return (int) (address / UNIT);
    }

    /** Returns how many of the bytes that were read are wrong; any content counts as right after a failed write. */
    long wrong(long address, MemorySegment memory, int length) {
        if (MemorySegment.mismatch(memory, 0, length, bytes, address, address + length) < 0) {
            return 0;
        }
        long wrong = 0;
        for (int at = 0; at < length; at++) {
            boolean other = memory.get(JAVA_BYTE, at) != bytes.get(JAVA_BYTE, address + at);
            wrong += other && !unknown.get(unit(address + at)) ? 1 : 0;
        }
        return wrong;
    }

    @Override
    public void close() {
        arena.close();
    }
}
