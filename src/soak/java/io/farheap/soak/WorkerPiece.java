package io.farheap.soak;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Bytes that one worker alone writes and reads. Writes whose outcome is not known yet, and those that followed them,
 * are kept with what they replaced: after a failure each byte is what it was before the first of them or what one of
 * them wrote, and not older than the last that is known to have taken effect. One thread at a time.
 */
final class WorkerPiece implements CachePart {

    /** A write between issue and callback, or behind one that is. */
    private static final class Write {
        final SoakRequest request;
        final int offset;
        final byte[] before;
        final byte[] after;
        boolean finished;
        boolean applied;

        Write(SoakRequest request, int offset, byte[] before, byte[] after) {
            this.request = request;
            this.offset = offset;
            this.before = before;
            this.after = after;
        }

        boolean covers(int at) {
            return at >= offset && at < offset + after.length;
        }
    }

    private final long address;
    /** As it is once all that was issued has taken effect. */
    private final byte[] expected;

    private final Deque<Write> open = new ArrayDeque<>();
    private boolean lost;

    WorkerPiece(long address, int bytes) {
        this.address = address;
        this.expected = new byte[bytes];
    }

    @Override
    public long address() {
        return address;
    }

    @Override
    public int bytes() {
        return expected.length;
    }

    @Override
    public boolean lost() {
        return lost;
    }

    @Override
    public void lose() {
        lost = true;
        open.clear();
    }

    @Override
    public void issuing(SoakRequest request) {
        if (lost) {
            return;
        }
        if (!request.write) {
            request.expected = new byte[request.bytes()];
        }
        for (int record = 0; record < request.count; record++) {
            int at = request.at(record);
            int data = record * request.length;
            if (request.write) {
                byte[] after = request.data().asSlice(data, request.length).toArray(JAVA_BYTE);
                open.add(new Write(request, at, Arrays.copyOfRange(expected, at, at + request.length), after));
                System.arraycopy(after, 0, expected, at, request.length);
            } else {
                System.arraycopy(expected, at, request.expected, data, request.length);
            }
        }
    }

    @Override
    public void refused(SoakRequest request) {
        while (!open.isEmpty() && open.peekLast().request == request && !open.peekLast().finished) {
            Write write = open.removeLast();
            System.arraycopy(write.before, 0, expected, write.offset, write.before.length);
        }
    }

    @Override
    public @Nullable String finished(SoakRequest request, boolean done) {
        if (lost) {
            return null;
        }
        if (!request.write) {
            return done && !isUncertain(request) ? check(request) : null;
        }
        for (Write write : open) {
            if (write.request == request && !write.finished) {
                write.finished = true;
                write.applied = done;
            }
        }
        while (!open.isEmpty() && open.peekFirst().applied) {
            open.removeFirst();
        }
        return null;
    }

    /** Whether a write that has failed touches it, so that what it reads is not known. */
    private boolean isUncertain(SoakRequest read) {
        for (Write write : open) {
            for (int record = 0; record < read.count && write.finished && !write.applied; record++) {
                int at = read.at(record);
                if (write.offset < at + read.length && at < write.offset + write.after.length) {
                    return true;
                }
            }
        }
        return false;
    }

    private static @Nullable String check(SoakRequest read) {
        MemorySegment found = read.data();
        long at = MemorySegment.ofArray(read.expected).mismatch(found);
        return at < 0
                ? null
                : wrong(
                                read.addresses[(int) at / read.length] + at % read.length,
                                found.get(JAVA_BYTE, at),
                                read.expected[(int) at])
                        + " (" + read + ")";
    }

    @Override
    public @Nullable String settle(SoakRequest readOfAll) {
        byte[] found = readOfAll.data().toArray(JAVA_BYTE);
        List<Write> covering = new ArrayList<>();
        for (int at = 0; at < found.length; at++) {
            covering.clear();
            for (Write write : open) {
                if (write.covers(at)) {
                    covering.add(write);
                }
            }
            if (!mayBe(found[at], at, covering)) {
                return wrong(address + at, found[at], expected[at]) + " (after all requests have ended)";
            }
        }
        System.arraycopy(found, 0, expected, 0, found.length);
        open.clear();
        return null;
    }

    private boolean mayBe(byte found, int at, List<Write> covering) {
        for (Write write : covering.reversed()) {
            if (write.after[at - write.offset] == found) {
                return true;
            }
            if (write.applied) {
                return false;
            }
        }
        return found
                == (covering.isEmpty() ? expected[at] : covering.getFirst().before[at - covering.getFirst().offset]);
    }

    private static String wrong(long address, byte found, byte expected) {
        return String.format("byte %d is 0x%02x and must be 0x%02x", address, found, expected);
    }
}
