package io.farheap.procedure;

/**
 * The interface of a stored procedure to everything outside it: its arguments, a result, scratch memory, and the cache
 * by cache addresses. There is no clock, thread, object or I/O.
 *
 * <p>A procedure is a class with {@code public static int run(Call)}, whose value is returned to the caller. It is
 * written in a subset of Java (docs/guide/procedures.md): static methods, primitives, this interface and pure methods
 * of {@code Math}, {@code Integer}, {@code Long}, {@code Float} and {@code Double}.
 *
 * <p>Values are little-endian and need no alignment, except for atomics. An access that is not allowed ends the call
 * with a status of {@link CallStatus}; values that it stored before stay. An access that crosses from one region of the
 * cache into the next ends it with {@link CallStatus#SPLIT}.
 *
 * <p><b>Atomicity.</b> Loads and stores of aligned words (8 bytes) are atomic. {@link #compareAndSet},
 * {@link #getAndAdd} and {@link #compareAndSetAll} are atomic among all procedures, and with one-sided READs and WRITEs
 * of whole words; they are not atomic with the atomics of a NIC. Loads, stores and READs may see some words of a
 * {@link #compareAndSetAll} before it and some after it.
 */
public interface Call {

    /** The most arguments of a call, in bytes. */
    int ARGUMENT_BYTES = 4096;
    /** The longest result, in bytes. */
    int RESULT_BYTES = 4096;
    /** Scratch memory, in bytes. */
    int SCRATCH_BYTES = 4096;
    /** The most words of one {@link #compareAndSetAll}. */
    int MOST_WORDS_SET = 8;
    /** Bytes of scratch memory for each word of {@link #compareAndSetAll}. */
    int WORD_SET_BYTES = 24;

    /** How many bytes of arguments the caller gave. */
    int argumentBytes();

    /**
     * The 8 bytes of the arguments at this offset. {@link CallStatus#OUT_OF_RANGE} if the caller did not give all of
     * them.
     */
    long argument(int at);

    /** 4 bytes; see {@link #argument}. */
    int argumentInt(int at);

    /** One byte; see {@link #argument}. */
    byte argumentByte(int at);

    /** How long a result the caller has room for, in bytes. */
    int resultCapacity();

    /**
     * Stores 8 bytes at this offset of the result. The result is as long as its furthest byte that was stored; bytes
     * between that were not stored have values from an earlier call of the same lease. {@link CallStatus#RESULT_FULL}
     * if the caller has no room for them.
     */
    void result(int at, long value);

    /** 4 bytes; see {@link #result}. */
    void resultInt(int at, int value);

    /** One byte; see {@link #result}. */
    void resultByte(int at, byte value);

    /** Copies bytes of scratch memory into the result. */
    void resultFromScratch(int scratchAt, int resultAt, int bytes);

    /**
     * 8 bytes of scratch memory. Bytes that this call did not store have values from an earlier call of the same lease.
     */
    long scratch(int at);

    /** 4 bytes of scratch memory. */
    int scratchInt(int at);

    /** A byte of scratch memory. */
    byte scratchByte(int at);

    /** Stores 8 bytes into scratch memory. */
    void scratch(int at, long value);

    /** Stores 4 bytes into scratch memory. */
    void scratchInt(int at, int value);

    /** Stores a byte into scratch memory. */
    void scratchByte(int at, byte value);

    /** The byte at a cache address. */
    byte getByte(long address);

    /** 2 bytes of the cache. */
    short getShort(long address);

    /** 4 bytes of the cache. */
    int getInt(long address);

    /** 8 bytes of the cache. */
    long getLong(long address);

    /** Stores a byte into the cache. */
    void putByte(long address, byte value);

    /** Stores 2 bytes into the cache. */
    void putShort(long address, short value);

    /** Stores 4 bytes into the cache. */
    void putInt(long address, int value);

    /** Stores 8 bytes into the cache. */
    void putLong(long address, long value);

    /**
     * Sets a word of the cache if it has the expected value; returns whether it did. {@link CallStatus#NOT_ALIGNED} if
     * the address is not a multiple of 8.
     */
    boolean compareAndSet(long address, long expected, long value);

    /** Adds to a word of the cache; returns its value before. See {@link #compareAndSet}. */
    long getAndAdd(long address, long delta);

    /**
     * Sets up to 8 words of one region if all of them have their expected values; returns whether it did. The words are
     * described in scratch memory from {@code scratchAt} on, with three words each: address, expected value, value. An
     * address that is given twice is compared twice and set to its last value. {@link CallStatus#SPLIT} if they are in
     * more than one region, {@link CallStatus#OUT_OF_RANGE} if {@code words} is below 0 or above 8; with 0 words it
     * returns true.
     */
    boolean compareAndSetAll(int scratchAt, int words);

    /** Copies from the cache to scratch memory. */
    void copyToScratch(long address, int scratchAt, int bytes);

    /** Copies from scratch memory to the cache. */
    void copyFromScratch(int scratchAt, long address, int bytes);
}
