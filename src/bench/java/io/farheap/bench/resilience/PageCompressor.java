package io.farheap.bench.resilience;

import java.lang.foreign.MemorySegment;

/** Compresses and decompresses pages, in memory off the heap. One thread. */
public interface PageCompressor extends AutoCloseable {

    /**
     * Compresses a page.
     *
     * @return bytes of the result in {@code to}, or -1 if it has no room for them
     */
    int compress(MemorySegment page, MemorySegment to);

    /**
     * Decompresses a page.
     *
     * @param from what was compressed, and nothing else
     * @return whether the page is complete; false if the bytes are none that {@link #compress} makes of a page
     */
    boolean decompress(MemorySegment from, MemorySegment page);

    @Override
    void close();
}
