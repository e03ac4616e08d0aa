package io.farheap.rpc.batch;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.memory.MappedFaults;
import io.farheap.memory.NativeMemory;
import io.farheap.rpc.RingShape;
import io.farheap.rpc.message.BatchFormat;
import io.farheap.rpc.message.PayloadCopier;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The batch to which requests are added: it writes their words and payloads to the batch's slot of the staged ring,
 * keeps the hash of these, and notes in the {@link BatchEntries} what the answers need. A request belongs to the batch
 * once the count includes it: a request whose staging throws leaves the batch as it was. One thread at a time; any
 * thread may call {@link #isEmpty}.
 */
final class OpenBatch {

    /** The number of no operation. */
    private static final int NO_OPERATION = -1;

    private static final VarHandle COUNT;

    static {
        try {
            COUNT = MethodHandles.lookup().findVarHandle(OpenBatch.class, "count", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int batch;
    private final int slotBytes;
    private final MemorySegment out;
    private final long outAddress;
    private final int[] readBytes;
    private final long[] locals;
    private final boolean[] leftOut;
    /** Null if the connection has no calls. */
    private final @Nullable AwaitedReplies replies;

    private int slot;
    private int count;
    private int limit;
    /** The offset in the staged memory at which the next request goes, and the hash of the requests before it. */
    private long at;

    private long hash;

    /** @param out the staged ring, of the same layout as the server's */
    OpenBatch(RingShape shape, MemorySegment out, BatchEntries entries) {
        this.batch = shape.batch();
        this.slotBytes = shape.requestSlotBytes();
        this.out = out;
        this.outAddress = out.address();
        this.readBytes = entries.readBytes;
        this.locals = entries.locals;
        this.leftOut = entries.leftOut;
        this.replies = entries.replies;
    }

    /**
     * Begins the batch of a slot. The count is set to 0 with release, after the earlier batch was counted as sent: a
     * thread that sees 0 by {@link #isEmpty} also sees the batch as sent.
     *
     * @param limit how many requests it takes
     */
    void open(int slot, int limit) {
        this.slot = slot;
        at = start() + BatchFormat.HEADER_BYTES;
        hash = BatchFormat.start();
        COUNT.setRelease(this, 0);
        this.limit = limit;
    }

    /** Sets how many requests it takes from now on: a whole batch, or none. */
    void limit(int limit) {
        this.limit = limit;
    }

    boolean hasRoom() {
        return count < limit && hasFreeEntry();
    }

    /** Whether the slot has no entry for one more request. */
    boolean isFull() {
        return count == batch || !hasFreeEntry();
    }

    /** Whether the slot has an entry behind those of the batch that no earlier call keeps. */
    private boolean hasFreeEntry() {
        return replies == null || replies.held() == 0 || firstFree(replies) < batch;
    }

    private int firstFree(AwaitedReplies kept) {
        int index = count;
        while (index < batch && kept.later[slot * batch + index]) {
            index++;
        }
        return index;
    }

    /** How many entries the slot has behind those of the batch that no earlier call keeps. */
    int freeEntries() {
        int free = batch - count;
        for (int index = count; replies != null && replies.held() > 0 && index < batch; index++) {
            free -= replies.later[slot * batch + index] ? 1 : 0;
        }
        return free;
    }

    /**
     * Leaves out the entries that earlier calls keep for their late answers. Each gets a call that has no operation,
     * and so is refused without an effect.
     */
    private void leaveOutKept() {
        AwaitedReplies kept = replies;
        if (kept == null) {
            return;
        }
        int until = kept.held() == 0 ? count : firstFree(kept);
        if (until >= limit) {
            throw new IllegalStateException("there is no room for a request");
        }
        long request = BatchFormat.request(BatchFormat.CALL, NO_OPERATION, 0);
        while (count < until) {
            stage(at, request, 0);
            hash = BatchFormat.mix(hash, request, 0);
            at += BatchFormat.REQUEST_BYTES;
            leftOut[nextEntry()] = true;
            count++;
        }
        leftOut[nextEntry()] = false;
    }

    int count() {
        return count;
    }

    /** The owner's {@code count() == 0}, for any thread. */
    boolean isEmpty() {
        return (int) COUNT.getAcquire(this) == 0;
    }

    int slot() {
        return slot;
    }

    /** The offset in the staged ring at which its slot begins. */
    long start() {
        return RingShape.CONTROL_BYTES + (long) slot * slotBytes;
    }

    /** Length of the header and the requests so far. */
    int bytes() {
        return (int) (at - start());
    }

    /** Writes the header, after which the batch may be sent. */
    void seal(long sequence, int flags) {
        BatchFormat.header(out, start(), sequence, BatchFormat.summary(bytes(), count, flags), hash);
    }

    /** The first entry, if the batch has one. */
    int firstEntry() {
        return slot * batch;
    }

    /** The entry that the next request will have. */
    int nextEntry() {
        return slot * batch + count;
    }

    /** @see BatchConnection#addRead */
    int addRead(int region, long offset, int bytes, long local) {
        leaveOutKept();
        long place = at;
        long request = BatchFormat.request(BatchFormat.READ, region, bytes);
        stage(place, request, offset);
        hash = BatchFormat.mix(hash, request, offset);
        at = place + BatchFormat.REQUEST_BYTES;
        int entry = nextEntry();
        readBytes[entry] = bytes;
        locals[entry] = local;
        count++;
        return entry;
    }

    /** @see BatchConnection#addWrite(int, long, int, long) */
    int addWrite(int region, long offset, int bytes, long local) {
        int entry = beginWrite(region, offset, bytes);
        hash = PayloadCopier.fromMemory(local, outAddress + at, bytes, hash);
        return endWrite(entry, bytes);
    }

    /** @see BatchConnection#addWrite(int, long, MemorySegment) */
    int addWrite(int region, long offset, MemorySegment source) {
        int bytes = (int) source.byteSize();
        int padded = BatchFormat.padded(bytes);
        leaveOutKept();
        // Copied first: if the segment cannot be accessed, the batch must stay as it is.
        MemorySegment.copy(source, 0, out, at + BatchFormat.REQUEST_BYTES, bytes);
        MappedFaults.raise(source);
        for (int i = bytes; i < padded; i++) {
            out.set(JAVA_BYTE, at + BatchFormat.REQUEST_BYTES + i, (byte) 0);
        }
        int entry = beginWrite(region, offset, bytes);
        hash = PayloadCopier.hash(outAddress + at, bytes, hash);
        return endWrite(entry, bytes);
    }

    /** @see BatchConnection#addCall */
    int addCall(int operation, long local, int bytes, long replyLocal, int replyBytes) {
        leaveOutKept();
        long request = BatchFormat.request(BatchFormat.CALL, operation, bytes);
        stage(at, request, replyBytes);
        hash = PayloadCopier.fromMemory(
                local, outAddress + at + BatchFormat.REQUEST_BYTES, bytes, BatchFormat.mix(hash, request, replyBytes));
        at += BatchFormat.REQUEST_BYTES + BatchFormat.padded(bytes);
        int entry = nextEntry();
        readBytes[entry] = BatchEntries.CALL - replyBytes;
        locals[entry] = replyLocal;
        count++;
        return entry;
    }

    /** @see BatchConnection#addAll */
    int addAll(boolean write, int[] which, int from, int wanted, int[] region, long[] offset, int bytes, long local) {
        int operation = write ? BatchFormat.WRITE : BatchFormat.READ;
        leaveOutKept();
        int added = Math.min(wanted, Math.min(limit, nextKept()) - count);
        int entry = nextEntry();
        if (replies != null) {
            Arrays.fill(leftOut, entry, entry + added, false);
        }
        long to = outAddress + at;
        long mixed = hash;
        for (int i = from; i < from + added; i++, entry++) {
            long request = BatchFormat.request(operation, region[i], bytes);
            long place = local + (long) which[i] * bytes;
            NativeMemory.ALL.set(JAVA_LONG_UNALIGNED, to, request);
            NativeMemory.ALL.set(JAVA_LONG_UNALIGNED, to + Long.BYTES, offset[i]);
            mixed = BatchFormat.mix(mixed, request, offset[i]);
            to += BatchFormat.REQUEST_BYTES;
            if (write) {
                mixed = PayloadCopier.fromMemory(place, to, bytes, mixed);
                to += BatchFormat.padded(bytes);
                readBytes[entry] = 0;
            } else {
                readBytes[entry] = bytes;
                locals[entry] = place;
            }
        }
        at = to - outAddress;
        hash = mixed;
        count += added;
        return added;
    }

    /** The index of the next entry that an earlier call keeps, or the number of entries. */
    private int nextKept() {
        int index = count;
        if (replies == null || replies.held() == 0) {
            return batch;
        }
        while (index < batch && !replies.later[slot * batch + index]) {
            index++;
        }
        return index;
    }

    /**
     * Stages a request's two words. If the count is below the limit, the memory is there: one check for both words,
     * without the segment's own.
     */
    private void stage(long place, long request, long offset) {
        if (count >= limit) {
            throw new IllegalStateException("there is no room for a request");
        }
        NativeMemory.ALL.set(JAVA_LONG_UNALIGNED, outAddress + place, request);
        NativeMemory.ALL.set(JAVA_LONG_UNALIGNED, outAddress + place + Long.BYTES, offset);
    }

    private int beginWrite(int region, long offset, int bytes) {
        leaveOutKept();
        long place = at;
        long request = BatchFormat.request(BatchFormat.WRITE, region, bytes);
        stage(place, request, offset);
        hash = BatchFormat.mix(hash, request, offset);
        at = place + BatchFormat.REQUEST_BYTES;
        return nextEntry();
    }

    private int endWrite(int entry, int bytes) {
        readBytes[entry] = 0;
        at += BatchFormat.padded(bytes);
        count++;
        return entry;
    }
}
