package io.farheap.tier.handle;

import io.farheap.posix.AsymmetricFence;
import io.farheap.tier.device.AppendCompletion;
import io.farheap.tier.device.IoCompletion;
import io.farheap.tier.device.IoStatus;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a handle that have not ended, one slot each. The slots are allocated once, so that a request does not
 * allocate. Only the handle's thread uses them, except for {@link #uses}.
 */
public final class RequestSlots {

    public static final int APPEND = 1;
    public static final int READ = 2;
    public static final int SYNC = 3;

    private static final VarHandle MEMORY = MethodHandles.arrayElementVarHandle(OwnedMemory[].class);

    public final int[] kind;
    public final long[] address;
    public final long[] offset;
    public final long[] length;
    public final long[] token;
    public final int[] status;
    public final @Nullable AppendCompletion[] appends;
    public final @Nullable IoCompletion[] completions;
    private final @Nullable OwnedMemory[] memory;
    private final int[] free;
    private int freeCount;

    RequestSlots(int capacity) {
        kind = new int[capacity];
        address = new long[capacity];
        offset = new long[capacity];
        length = new long[capacity];
        token = new long[capacity];
        status = new int[capacity];
        appends = new AppendCompletion[capacity];
        completions = new IoCompletion[capacity];
        memory = new OwnedMemory[capacity];
        free = new int[capacity];
        for (int slot = capacity - 1; slot >= 0; slot--) {
            free[freeCount++] = slot;
        }
    }

    boolean full() {
        return freeCount == 0;
    }

    public int capacity() {
        return free.length;
    }

    int used() {
        return free.length - freeCount;
    }

    /**
     * Takes a free slot, of which there must be one.
     *
     * @throws IllegalStateException if the memory is closed
     */
    public int take(int what, long where, OwnedMemory used, long at, long bytes, long token) {
        int slot = free[freeCount - 1];
        // A thread that closes memory marks it closed, executes the heavy fence and then reads the slots (uses): so
        // either it sees this store, or the load below sees the mark.
        MEMORY.setOpaque(memory, slot, used);
        AsymmetricFence.light();
        if (used.closed()) {
            MEMORY.setOpaque(memory, slot, null);
            throw new IllegalStateException("the memory of the request is closed; register it again");
        }
        return fill(slot, what, where, at, bytes, token);
    }

    /** Takes a free slot for a request without memory. */
    public int take(int what, long token) {
        return fill(free[freeCount - 1], what, 0, 0, 0, token);
    }

    private int fill(int slot, int what, long where, long at, long bytes, long token) {
        freeCount--;
        kind[slot] = what;
        address[slot] = where;
        offset[slot] = at;
        length[slot] = bytes;
        this.token[slot] = token;
        status[slot] = IoStatus.OK;
        return slot;
    }

    public OwnedMemory memory(int slot) {
        OwnedMemory used = memory[slot];
        assert used != null;
        return used;
    }

    public void give(int slot) {
        appends[slot] = null;
        completions[slot] = null;
        MEMORY.setRelease(memory, slot, null);
        free[freeCount++] = slot;
    }

    /**
     * Whether a request uses memory. Any thread; the caller has marked the memory closed and executed the heavy fence.
     */
    boolean uses(OwnedMemory which) {
        for (int slot = 0; slot < memory.length; slot++) {
            if (MEMORY.getAcquire(memory, slot) == which) {
                return true;
            }
        }
        return false;
    }
}
