package io.farheap.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.verbs.binding.ibv_send_wr;
import io.farheap.verbs.binding.ibv_sge;
import io.farheap.verbs.binding.ibverbs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.Objects;
import org.bytedeco.javacpp.Loader;

/**
 * Work requests that are built once, off-heap, and posted many times: a post changes a few words. Each has one
 * scatter/gather entry, and its index as {@code wr_id} unless {@link #id} sets another. One thread at a time. Nothing
 * here allocates after construction.
 */
public final class SendRequests implements AutoCloseable {

    public static final int WRITE = ibverbs.IBV_WR_RDMA_WRITE;
    public static final int READ = ibverbs.IBV_WR_RDMA_READ;
    /** A WRITE that also completes a receive of the peer; the immediate is 0. */
    public static final int WRITE_WITH_IMMEDIATE = ibverbs.IBV_WR_RDMA_WRITE_WITH_IMM;

    public static final int COMPARE_AND_SWAP = ibverbs.IBV_WR_ATOMIC_CMP_AND_SWP;
    public static final int FETCH_AND_ADD = ibverbs.IBV_WR_ATOMIC_FETCH_AND_ADD;

    public static final int SIGNALED = ibverbs.IBV_SEND_SIGNALED;
    public static final int FENCE = ibverbs.IBV_SEND_FENCE;
    public static final int INLINE = ibverbs.IBV_SEND_INLINE;

    private static final long WR_ID = offset("wr_id");
    private static final long NEXT = offset("next");
    private static final long SG_LIST = offset("sg_list");
    private static final long NUM_SGE = offset("num_sge");
    private static final long OPCODE = offset("opcode");
    private static final long SEND_FLAGS = offset("send_flags");
    private static final long REMOTE_ADDRESS = offset("wr.rdma.remote_addr");
    private static final long REMOTE_KEY = offset("wr.rdma.rkey");
    private static final long ATOMIC_REMOTE_ADDRESS = offset("wr.atomic.remote_addr");
    private static final long ATOMIC_COMPARE_ADD = offset("wr.atomic.compare_add");
    private static final long ATOMIC_SWAP = offset("wr.atomic.swap");
    private static final long ATOMIC_REMOTE_KEY = offset("wr.atomic.rkey");

    private static final long SGE_ADDRESS = Loader.offsetof(ibv_sge.class, "addr");
    private static final long SGE_LENGTH = Loader.offsetof(ibv_sge.class, "length");

    static {
        // One 8-byte store sets two fields.
        if (Loader.offsetof(ibv_sge.class, "lkey") != SGE_LENGTH + Integer.BYTES
                || SEND_FLAGS != OPCODE + Integer.BYTES
                || ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
            throw new UnsupportedOperationException(
                    "ibv_send_wr or ibv_sge is laid out in another way than Farheap was written for");
        }
    }

    // A request and its scatter/gather entry share cache lines of their own.
    private static final long CACHE_LINE = 64;
    private static final long SGE = Loader.sizeof(ibv_send_wr.class);
    private static final long STRIDE = (SGE + Loader.sizeof(ibv_sge.class) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;

    /**
     * All memory: accesses through a segment of its own would check at every store that it is open. The index is
     * checked instead, against {@link #count}.
     */
    private static final MemorySegment MEMORY = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private final Arena arena = Arena.ofShared();
    private final long address;
    /** 0 once closed, so that no index is valid any more. */
    private int count;

    /** @param count the number of requests */
    public SendRequests(int count) {
        this.count = count;
        this.address = arena.allocate(STRIDE * count, CACHE_LINE).address();
        for (int i = 0; i < count; i++) {
            long at = address(i);
            MEMORY.set(JAVA_LONG_UNALIGNED, at + WR_ID, i);
            MEMORY.set(JAVA_LONG_UNALIGNED, at + SG_LIST, address(i) + SGE);
            MEMORY.set(JAVA_INT_UNALIGNED, at + NUM_SGE, 1);
        }
    }

    private static long offset(String member) {
        return Loader.offsetof(ibv_send_wr.class, member);
    }

    public int count() {
        return count;
    }

    /**
     * Prepares a READ or WRITE as the last request of its list.
     *
     * @param opcode {@link #READ}, {@link #WRITE} or {@link #WRITE_WITH_IMMEDIATE}
     * @param flags {@link #SIGNALED}, {@link #FENCE}, {@link #INLINE}, or-ed
     */
    public void prepare(
            int index,
            int opcode,
            int flags,
            long localAddress,
            int bytes,
            int localKey,
            long remoteAddress,
            int remoteKey) {
        MEMORY.set(JAVA_LONG_UNALIGNED, address(index) + NEXT, 0L);
        aim(index, opcode, flags, localAddress, bytes, localKey, remoteAddress, remoteKey);
    }

    /**
     * Prepares an atomic on 8 bytes as the last request of its list; the old value is written to {@code localAddress}.
     *
     * @param opcode {@link #COMPARE_AND_SWAP} or {@link #FETCH_AND_ADD}
     * @param compareOrAdd the value to compare with, or to add
     * @param swap the value to store if the comparison succeeds; unused by FETCH_AND_ADD
     */
    public void prepareAtomic(
            int index,
            int opcode,
            int flags,
            long localAddress,
            int localKey,
            long remoteAddress,
            int remoteKey,
            long compareOrAdd,
            long swap) {
        MEMORY.set(JAVA_LONG_UNALIGNED, address(index) + NEXT, 0L);
        aimAtomic(index, opcode, flags, localAddress, localKey, remoteAddress, remoteKey, compareOrAdd, swap);
    }

    /** As {@link #prepareAtomic}, without changing the request's link to the next one. */
    public void aimAtomic(
            int index,
            int opcode,
            int flags,
            long localAddress,
            int localKey,
            long remoteAddress,
            int remoteKey,
            long compareOrAdd,
            long swap) {
        long at = address(index);
        MEMORY.set(JAVA_INT_UNALIGNED, at + OPCODE, opcode);
        MEMORY.set(JAVA_INT_UNALIGNED, at + SEND_FLAGS, flags);
        MEMORY.set(JAVA_LONG_UNALIGNED, at + ATOMIC_REMOTE_ADDRESS, remoteAddress);
        MEMORY.set(JAVA_LONG_UNALIGNED, at + ATOMIC_COMPARE_ADD, compareOrAdd);
        MEMORY.set(JAVA_LONG_UNALIGNED, at + ATOMIC_SWAP, swap);
        MEMORY.set(JAVA_INT_UNALIGNED, at + ATOMIC_REMOTE_KEY, remoteKey);
        MEMORY.set(JAVA_LONG_UNALIGNED, at + SGE + SGE_ADDRESS, localAddress);
        MEMORY.set(JAVA_LONG_UNALIGNED, at + SGE + SGE_LENGTH, lengthAndKey(Long.BYTES, localKey));
    }

    /** As {@link #prepare}, without changing the request's link to the next one. */
    public void aim(
            int index,
            int opcode,
            int flags,
            long localAddress,
            int bytes,
            int localKey,
            long remoteAddress,
            int remoteKey) {
        long at = address(index);
        // The stores are not in a method of their own: on a session's path they are 15 calls deep, the most that C2
        // inlines.
        MEMORY.set(JAVA_LONG_UNALIGNED, at + OPCODE, opcode | (long) flags << Integer.SIZE);
        MEMORY.set(JAVA_LONG_UNALIGNED, at + REMOTE_ADDRESS, remoteAddress);
        MEMORY.set(JAVA_INT_UNALIGNED, at + REMOTE_KEY, remoteKey);
        MEMORY.set(JAVA_LONG_UNALIGNED, at + SGE + SGE_ADDRESS, localAddress);
        MEMORY.set(JAVA_LONG_UNALIGNED, at + SGE + SGE_LENGTH, lengthAndKey(bytes, localKey));
    }

    /** Makes a request the last of its list, with other flags. */
    public void end(int index, int flags) {
        long at = address(index);
        MEMORY.set(JAVA_LONG_UNALIGNED, at + NEXT, 0L);
        MEMORY.set(JAVA_INT_UNALIGNED, at + SEND_FLAGS, flags);
    }

    /** Makes {@code next} follow {@code index} in one list, posted by one call. */
    public void link(int index, int next) {
        MEMORY.set(JAVA_LONG_UNALIGNED, address(index) + NEXT, address(next));
    }

    /** The index of the request at an address, which a post reported as the one that the device refused. */
    int indexOf(long requestAddress) {
        return (int) ((requestAddress - address) / STRIDE);
    }

    /** Sets the id of a request's completion. */
    public void id(int index, long id) {
        MEMORY.set(JAVA_LONG_UNALIGNED, address(index) + WR_ID, id);
    }

    /** The lkey that a request was prepared with. */
    public int localKey(int index) {
        return (int) (MEMORY.get(JAVA_LONG_UNALIGNED, address(index) + SGE + SGE_LENGTH) >>> Integer.SIZE);
    }

    /** The rkey that a request was prepared with. */
    public int remoteKey(int index) {
        long at = address(index);
        return MEMORY.get(JAVA_INT_UNALIGNED, at + (atomic(at) ? ATOMIC_REMOTE_KEY : REMOTE_KEY));
    }

    /** The remote address that a request was prepared with. */
    public long remoteAddress(int index) {
        long at = address(index);
        return MEMORY.get(JAVA_LONG_UNALIGNED, at + (atomic(at) ? ATOMIC_REMOTE_ADDRESS : REMOTE_ADDRESS));
    }

    /** How many bytes a prepared request reads from remote memory: 0 for a WRITE, 8 for an atomic. */
    public int bytesRead(int index) {
        long at = address(index);
        return MEMORY.get(JAVA_INT_UNALIGNED, at + OPCODE) == READ || atomic(at)
                ? MEMORY.get(JAVA_INT_UNALIGNED, at + SGE + SGE_LENGTH)
                : 0;
    }

    /** How many bytes a prepared request reads or writes. */
    public int bytes(int index) {
        return MEMORY.get(JAVA_INT_UNALIGNED, address(index) + SGE + SGE_LENGTH);
    }

    /** Whether a prepared request is a compare-and-swap or a fetch-and-add. */
    public boolean isAtomic(int index) {
        return atomic(address(index));
    }

    @Override
    public void close() {
        count = 0;
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }

    /** The distance between two requests, in bytes. */
    int stride() {
        return (int) STRIDE;
    }

    long address(int index) {
        return (address & NativePointers.ADDRESS_BITS) + Objects.checkIndex(index, count) * STRIDE;
    }

    private static boolean atomic(long at) {
        int opcode = MEMORY.get(JAVA_INT_UNALIGNED, at + OPCODE);
        return opcode == COMPARE_AND_SWAP || opcode == FETCH_AND_ADD;
    }

    private static long lengthAndKey(int bytes, int localKey) {
        return Integer.toUnsignedLong(bytes) | (long) localKey << Integer.SIZE;
    }
}
