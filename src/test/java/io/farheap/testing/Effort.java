package io.farheap.testing;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How much tests do. The property {@code farheap.effort} says it: {@code short}, without it too, as much as each claim
 * needs; {@code full} many times that, with what carries the tag {@code full}; {@code guest} what an emulated processor
 * can bear.
 */
public final class Effort {

    private static final String PROPERTY = "farheap.effort";
    private static final int PART_OF_SHORT = 5;
    private static final int PART_OF_GUEST = 20;
    private static final int SEEDS_OF_GUEST = 2;

    private enum Level {
        SHORT,
        FULL,
        GUEST;

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private Effort() {}

    private static Level level() {
        String value = System.getProperty(PROPERTY, Level.SHORT.text());
        return Arrays.stream(Level.values())
                .filter(level -> level.text().equals(value))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no " + PROPERTY + " " + value + "; there are "
                        + Arrays.stream(Level.values()).map(Level::text).collect(Collectors.joining(", "))));
    }

    public static boolean isFull() {
        return level() == Level.FULL;
    }

    /**
     * How often something is done that differs each time by what is drawn.
     *
     * @param full what is enough for a night
     */
    public static int count(int full) {
        return switch (level()) {
            case SHORT -> Math.max(1, full / PART_OF_SHORT);
            case FULL -> full;
            case GUEST -> Math.max(1, full / PART_OF_GUEST);
        };
    }

    /** How many seeds of a test that has one each time it runs. */
    public static int seeds(int full) {
        return switch (level()) {
            case SHORT -> 1;
            case FULL -> full;
            case GUEST -> Math.min(SEEDS_OF_GUEST, full);
        };
    }

    /** How long a fuzzer tries. */
    public static int fuzzSeconds() {
        return isFull() ? 60 : 2;
    }

    /** One number where all is done, and another where not. */
    public static int either(int few, int full) {
        return isFull() ? full : few;
    }

    /** Variants of one claim: all, or a few, which are the first. */
    @SafeVarargs
    public static <T> Stream<T> variants(int few, T... all) {
        return Arrays.stream(all).limit(either(few, all.length));
    }

    /** As {@link #either}, unless whoever runs it asks by a property for another number. */
    public static int asked(String property, int few, int full) {
        return Integer.getInteger(property, either(few, full));
    }
}
