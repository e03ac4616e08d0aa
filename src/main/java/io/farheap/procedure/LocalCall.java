package io.farheap.procedure;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A call over memory of this process, in which a procedure can be tested and debugged as the Java that it is:
 *
 * <pre>{@code
 * LocalCall call = new LocalCall(memory).withArgument(0, head).withArgument(8, day);
 * int code = SumSince.run(call);
 * long sum = call.results().get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
 * }</pre>
 *
 * <p>An access that would end a call on a server throws {@link CallException}, with the same status and address. There
 * is no limit on fuel. Threads may share the memory, each with a call of its own; {@link #compareAndSetAll} excludes
 * other local calls of the process.
 */
public final class LocalCall implements Call {

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle WORD =
            ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
    private static final Object ATOMICS = new Object();

    private final MemorySegment memory;
    private final long regionBytes;
    private long from;
    private long span;
    private final MemorySegment arguments = MemorySegment.ofArray(new long[ARGUMENT_BYTES / 8]);
    private int argumentBytes;
    private final MemorySegment results = MemorySegment.ofArray(new long[RESULT_BYTES / 8]);
    private int resultCapacity = RESULT_BYTES;
    private int resultBytes;
    private final MemorySegment scratch = MemorySegment.ofArray(new long[SCRATCH_BYTES / 8]);

    /**
     * A cache of one region.
     *
     * @param memory its bytes; cache address 0 is the first. Atomics need it aligned to 8: native memory, or that of a
     *     {@code long[]}.
     */
    public LocalCall(MemorySegment memory) {
        this(memory, Long.highestOneBit(Math.max(memory.byteSize(), 1)) << 1);
    }

    /**
     * A cache of several regions.
     *
     * @param memory its bytes; cache address 0 is the first
     * @param regionBytes of each region of the cache, a power of two: no access may cross a multiple of it
     */
    public LocalCall(MemorySegment memory, long regionBytes) {
        if (regionBytes <= 0 || Long.bitCount(regionBytes) != 1) {
            throw new IllegalArgumentException("regions of " + regionBytes + " bytes; they must be a power of two");
        }
        this.memory = memory;
        this.regionBytes = regionBytes;
        this.span = memory.byteSize();
    }

    /** Restricts accesses to these bytes of the cache. */
    public LocalCall withFootprint(long first, long bytes) {
        if (first < 0 || bytes < 0 || first > memory.byteSize() - bytes) {
            throw new IllegalArgumentException(
                    "a footprint of " + bytes + " bytes from " + first + ": the memory has " + memory.byteSize());
        }
        from = first;
        span = bytes;
        return this;
    }

    /**
     * Stores 8 bytes of the arguments, little-endian; they are as long as the furthest byte that was stored.
     *
     * @param at their offset, at any alignment
     * @throws IndexOutOfBoundsException if they end beyond {@value Call#ARGUMENT_BYTES} bytes
     */
    public LocalCall withArgument(int at, long value) {
        arguments.set(LONG, at, value);
        argumentBytes = Math.max(argumentBytes, at + 8);
        return this;
    }

    /**
     * Sets all arguments, to a copy.
     *
     * @throws IndexOutOfBoundsException if they have more than {@value Call#ARGUMENT_BYTES} bytes
     */
    public LocalCall withArguments(MemorySegment bytes) {
        MemorySegment.copy(bytes, 0, arguments, 0, bytes.byteSize());
        argumentBytes = (int) bytes.byteSize();
        return this;
    }

    /** Sets how many bytes of a result the caller has room for; 4096 unless this is called. */
    public LocalCall withResultCapacity(int bytes) {
        if (bytes < 0 || bytes > RESULT_BYTES) {
            throw new IllegalArgumentException("a result of " + bytes + " bytes; it has 0 to " + RESULT_BYTES);
        }
        resultCapacity = bytes;
        return this;
    }

    /** Restores the state after construction, except for the bytes of scratch memory and result. */
    public void clear() {
        argumentBytes = 0;
        resultBytes = 0;
        resultCapacity = RESULT_BYTES;
        from = 0;
        span = memory.byteSize();
    }

    /** The result, as long as its furthest byte that was stored. It is a view, which the next call changes. */
    public MemorySegment results() {
        return results.asSlice(0, resultBytes);
    }

    /** All of scratch memory. */
    public MemorySegment scratchMemory() {
        return scratch;
    }

    @Override
    public int argumentBytes() {
        return argumentBytes;
    }

    private static int place(int at, int bytes, int length, int status, String what) {
        if (at < 0 || bytes < 0 || at > length - bytes) {
            throw new CallException(status, at, bytes + " bytes at " + at + " of " + what + ", which has " + length);
        }
        return at;
    }

    private int argumentAt(int at, int bytes) {
        return place(at, bytes, argumentBytes, CallStatus.OUT_OF_RANGE, "the arguments");
    }

    private int scratchAt(int at, int bytes) {
        return place(at, bytes, SCRATCH_BYTES, CallStatus.OUT_OF_RANGE, "scratch memory");
    }

    private int resultAt(int at, int bytes) {
        place(at, bytes, resultCapacity, CallStatus.RESULT_FULL, "the result");
        resultBytes = Math.max(resultBytes, at + bytes);
        return at;
    }

    private long cacheAt(long address, int bytes) {
        if (Long.compareUnsigned(address - from, span) >= 0 || span - (address - from) < bytes) {
            throw new CallException(CallStatus.OUT_OF_RANGE, address, bytes + " bytes at cache address " + address);
        }
        if ((address & (regionBytes - 1)) > regionBytes - bytes) {
            throw new CallException(CallStatus.SPLIT, address, bytes + " bytes at cache address " + address);
        }
        return address;
    }

    private long wordAt(long address) {
        if ((address & 7) != 0) {
            throw new CallException(CallStatus.NOT_ALIGNED, address, "cache address " + address);
        }
        return cacheAt(address, 8);
    }

    @Override
    public long argument(int at) {
        return arguments.get(LONG, argumentAt(at, 8));
    }

    @Override
    public int argumentInt(int at) {
        return arguments.get(INT, argumentAt(at, 4));
    }

    @Override
    public byte argumentByte(int at) {
        return arguments.get(ValueLayout.JAVA_BYTE, argumentAt(at, 1));
    }

    @Override
    public int resultCapacity() {
        return resultCapacity;
    }

    @Override
    public void result(int at, long value) {
        results.set(LONG, resultAt(at, 8), value);
    }

    @Override
    public void resultInt(int at, int value) {
        results.set(INT, resultAt(at, 4), value);
    }

    @Override
    public void resultByte(int at, byte value) {
        results.set(ValueLayout.JAVA_BYTE, resultAt(at, 1), value);
    }

    @Override
    public void resultFromScratch(int scratchAt, int resultAt, int bytes) {
        scratchAt(scratchAt, bytes);
        place(resultAt, bytes, resultCapacity, CallStatus.RESULT_FULL, "the result");
        if (bytes > 0) {
            MemorySegment.copy(scratch, scratchAt, results, resultAt(resultAt, bytes), bytes);
        }
    }

    @Override
    public long scratch(int at) {
        return scratch.get(LONG, scratchAt(at, 8));
    }

    @Override
    public int scratchInt(int at) {
        return scratch.get(INT, scratchAt(at, 4));
    }

    @Override
    public byte scratchByte(int at) {
        return scratch.get(ValueLayout.JAVA_BYTE, scratchAt(at, 1));
    }

    @Override
    public void scratch(int at, long value) {
        scratch.set(LONG, scratchAt(at, 8), value);
    }

    @Override
    public void scratchInt(int at, int value) {
        scratch.set(INT, scratchAt(at, 4), value);
    }

    @Override
    public void scratchByte(int at, byte value) {
        scratch.set(ValueLayout.JAVA_BYTE, scratchAt(at, 1), value);
    }

    @Override
    public byte getByte(long address) {
        return memory.get(ValueLayout.JAVA_BYTE, cacheAt(address, 1));
    }

    @Override
    public short getShort(long address) {
        return memory.get(SHORT, cacheAt(address, 2));
    }

    @Override
    public int getInt(long address) {
        return memory.get(INT, cacheAt(address, 4));
    }

    @Override
    public long getLong(long address) {
        return memory.get(LONG, cacheAt(address, 8));
    }

    @Override
    public void putByte(long address, byte value) {
        memory.set(ValueLayout.JAVA_BYTE, cacheAt(address, 1), value);
    }

    @Override
    public void putShort(long address, short value) {
        memory.set(SHORT, cacheAt(address, 2), value);
    }

    @Override
    public void putInt(long address, int value) {
        memory.set(INT, cacheAt(address, 4), value);
    }

    @Override
    public void putLong(long address, long value) {
        memory.set(LONG, cacheAt(address, 8), value);
    }

    @Override
    public boolean compareAndSet(long address, long expected, long value) {
        long at = wordAt(address);
        synchronized (ATOMICS) {
            return WORD.compareAndSet(memory, at, expected, value);
        }
    }

    @Override
    public long getAndAdd(long address, long delta) {
        long at = wordAt(address);
        synchronized (ATOMICS) {
            return (long) WORD.getAndAdd(memory, at, delta);
        }
    }

    @Override
    public boolean compareAndSetAll(int scratchAt, int words) {
        if (words < 0 || words > MOST_WORDS_SET) {
            throw new CallException(CallStatus.OUT_OF_RANGE, scratchAt, "a set of " + words + " words");
        }
        scratchAt(scratchAt, words * WORD_SET_BYTES);
        for (int i = 0; i < words; i++) {
            long address = word(scratchAt, i, 0);
            wordAt(address);
            if ((address ^ word(scratchAt, 0, 0)) >= regionBytes || (address ^ word(scratchAt, 0, 0)) < 0) {
                throw new CallException(CallStatus.SPLIT, address, "a set in two regions");
            }
        }
        synchronized (ATOMICS) {
            for (int i = 0; i < words; i++) {
                if (memory.get(LONG, word(scratchAt, i, 0)) != word(scratchAt, i, 1)) {
                    return false;
                }
            }
            for (int i = 0; i < words; i++) {
                memory.set(LONG, word(scratchAt, i, 0), word(scratchAt, i, 2));
            }
        }
        return true;
    }

    private long word(int scratchAt, int index, int which) {
        return scratch.get(LONG, scratchAt + index * WORD_SET_BYTES + which * 8);
    }

    @Override
    public void copyToScratch(long address, int scratchAt, int bytes) {
        scratchAt(scratchAt, bytes);
        if (bytes > 0) {
            MemorySegment.copy(memory, cacheAt(address, bytes), scratch, scratchAt, bytes);
        }
    }

    @Override
    public void copyFromScratch(int scratchAt, long address, int bytes) {
        scratchAt(scratchAt, bytes);
        if (bytes > 0) {
            MemorySegment.copy(scratch, scratchAt, memory, cacheAt(address, bytes), bytes);
        }
    }
}
