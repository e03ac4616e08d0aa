package io.farheap.runner;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The suites of {@code ./farheap test}, in the order in which they are printed.
 *
 * <p>Core-minutes are what the short form may take of a processor: the budget of the test command's issue, to which
 * later work adds its share. More is printed, and is no failure: no verdict rests on a clock.
 */
enum Suite {
    BUILD(9),
    SOURCES(1.5),
    NATIVE(4),
    LIBRARY(6),
    WEAK(1.5),
    MODULES(1.5),
    PROCESSES(6),
    BENCHMARKS(2.5),
    JCSTRESS(2),
    GUEST(5);

    private final double coreMinutes;

    Suite(double coreMinutes) {
        this.coreMinutes = coreMinutes;
    }

    double coreMinutes() {
        return coreMinutes;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** @throws IllegalArgumentException with the names that exist */
    static Suite named(String name) {
        return Arrays.stream(values())
                .filter(suite -> suite != BUILD && suite.toString().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no suite " + name + "; there are "
                        + Arrays.stream(values())
                                .filter(suite -> suite != BUILD)
                                .map(Suite::toString)
                                .collect(Collectors.joining(", "))));
    }
}
