package io.farheap.memory;

import java.lang.foreign.MemorySegment;

/**
 * Faults of accesses to a mapped file that has been truncated. The JVM reports such a fault as an
 * {@link InternalError}; if compiled code made the access, it throws only at a later safepoint, when execution may have
 * left the try block. Any thread may call.
 */
public final class MappedFaults {

    private static final Object LOCK = new Object();

    private MappedFaults() {}

    /**
     * Throws the pending fault of this thread's accesses to some memory, if there is one. Call it inside the try block
     * that handles the fault, before anything relies on the copied bytes.
     *
     * @throws InternalError if the memory's file has been truncated
     */
    public static void raise(MemorySegment memory) {
        // holdsLock is a native method: on the return from it the JVM throws a pending error.
        if (memory.isMapped() && Thread.holdsLock(LOCK)) {
            throw new AssertionError("a lock that no thread takes is held");
        }
    }
}
