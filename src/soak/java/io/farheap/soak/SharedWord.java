package io.farheap.soak;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Eight bytes that one worker writes and all read. They hold how often they were written and a check of that; a read
 * must return no less than what was known to be there when it was issued, and no more than what has been issued when it
 * returns. Any thread.
 */
final class SharedWord implements CachePart {

    private static final int COUNT_BITS = 32;
    private static final long COUNT = (1L << COUNT_BITS) - 1;

    private final long address;
    private final AtomicLong issued = new AtomicLong();
    /** The least that a read issued from now on may return. */
    private final AtomicLong known = new AtomicLong();

    private volatile boolean lost;

    SharedWord(long address) {
        this.address = address;
    }

    @Override
    public long address() {
        return address;
    }

    @Override
    public int bytes() {
        return Long.BYTES;
    }

    @Override
    public boolean lost() {
        return lost;
    }

    @Override
    public void lose() {
        lost = true;
    }

    @Override
    public void issuing(SoakRequest request) {
        request.known = known.get();
        if (request.write) {
            request.value = value(issued.incrementAndGet());
            request.data().set(JAVA_LONG_UNALIGNED, 0, request.value);
        }
    }

    @Override
    public void refused(SoakRequest request) {
        // A write that is never issued leaves a gap in the count, which harms nothing.
    }

    @Override
    public @Nullable String finished(SoakRequest request, boolean done) {
        if (!done) {
            return null;
        }
        return request.write
                ? seen(request.value)
                : check(request.known, request.data().get(JAVA_LONG_UNALIGNED, 0));
    }

    @Override
    public @Nullable String settle(SoakRequest readOfAll) {
        return check(readOfAll.known, readOfAll.data().get(JAVA_LONG_UNALIGNED, 0));
    }

    private @Nullable String check(long least, long value) {
        long count = value & COUNT;
        if (value != value(count)) {
            return "the word at address " + address + " is " + Long.toHexString(value) + ", which nobody has written";
        }
        long most = issued.get();
        if (count < least || count > most) {
            return "the word at address " + address + " is that of write " + count + "; write " + least
                    + " had taken effect when the read was issued, and write " + most + " is the last";
        }
        return seen(value);
    }

    private @Nullable String seen(long value) {
        known.accumulateAndGet(value & COUNT, Math::max);
        return null;
    }

    private long value(long count) {
        return count == 0 ? 0 : ((count ^ address) * 0x9e3779b97f4a7c15L >>> COUNT_BITS) << COUNT_BITS | count;
    }
}
