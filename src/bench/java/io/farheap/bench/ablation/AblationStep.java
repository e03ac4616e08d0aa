package io.farheap.bench.ablation;

import io.farheap.cache.contract.CacheConfiguration;
import java.util.ArrayList;
import java.util.List;

/**
 * A way to issue requests; each step has one optimisation more than the one before.
 *
 * @param name of the optimisation that is added
 * @param by the thread that issues the requests
 * @param oneSided whether requests are one-sided; if not, each is a batch of one, which a server thread executes
 * @param configuration of the cache
 */
public record AblationStep(String name, Issuer by, boolean oneSided, CacheConfiguration configuration) {

    /** The thread that issues an application thread's requests. */
    public enum Issuer {
        /** A thread that takes them from a queue with a lock. */
        LOCKED_HAND_OVER,
        /** The same thread, which takes them from a ring without locks. */
        HAND_OVER,
        /** A client thread of the library's, which takes them from its rings. */
        LIBRARY,
        /** The application's thread itself. */
        ITSELF
    }

    private static final CacheConfiguration PLAIN =
            CacheConfiguration.DIRECT.withQueueDepth(1).withInlineBytes(0).withPinned(false);
    /** Batches of two at most: those of one are one-sided. */
    private static final CacheConfiguration TWO_SIDED = PLAIN.with(0, 1, 2, 1);

    /**
     * Returns Redy's steps, in the order of its figures 7 and 8; then the library's own client thread, and issue by the
     * application's thread, without any hand-over.
     *
     * @param queueDepth of the step of that name
     */
    public static List<AblationStep> all(int queueDepth) {
        CacheConfiguration pinned = PLAIN.withQueueDepth(queueDepth).withPinned(true);
        CacheConfiguration inline = pinned.withInlineBytes(CacheConfiguration.DIRECT.inlineBytes());
        List<AblationStep> steps = new ArrayList<>();
        steps.add(new AblationStep("baseline: locks", Issuer.LOCKED_HAND_OVER, false, TWO_SIDED));
        steps.add(new AblationStep("+ lock-free rings", Issuer.HAND_OVER, false, TWO_SIDED));
        steps.add(new AblationStep("+ one-sided", Issuer.HAND_OVER, true, PLAIN));
        steps.add(new AblationStep(
                "+ queue depth " + queueDepth, Issuer.HAND_OVER, true, PLAIN.withQueueDepth(queueDepth)));
        steps.add(new AblationStep("+ pinned threads", Issuer.HAND_OVER, true, pinned));
        steps.add(new AblationStep("+ inline", Issuer.HAND_OVER, true, inline));
        steps.add(new AblationStep("the library's", Issuer.LIBRARY, true, inline.with(1, 0, 1, queueDepth)));
        steps.add(new AblationStep("no hand-over", Issuer.ITSELF, true, inline));
        return steps;
    }
}
