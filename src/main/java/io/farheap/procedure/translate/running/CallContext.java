package io.farheap.procedure.translate.running;

import io.farheap.memory.NativeMemory;
import io.farheap.procedure.Call;
import io.farheap.procedure.CallStatus;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * A call in progress: begun, run in slices, suspended at accesses and loops, saved and loaded. It can be used for one
 * call after another, and allocates nothing after construction. One thread at a time.
 *
 * <pre>{@code
 * context.begin(code, from, span, argumentBytes, resultCapacity, fuelLimit);   // arguments are at argumentsAddress()
 * for (;;) {
 *     context.map(table, entries, regionShift);
 *     switch (context.run(sliceFuel)) {
 *         case CallContext.RETURNED, CallContext.ENDED -> ...
 *         case CallContext.FUEL, CallContext.TURN -> run other contexts
 *         case CallContext.ACCESS -> // its region is elsewhere: make the access and call accessDone(result),
 *                                    // or map again and run
 *     }
 * }
 * }</pre>
 */
public final class CallContext extends CallFrame {

    /** Bytes of native memory that a context needs. */
    public static final int MEMORY_BYTES = 3 * 4096 + 64;

    /** Outcome of {@link #run}: the procedure returned {@link #code}. */
    public static final int RETURNED = CallFrame.RETURNED;
    /** The fuel of the slice is used up; the call is suspended. */
    public static final int FUEL = CallFrame.FUEL;
    /** The call is about to access the word at {@link #touchAddress}; see {@link #turns}. */
    public static final int TURN = CallFrame.TURN;
    /** The call is about to access an address whose region is not in this process. */
    public static final int ACCESS = CallFrame.ACCESS;
    /** The call ended with {@link #status}, and returned nothing. */
    public static final int ENDED = CallFrame.ENDED;

    /** Kinds of access. Loads {@link #accessBytes} from {@link #address}. */
    public static final int READ = 0;
    /** Stores {@link #accessBytes} of {@link #value} at {@link #address}. */
    public static final int WRITE = 1;
    /** Compares with {@link #expected} and sets {@link #value}; the result is 1 if the word was set, else 0. */
    public static final int COMPARE_AND_SET = 2;
    /** Adds {@link #value}; the result is the value before. */
    public static final int ADD = 3;
    /**
     * Compares and sets several words, which {@link #accessBytes} at {@link #scratchAt} describe, 24 for each; the
     * result is 1 or 0.
     */
    public static final int SET = 4;
    /** Copies {@link #accessBytes} from {@link #address} to {@link #scratchAt}; the result is ignored. */
    public static final int COPY_TO_SCRATCH = 5;
    /** Copies {@link #accessBytes} from {@link #scratchAt} to {@link #address}; the result is ignored. */
    public static final int COPY_FROM_SCRATCH = 6;

    private static final int MOST_SLICE = 1 << 30;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private @Nullable TranslatedCode running;
    private long fuelLimit;

    /**
     * @param memory native, {@link #MEMORY_BYTES} or more, aligned to 8, alive for as long as the context is used:
     *     arguments, result, scratch memory, and a word of its own
     */
    public CallContext(MemorySegment memory) {
        super(memory.address(), memory.address() + 4096, memory.address() + 8192, memory.address() + 12288);
        if (!memory.isNative() || memory.byteSize() < MEMORY_BYTES || (memory.address() & 7) != 0) {
            throw new IllegalArgumentException("memory of " + memory.byteSize() + " bytes at " + memory.address()
                    + "; a context needs native memory, " + MEMORY_BYTES + " bytes, aligned to 8");
        }
    }

    /** How many entries the table of a {@link #map} has for so many regions: the least power of two that is enough. */
    public static int entries(int regions) {
        return Integer.highestOneBit(Math.max(1, regions * 2 - 1));
    }

    /** Native address of the arguments; the caller of {@link #begin} stores them there. */
    public long argumentsAddress() {
        return arguments;
    }

    /** Native address of the result. */
    public long resultAddress() {
        return results;
    }

    /** Native address of scratch memory. */
    public long scratchAddress() {
        return scratch;
    }

    /**
     * Begins a call. The numbers may come from a client: a footprint that is not valid has no bytes.
     *
     * @param from the footprint's first cache address
     * @param span bytes of the footprint
     * @param argumentBytes at {@link #argumentsAddress}, at most 4096
     * @param resultCapacity at most 4096
     * @param fuelLimit fuel of the whole call
     */
    public void begin(
            TranslatedCode code, long from, long span, int argumentBytes, int resultCapacity, long fuelLimit) {
        if (argumentBytes < 0
                || argumentBytes > Call.ARGUMENT_BYTES
                || resultCapacity < 0
                || resultCapacity > Call.RESULT_BYTES) {
            throw new IllegalArgumentException(argumentBytes + " bytes of arguments and " + resultCapacity
                    + " for the result; each has 0 to " + Call.RESULT_BYTES);
        }
        running = code;
        this.from = from;
        this.span = from < 0 || span < 0 ? 0 : Math.min(span, Long.MAX_VALUE - from);
        this.argumentBytes = argumentBytes;
        this.resultCapacity = resultCapacity;
        this.fuelLimit = fuelLimit;
        fuelUsed = 0;
        resultBytes = 0;
        scratchBytes = 0;
        windowBytes = 0;
        resume = 0;
        turned = false;
        place = 0;
        done = false;
        special = turns;
        status = CallStatus.DONE;
        line = 0;
        forgetAccess();
    }

    /**
     * Sets the addresses of regions; to be called before each slice.
     *
     * @param table native address of {@code entries} words. By virtual region (cache address &gt;&gt;&gt;
     *     {@code regionShift}): the native address of its 2^{@code regionShift} bytes in this process, or 0 if it is
     *     not in this process. It is read until {@link #run} returns.
     * @param entries a power of two
     */
    public void map(long table, int entries, int regionShift) {
        if (Integer.bitCount(entries) != 1 || entries < 0 || regionShift < 3 || regionShift > 48 || table == 0) {
            throw new IllegalArgumentException("a table at " + table + " of " + entries + " regions of 2^" + regionShift
                    + " bytes; it must have a power of two of them, of 2^3 to 2^48 bytes");
        }
        this.table = table;
        this.entries = entries;
        this.shift = regionShift;
        this.mask = (1L << regionShift) - 1;
        this.partMask = (int) Math.min(mask, MOST_PART - 1);
        windowBytes = 0;
    }

    /**
     * Sets whether the call leaves with {@link #TURN} before each access to a cache line other than that of the access
     * before. A thread that runs several contexts can then load the words of all of them at once by {@link #touch}, so
     * that their cache misses overlap, and run each of them to its next access.
     */
    public void turns(boolean leaves) {
        turns = leaves;
        special = leaves || done;
        windowBytes = 0;
    }

    /**
     * Runs a slice.
     *
     * @param sliceFuel at least 1; the slice may exceed it by one turn of its innermost loop, or by a copy
     * @return {@link #RETURNED}, {@link #FUEL}, {@link #TURN}, {@link #ACCESS} or {@link #ENDED}
     */
    public int run(long sliceFuel) {
        TranslatedCode code = running;
        if (code == null) {
            throw new IllegalStateException("the context has no call, or it has ended");
        }
        long left = fuelLimit - fuelUsed;
        if (left <= 0) {
            return outOfFuel(code.shape);
        }
        int slice = (int) Math.max(1, Math.min(Math.min(sliceFuel, left), MOST_SLICE));
        fuel = slice;
        CodeShape shape = code.shape;
        int result;
        do {
            int at = resume & shape.mask();
            result = !turns && shape.fast()[at] ? code.fast(this, at) : code.step(this, at);
        } while (result == HANDOVER);
        fuelUsed += slice - fuel;
        if (result == ENDED || result == RETURNED) {
            running = null;
            if (result == ENDED && line == 0) {
                line = shape.lines()[resume];
            }
        } else if (result == FUEL && fuelUsed >= fuelLimit) {
            return outOfFuel(shape);
        }
        return result;
    }

    private int outOfFuel(CodeShape shape) {
        running = null;
        line = shape.lines()[resume & shape.mask()];
        status = CallStatus.OUT_OF_FUEL;
        return ENDED;
    }

    /**
     * Completes the access at which the call left with {@link #ACCESS}, which the caller has made elsewhere; the next
     * run continues after it. For {@link #COPY_TO_SCRATCH}, the caller has stored the bytes in scratch memory before.
     *
     * @param result the bytes loaded, from the lowest on; the value before for {@link #ADD}; 1 or 0 if words were
     *     compared
     */
    public void accessDone(long result) {
        NativeMemory.ALL.set(LONG, mailbox, result);
        if (kind == COPY_TO_SCRATCH) {
            scratchBytes = Math.max(scratchBytes, scratchAt + bytes);
        }
        done = true;
        special = true;
        turned = false;
        windowBytes = 0;
    }

    /** Ends the call at any point. */
    public void end() {
        running = null;
    }

    /** The code that the procedure returned. */
    public int code() {
        return code;
    }

    /** One of {@link CallStatus}. */
    public int status() {
        return status;
    }

    /** Line of the user's source, after {@link #ENDED}; 0 if unknown. */
    public int line() {
        return line;
    }

    /** Line of the user's source at which the call is suspended; 0 if unknown. */
    public int suspendedLine() {
        return shape().lines()[resume];
    }

    /** {@link #address} after {@link #ENDED}, or -1 if no access ended the call. */
    public long endAddress() {
        return switch (status) {
            case CallStatus.OUT_OF_RANGE, CallStatus.SPLIT, CallStatus.RESULT_FULL, CallStatus.NOT_ALIGNED -> address;
            default -> -1;
        };
    }

    /**
     * Cache address of the access. After {@link #ENDED} it may also be an offset in arguments, result or scratch
     * memory.
     */
    public long address() {
        return address;
    }

    /** Kind of the access, {@link #READ} to {@link #COPY_FROM_SCRATCH}. */
    public int accessKind() {
        return kind;
    }

    /** Length of the access. */
    public int accessBytes() {
        return bytes;
    }

    /** The value that the access stores or adds. */
    public long value() {
        return value;
    }

    /** The value that a compare-and-set expects. */
    public long expected() {
        return expected;
    }

    /** Offset in scratch memory of a copy, or of the words to set. */
    public int scratchAt() {
        return scratchAt;
    }

    /** Native address that the call accesses next, after {@link #TURN}. */
    public long touchAddress() {
        return place;
    }

    /**
     * Loads a byte that each context accesses next, after {@link #TURN}.
     *
     * @return a sum that the caller must use, so that the loads are not optimised away
     */
    public static long touch(CallContext[] contexts, int first, int count) {
        long sum = 0;
        for (int i = first; i < first + count; i++) {
            sum += NativeMemory.ALL.get(ValueLayout.JAVA_BYTE, contexts[i].place);
        }
        return sum;
    }

    /** Fuel that the call has used so far. */
    public long fuelUsed() {
        return fuelUsed;
    }

    /** Length of the result so far. */
    public int resultBytes() {
        return resultBytes;
    }

    /** Length of {@link #save}, a multiple of 8. */
    public int saveBytes() {
        return SavedCall.bytes(this, shape().slots()[resume]);
    }

    private CodeShape shape() {
        TranslatedCode code = running;
        if (code == null) {
            throw new IllegalStateException("the context has no call, or it has ended");
        }
        return code.shape;
    }

    /** The most that {@link #saveBytes} can be. */
    public static int mostSaveBytes() {
        return SavedCall.MOST_BYTES;
    }

    /**
     * Writes the suspended call, {@link #saveBytes} long.
     *
     * @param at aligned to 8
     */
    public void save(MemorySegment to, long at) {
        SavedCall.write(this, shape().slots()[resume], to, at);
    }

    /**
     * Replaces the state of the call that was just begun by a saved one; its code, footprint, capacity and fuel limit
     * stay. The bytes may be forged: a length or resume point that is inconsistent is refused, and all other values are
     * numbers that a procedure could have computed itself.
     *
     * @param at aligned to 8
     * @return whether the bytes are consistent; if not, nothing was taken, and the caller ends the call
     */
    public boolean load(MemorySegment from, long at, int bytes) {
        if (!SavedCall.read(this, shape(), from, at, bytes)) {
            return false;
        }
        special = turns || done;
        windowBytes = 0;
        return true;
    }
}
