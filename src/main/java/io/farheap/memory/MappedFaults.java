package io.farheap.memory;

import java.lang.foreign.MemorySegment;

/**
 * Faults of accesses to a mapped file that has become shorter. The JVM reports one with an {@link InternalError}: of
 * compiled code not where the access is, but at some later safepoint, when the code that would catch it has been left.
 * Any thread.
 */
public final class MappedFaults {

    private static final Object LOCK = new Object();

    private MappedFaults() {}

    /**
     * Throws what is still to be thrown of this thread's accesses to some memory: to be called where that is caught,
     * before anything relies on what was copied.
     *
     * @throws InternalError where its file has been cut
     */
    public static void raise(MemorySegment memory) {
        // A native method of the JVM's: on the way back from it all that is pending is thrown.
        if (memory.isMapped() && Thread.holdsLock(LOCK)) {
            throw new AssertionError("a lock that nobody takes is held");
        }
    }
}
