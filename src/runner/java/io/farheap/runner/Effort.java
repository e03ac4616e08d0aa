package io.farheap.runner;

import java.util.Arrays;
import java.util.Locale;

/** How much of each test runs: the values of the property {@code farheap.effort}, which tests read. */
enum Effort {
    SHORT,
    FULL,
    GUEST;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** @throws IllegalArgumentException with the names that exist */
    static Effort named(String name) {
        return Arrays.stream(values())
                .filter(effort -> effort.toString().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "there is no effort " + name + "; there are short, full and guest"));
    }
}
