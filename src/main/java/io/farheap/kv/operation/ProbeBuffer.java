package io.farheap.kv.operation;

import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.BlockFormat;
import io.farheap.memory.NativeMemory;
import io.farheap.remote.RegisteredBuffer;

/** Memory for a second block of a request, which is needed now and then; one request of a session uses it at a time. */
public final class ProbeBuffer {

    private final RegisteredBuffer memory;
    private final BlockChecksum checksum;
    private boolean taken;

    public ProbeBuffer(RegisteredBuffer memory, BlockChecksum checksum) {
        this.memory = memory;
        this.checksum = checksum;
    }

    boolean take() {
        if (taken) {
            return false;
        }
        taken = true;
        return true;
    }

    void give() {
        taken = false;
    }

    RegisteredBuffer memory() {
        return memory;
    }

    long address() {
        return memory.segment().address();
    }

    /** Whether the bytes that were read are the block that a word names. */
    boolean whole(long word) {
        return BlockFormat.isWhole(NativeMemory.ALL, address(), word, checksum);
    }
}
