package io.farheap.soak;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.thread.idle.Idle;
import java.util.SplittableRandom;

/** Ways for requests to travel: with client threads and without, one-sided and in batches. */
final class RandomConfigurations {

    private static final int MAX_CLIENT_THREADS = 2;
    private static final int MAX_BATCH_BITS = 8;
    private static final int MAX_DEPTH_BITS = 6;
    private static final int MAX_INLINE_BYTES = 256;

    private RandomConfigurations() {}

    static CacheConfiguration next(SplittableRandom random) {
        int clientThreads = random.nextInt(MAX_CLIENT_THREADS + 1);
        boolean batched = random.nextBoolean();
        return CacheConfiguration.DIRECT
                .with(
                        clientThreads,
                        batched ? 1 : 0,
                        batched ? 2 << random.nextInt(MAX_BATCH_BITS) : 1,
                        1 << random.nextInt(MAX_DEPTH_BITS + 1))
                .withInlineBytes(random.nextInt(MAX_INLINE_BYTES + 1))
                .withPinned(random.nextBoolean())
                .withIdle(random.nextBoolean() ? Idle.PARK : Idle.BACK_OFF);
    }
}
