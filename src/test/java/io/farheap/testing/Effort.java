package io.farheap.testing;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The amount of work that tests do, by the property {@code farheap.effort}: {@code short}, which is the default, as
 * much as each claim needs; {@code full} many times that, and the tests with the tag {@code full}; {@code guest} as
 * much as an emulated processor can bear.
 */
public enum Effort {
    SHORT(5),
    FULL(1),
    GUEST(20);

    private static final String PROPERTY = "farheap.effort";
    private static final int SEEDS_OF_GUEST = 2;

    private final int part;

    Effort(int part) {
        this.part = part;
    }

    /** @throws IllegalArgumentException if there is none of that name */
    static Effort named(String name) {
        return Stream.of(values())
                .filter(effort -> effort.text().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no " + PROPERTY + " " + name + "; there are "
                        + Stream.of(values()).map(Effort::text).collect(Collectors.joining(", "))));
    }

    private String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    private static Effort chosen() {
        return named(System.getProperty(PROPERTY, SHORT.text()));
    }

    int countOf(int full) {
        return Math.max(1, full / part);
    }

    int seedsOf(int full) {
        return switch (this) {
            case SHORT -> 1;
            case FULL -> full;
            case GUEST -> Math.min(SEEDS_OF_GUEST, full);
        };
    }

    int eitherOf(int few, int full) {
        return this == FULL ? full : few;
    }

    /**
     * The number of repetitions of a step that differs each time by random choices.
     *
     * @param full the number that is enough for a night
     */
    public static int count(int full) {
        return chosen().countOf(full);
    }

    /** The number of seeds of a test that takes one seed for each run. */
    public static int seeds(int full) {
        return chosen().seedsOf(full);
    }

    /** How long a fuzzer tries. */
    public static int fuzzSeconds() {
        return either(2, 60);
    }

    public static boolean isFull() {
        return chosen() == FULL;
    }

    /** One number for the full form, and another for the others. */
    public static int either(int few, int full) {
        return chosen().eitherOf(few, full);
    }

    /** As {@link #either}, unless a property gives another number. */
    public static int asked(String property, int few, int full) {
        return Integer.getInteger(property, either(few, full));
    }

    /** Variants of one claim: all, or in short a few, which are the first. */
    @SafeVarargs
    @SuppressWarnings("varargs")
    public static <T> Stream<T> variants(int few, T... all) {
        return Arrays.stream(all).limit(chosen() == SHORT ? few : all.length);
    }
}
