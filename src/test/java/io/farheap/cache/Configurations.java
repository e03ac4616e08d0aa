package io.farheap.cache;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.resilience.contract.Resilience;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import java.util.Arrays;
import java.util.stream.Stream;

/** The ways in which requests travel; tests of their common behaviour run with each of them. */
public final class Configurations {

    public static final CacheConfiguration DIRECT = CacheConfiguration.DIRECT.withQueueDepth(8);
    static final CacheConfiguration BATCHED = CacheConfiguration.DIRECT.with(0, 1, 16, 4);

    static final CacheConfiguration HANDED_OVER = CacheConfiguration.DIRECT.with(1, 0, 1, 8);
    static final CacheConfiguration HANDED_OVER_BATCHED = CacheConfiguration.DIRECT.with(2, 1, 16, 4);

    private Configurations() {}

    /** The ways in which a session's thread processes its requests, so that a test determines each step's time. */
    static Stream<CacheConfiguration> ownThread() {
        return Effort.variants(1, DIRECT, BATCHED);
    }

    public static Stream<CacheConfiguration> all() {
        return Stream.of(DIRECT, BATCHED, HANDED_OVER, HANDED_OVER_BATCHED);
    }

    /** All ways; in a short run the simplest, and the one that includes all others. */
    static Stream<CacheConfiguration> some() {
        return Effort.variants(2, DIRECT, HANDED_OVER_BATCHED, BATCHED, HANDED_OVER);
    }

    /** All ways; in a short run the one that includes all others. */
    static Stream<CacheConfiguration> one() {
        return Effort.variants(1, HANDED_OVER_BATCHED, DIRECT, BATCHED, HANDED_OVER);
    }

    /**
     * The ways with which histories begin, which change between all ways later. If many histories are asked for, they
     * begin with each way; in a short run on a device of weak order, with the way whose operations such a device
     * reorders.
     */
    public static Stream<CacheConfiguration> begunWith() {
        if (Long.getLong("farheap.histories") != null) {
            return all();
        }
        boolean weak = String.valueOf(System.getenv("SOFTVERBS")).contains("order=weak");
        return weak ? Effort.variants(1, DIRECT, HANDED_OVER_BATCHED, BATCHED, HANDED_OVER) : one();
    }

    /**
     * Reconfigures a cache whose sessions are polled by other threads. How long these threads do not poll depends on
     * the machine, as every time limit of the tests does.
     */
    public static void change(Cache cache, CacheConfiguration to) {
        for (long left = TestDevice.patience(1); ; left--) {
            try {
                cache.reconfigure(to);
                return;
            } catch (CacheException e) {
                if (!String.valueOf(e.getMessage()).startsWith("a session has had requests pending")) {
                    throw e;
                }
                if (left <= 1) {
                    throw new CacheException(e.getMessage() + "; " + whereThreadsAre(), e);
                }
            }
        }
    }

    /** @return the innermost frames of each thread that runs this project's code, to show why a test hangs */
    private static String whereThreadsAre() {
        StringBuilder text = new StringBuilder();
        Thread.getAllStackTraces().forEach((thread, stack) -> {
            if (Arrays.stream(stack).anyMatch(frame -> frame.getClassName().startsWith("io.farheap"))) {
                text.append(thread.getName()).append(' ').append(thread.getState());
                Arrays.stream(stack).limit(6).forEach(frame -> text.append(" < ")
                        .append(frame.getFileName())
                        .append(':')
                        .append(frame.getLineNumber()));
                text.append("; ");
            }
        });
        return text.toString();
    }

    /** The configuration and the resilience with which a cache is created. */
    record Way(CacheConfiguration configuration, Resilience resilience) {

        boolean coded() {
            return resilience != null;
        }

        CacheBuilder builder() {
            CacheBuilder builder = Cache.builder().configuration(configuration);
            return coded() ? builder.resilience(resilience) : builder;
        }

        @Override
        public String toString() {
            return coded() ? resilience.toString() : configuration.toString();
        }
    }

    /** All ways without codes and one with a code, for caches on three servers. */
    static Stream<Way> allAndOneCoded() {
        return Stream.concat(uncoded(all()), coded().limit(1));
    }

    /** Ways without and with codes, for caches on three servers. In a short run one code stands for the others. */
    static Stream<Way> someAndCoded() {
        return Stream.concat(uncoded(some()), coded().limit(Effort.either(1, 5)));
    }

    /** The same, but in a short run without codes: tests of coded caches check the same of their sessions. */
    static Stream<Way> someAndCodedInFull() {
        return Effort.isFull() ? someAndCoded() : uncoded(some());
    }

    private static Stream<Way> uncoded(Stream<CacheConfiguration> configurations) {
        return configurations.map(configuration -> new Way(configuration, null));
    }

    private static Stream<Way> coded() {
        return Stream.concat(
                Stream.of(
                                Resilience.failureRecovery(2, 1),
                                Resilience.ecOnly(2, 1),
                                Resilience.corruptionDetection(2, 1),
                                Resilience.copies(2))
                        .map(how -> new Way(DIRECT, how)),
                Stream.of(new Way(HANDED_OVER, Resilience.failureRecovery(2, 1))));
    }
}
