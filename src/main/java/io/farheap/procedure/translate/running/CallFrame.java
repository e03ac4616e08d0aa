package io.farheap.procedure.translate.running;

import io.farheap.memory.NativeMemory;
import io.farheap.procedure.CallStatus;
import java.lang.foreign.ValueLayout;

/**
 * The state of a call that translated code works on; {@link CallContext} is its public half. The code keeps fuel and
 * the window in local variables. The window is the part of the footprint that lies in the region of the last access;
 * {@link #locate} moves it.
 */
public abstract class CallFrame {

    /**
     * Outcomes that the code returns, with those of {@link CallContext}; this one: continue with
     * {@link TranslatedCode#fast}.
     */
    static final int HANDOVER = 5;

    static final int RETURNED = 0;
    static final int FUEL = 1;
    static final int TURN = 2;
    static final int ACCESS = 3;
    static final int ENDED = 4;

    /** Most longs that a resume point keeps. */
    public static final int SLOTS = 64;
    /** Size of a cache line, as a power of two: an access to the same line takes no {@link #TURN} of its own. */
    private static final int LINE_SHIFT = 6;

    /** Most bytes of a part of a region. */
    public static final int MOST_PART = 1 << 30;

    /** Units of fuel until the first attempt to count a loop's turns. */
    public static final int SOON = 64;

    /** Units of fuel until the next attempt, if the turns were too few to be worth it. */
    public static final int LATER = 1024;
    /** Units of fuel until the next attempt, if the turns took less than {@link #WORTH}. */
    static final int SELDOM = 4096;
    /** Units of fuel that counted turns must take for the next attempt to follow at once. */
    static final int WORTH = 512;
    /** Least number of turns that are counted; for fewer, the usual code runs. */
    public static final int LEAST = 16;

    /** Most turns that are counted at once. */
    public static final int MOST = 4096;

    private static final int PLACE_MASK = 4095;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    /** A native address that no process has. */
    private static final long NOWHERE = 1L << 47;

    /** The first cache address of the window. */
    long window;
    /** Number of addresses from there on at which 8 bytes can be accessed; 0 sends each access to {@link #locate}. */
    long windowBytes;
    /** Native address of the part of a region that the window is in. */
    long base;
    /**
     * Mask of an address within its part. Code masks an address even if it has compared it with the window, since a
     * processor may mispredict the comparison. A part is the region, or 1 GiB of it, so that HotSpot knows that base
     * and masked address fit into one instruction.
     */
    int partMask;
    /** Mask of an address within its region. */
    long mask;
    /** Native address of the region that {@link #locate} found last. */
    long region;

    long from;
    long span;
    long table;
    long entries;
    int shift;

    /** Fuel that is left of the slice; below 0 the slice is used up. */
    int fuel;

    boolean turns;
    /** The access before which the code left for a turn is to be made next. */
    boolean turned;
    /** The access before which the code left was made elsewhere. */
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
    /** Number of words to set, or of bytes to copy. */
    int count;
    /** The value that an atomic found. */
    long found;
    /** Native address that the next access will touch, or that an access of the same cache line has touched. */
    long place;

    final long arguments;
    final long results;
    final long scratch;
    /** Native address of a word with the result of an access that was made elsewhere. */
    final long mailbox;
    /**
     * Mask of offsets in arguments, results and scratch memory; for the same reason as {@link #partMask}. The
     * constructor sets it: with an initializer javac would take it for a constant, and HotSpot would leave out a mask
     * that the comparison before it makes superfluous.
     */
    final int placeMask;

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
        this.placeMask = PLACE_MASK;
    }

    /**
     * Clears the values of the access before, which may belong to another lease's call: a saved call contains these
     * numbers, and the reply to a call that ends contains its address.
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
     * Returns the native address of an access and moves this frame's window there; or returns 0 if the code must leave,
     * with the reason in {@link #outcome}.
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

    /** Bytes from an address on that are in its region, at most {@link #MOST_PART}; no branch. */
    final int rest(long at) {
        long rest = mask + 1 - (at & mask);
        long more = rest - MOST_PART;
        return (int) (rest - (more & ~(more >> Long.SIZE - 1)));
    }

    /**
     * The address, or an address that no process has if there is no region: a processor that speculates must not read
     * the bytes from address 0 on.
     */
    private static long here(long address, long region) {
        return address | (~(-region >> 63) & NOWHERE);
    }

    /**
     * As {@link #locate} for the usual case. Returns 0 if the code must leave and continue with
     * {@link TranslatedCode#step}. It is small and calls nothing, so that HotSpot inlines it into the loop: around a
     * call it would keep no value in registers.
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
     * Counts turns: in how many consecutive turns, at most {@code most}, is a number that begins at {@code first} and
     * grows by {@code step} in each turn at least 0 and below {@code room}? If {@code first} is outside, in none. If
     * the step is positive, the last such turn is the {@code (room - 1 - first) / step}-th after the first; if it is
     * negative, the {@code first / -step}-th.
     */
    static int turns(long first, long step, long room, int most) {
        // Room can be below 0 if there is no window.
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
     * The range of the distance that a stride's turns may advance: a power of two that is at least {@code room}, but at
     * most half of the part. The distance is masked with it less 1, so the native address is in the part wherever the
     * stride begins. It has no branch that a processor could mispredict.
     *
     * @param room bytes from the first access to the end of the part
     * @param part bytes
     */
    static long stride(long room, long part) {
        long bits = 1L << -Long.numberOfLeadingZeros(room - 1);
        return bits - ((bits & part) >> 1);
    }

    /**
     * How far below the first access the masked distance starts, so that {@code stride} bytes from that start on are in
     * the part. No branch.
     */
    static long behind(long stride, long room) {
        long missing = stride - room;
        return missing & ~(missing >> 63);
    }

    /** The value of fuel below which the next attempt to count turns is made. */
    static int later(int fuel, int in) {
        return Math.max(0, fuel - in);
    }

    /**
     * As {@link #later}, after counted turns that took so much fuel: if they were worth it, the next attempt follows at
     * once.
     */
    static int after(int before, int fuel) {
        return before - fuel < WORTH ? later(fuel, SELDOM) : fuel + 1;
    }

    final long refuse(int why, long at) {
        status = why;
        address = at;
        outcome = ENDED;
        return 0;
    }

    /** The code leaves at an access, for the reason in {@link #outcome}. */
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

    /**
     * Whether {@link TranslatedCode#step} continues at the head of an outermost loop, instead of leaving for
     * {@link TranslatedCode#fast}.
     */
    static boolean stays(CallFrame frame, int fuel) {
        return fuel >= 0 && frame.turns;
    }

    /** The call ends with the status that {@link #refuse} has set. */
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
