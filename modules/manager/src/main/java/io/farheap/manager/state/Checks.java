package io.farheap.manager.state;

/** What records ask of their values. */
final class Checks {

    private Checks() {}

    static void notBlank(String what, String value) {
        if (value.isBlank()) {
            throw new IllegalArgumentException(what + " is blank, and must not be");
        }
    }

    static void atLeast(String what, long value, long least) {
        if (value < least) {
            throw new IllegalArgumentException(what + " is " + value + ", and must be " + least + " or more");
        }
    }
}
