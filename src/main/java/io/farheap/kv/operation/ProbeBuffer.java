package io.farheap.kv.operation;

import io.farheap.kv.format.BlockFormat;
import io.farheap.memory.NativeMemory;
import io.farheap.remote.RegisteredBuffer;

/** Memory for a second block of a request, which a session needs now and then; one request at a time has it. */
public final class ProbeBuffer {

    private final RegisteredBuffer memory;
    private boolean taken;

    public ProbeBuffer(RegisteredBuffer memory) {
        this.memory = memory;
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

    /** Whether what was read is the block that a word names. */
    boolean whole(long word) {
        return BlockFormat.isWhole(NativeMemory.ALL, address(), word);
    }
}
