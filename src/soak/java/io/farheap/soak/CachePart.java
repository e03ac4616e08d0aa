package io.farheap.soak;

import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A part of the cache, and what must be in it. */
interface CachePart {

    /** In the cache. */
    long address();

    int bytes();

    /** Whether one of the regions that it is in is such. */
    default boolean touches(long regionBytes, IntPredicate region) {
        return IntStream.rangeClosed((int) (address() / regionBytes), (int) ((address() + bytes() - 1) / regionBytes))
                .anyMatch(region);
    }

    /** Whether the server that had some of it was killed: nothing is known about it any more. */
    boolean lost();

    void lose();

    /** A request of some of it is about to be issued; the data of a write is chosen, unless the part has its own. */
    void issuing(SoakRequest request);

    /** The last request that was about to be issued was not taken on. */
    void refused(SoakRequest request);

    /**
     * @param done whether it ended well.
     * @return what is wrong with it, or null
     */
    @Nullable
    String finished(SoakRequest request, boolean done);

    /**
     * After a failure, when nothing of it is in flight: this is in it now.
     *
     * @return what is wrong with that, or null
     */
    @Nullable
    String settle(SoakRequest readOfAll);
}
