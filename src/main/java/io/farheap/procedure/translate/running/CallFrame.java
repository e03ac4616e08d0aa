package io.farheap.procedure.translate.running;

import io.farheap.memory.NativeMemory;
import io.farheap.procedure.CallStatus;
import java.lang.foreign.ValueLayout;

/**
 * What translated code works on; {@link CallContext} is its public half. The code keeps fuel and the window in local
 * variables: the window is the part of the footprint in the region of the last access, and {@link #locate} moves it.
 */
public abstract class CallFrame {

    /** Outcomes that the code returns, beside those of {@link CallContext}: go on with {@link TranslatedCode#fast}. */
    static final int HANDOVER = 5;

    static final int RETURNED = 0;
    static final int FUEL = 1;
    static final int TURN = 2;
    static final int ACCESS = 3;
    static final int ENDED = 4;

    public static final int SLOTS = 64;
    /** What is loaded together: it takes no turn of its own. */
    private static final int LINE_SHIFT = 6;

    /** Bytes. */
    public static final int MOST_PART = 1 << 30;

    /**
     * Units of fuel before the first loop is tried to be checked ahead; then, where it could not be; or was not worth
     * it.
     */
    public static final int SOON = 64;

    public static final int LATER = 1024;
    static final int SELDOM = 4096;
    static final int WORTH = 512;
    /** Turns. */
    public static final int LEAST = 16;

    public static final int MOST = 4096;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    /** A native address that no process has. */
    private static final long NOWHERE = 1L << 47;

    /** The first cache address of the window. */
    long window;
    /** How many addresses from there on 8 bytes can be accessed at; 0 sends each access to {@link #locate}. */
    long windowBytes;
    /** Native address of the part of a region that the window is in. */
    long base;
    /**
     * Of an address within its part. Code masks with it what it has compared: a processor may guess the comparison. A
     * part is the region, or 1 GiB of it, so that HotSpot knows that base and masked address fit into one instruction.
     */
    int partMask;
    /** Of an address within its region. */
    long mask;
    /** Native address of the region that {@link #locate} found last. */
    long region;

    long from;
    long span;
    long table;
    long entries;
    int shift;

    /** Left of the slice; below 0 it is used up. */
    int fuel;

    boolean turns;
    /** The access at which it left for a turn is due. */
    boolean turned;
    /** The access at which it left was made elsewhere. */
    boolean done;

    /** {@link #turns} or {@link #done}. */
    boolean special;

    int resume;
    int outcome;
    int status;
    int line;
    int code;

    long address;
    long expected;
    long value;
    int kind;
    int bytes;
    int scratchAt;
    /** Words to set, or bytes to copy. */
    int count;
    /** What an atomic found. */
    long found;
    /** Native address that the next access will touch, or that one of this line has touched. */
    long place;

    final long arguments;
    final long results;
    final long scratch;
    /** A word of native memory: what an access finds that was made elsewhere. */
    final long mailbox;
    /** Of places in arguments, results and scratch memory; as {@link #mask}. */
    final int placeMask = 4095;

    int argumentBytes;
    int resultCapacity;
    int resultBytes;
    int scratchBytes;
    long fuelUsed;
    final long[] slots = new long[SLOTS];

    CallFrame(long arguments, long results, long scratch, long mailbox) {
        this.arguments = arguments;
        this.results = results;
        this.scratch = scratch;
        this.mailbox = mailbox;
    }

    /**
     * Nothing of the access before, which may be of another lease's call: a saved call has these numbers in it, and the
     * reply to one that ends has its address.
     */
    final void forgetAccess() {
        address = 0;
        expected = 0;
        value = 0;
        kind = 0;
        bytes = 0;
        scratchAt = 0;
        count = 0;
        found = 0;
        code = 0;
    }

    /**
     * The native address of an access, whose window is this frame's then; or 0: the code leaves, {@link #outcome} says
     * how.
     */
    final long locate(long at, int length, int access) {
        if (done) {
            done = false;
            special = turns;
            windowBytes = 0;
            return mailbox;
        }
        long offset = at - from;
        long index = at >>> shift;
        if (Long.compareUnsigned(offset, span) >= 0 || span - offset < length || index >= entries) {
            return refuse(CallStatus.OUT_OF_RANGE, at);
        }
        long within = at & mask;
        if (within > mask + 1 - length) {
            return refuse(CallStatus.SPLIT, at);
        }
        long region = NativeMemory.ALL.get(LONG, table + (index & (entries - 1)) * 8);
        long here = here(region, region);
        if (region == 0 || (turns && !turned && (here + within ^ place) >>> LINE_SHIFT != 0)) {
            address = at;
            kind = access;
            bytes = length;
            place = here + within;
            turned = region != 0;
            outcome = region == 0 ? ACCESS : TURN;
            return 0;
        }
        turned = false;
        this.region = here;
        long start = at & ~(long) partMask;
        window = Math.max(start, from);
        windowBytes = turns ? 0 : Math.max(0, Math.min(start + partMask + 1, from + span) - window - 7);
        base = here + (start & mask);
        return here + within;
    }

    /** A processor that guesses that a region is here must not look at the bytes from address 0 on. */
    private static long here(long address, long region) {
        return address | (~(-region >> 63) & NOWHERE);
    }

    /**
     * As {@link #locate} for the usual case, or 0: the code leaves, and goes on with {@link TranslatedCode#step}. Small
     * and without calls, so that HotSpot puts it into the loop: around a call it would keep nothing in registers.
     */
    static long move(CallFrame frame, long at) {
        frame.address = at;
        frame.outcome = HANDOVER;
        long index = at >>> frame.shift;
        if (frame.special || index >= frame.entries) {
            return 0;
        }
        long part = frame.partMask;
        long region = NativeMemory.ALL.get(LONG, frame.table + (index & (frame.entries - 1)) * 8);
        long start = at & ~part;
        long first = Math.max(start, frame.from);
        long bytes = Math.min(start + part + 1, frame.from + frame.span) - first - 7;
        if (region == 0 || bytes <= 0 || Long.compareUnsigned(at - first, bytes) >= 0) {
            return 0;
        }
        long base = here(region + (start & frame.mask), region);
        frame.window = first;
        frame.windowBytes = bytes;
        frame.base = base;
        return base + (at & part);
    }

    /**
     * How many turns, at most so many, a number that grows by {@code step} in each is at least 0 and below
     * {@code room}.
     */
    static int turns(long first, long step, long room, int most) {
        // Room is below 0 where there is no window.
        if (first < 0 || first >= room) {
            return 0;
        }
        if (step == 0) {
            return most;
        }
        long turns = step > 0 ? (room - 1 - first) / step : first / -step;
        return (int) Math.min(most, Math.max(0, turns) + 1);
    }

    /**
     * How far what turns advance by may go: a power of two that is at least {@code room}, but half of the part at most.
     * No branch that a processor could guess: what is masked with it less 1 is in the part, wherever it begins.
     *
     * @param part bytes
     */
    static long stride(long room, long part) {
        long bits = 1L << -Long.numberOfLeadingZeros(room - 1);
        return bits - ((bits & part) >> 1);
    }

    /**
     * How far below the first access turns begin, so that {@code stride} bytes from there on are in the part. No
     * branch.
     */
    static long behind(long stride, long room) {
        long missing = stride - room;
        return missing & ~(missing >> 63);
    }

    /** How much fuel is left when a loop is next tried to be checked ahead. */
    static int later(int fuel, int in) {
        return Math.max(0, fuel - in);
    }

    /** As {@link #later}, after turns that took so much: at once, if they were worth it. */
    static int after(int before, int fuel) {
        return before - fuel < WORTH ? later(fuel, SELDOM) : fuel + 1;
    }

    final long refuse(int why, long at) {
        status = why;
        address = at;
        outcome = ENDED;
        return 0;
    }

    /** The code leaves at an access; {@link #outcome} says why. */
    static int leave(CallFrame frame, int fuel, int point) {
        frame.fuel = fuel;
        frame.resume = point;
        return frame.outcome;
    }

    /** The code leaves at a loop's head. */
    static int leaveHead(CallFrame frame, int fuel, int point) {
        frame.fuel = fuel;
        frame.resume = point;
        return fuel < 0 ? FUEL : HANDOVER;
    }

    /** Whether {@link TranslatedCode#step} goes on at the head of an outermost loop. */
    static boolean stays(CallFrame frame, int fuel) {
        return fuel >= 0 && frame.turns;
    }

    /** The call ends, for what {@link #refuse} was told. */
    static int end(CallFrame frame, int fuel, int line) {
        frame.fuel = fuel;
        frame.line = line;
        return ENDED;
    }

    /** A division by zero. */
    static int fault(CallFrame frame, int fuel, int line) {
        frame.status = CallStatus.FAULT;
        frame.address = 0;
        return end(frame, fuel, line);
    }

    /** The procedure returns. */
    static int finish(int code, CallFrame frame, int fuel) {
        frame.code = code;
        frame.fuel = fuel;
        return RETURNED;
    }
}
