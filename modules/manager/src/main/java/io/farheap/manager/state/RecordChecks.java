package io.farheap.manager.state;

import io.farheap.manager.Tenant;

/** Checks of the values of records. */
final class RecordChecks {

    private RecordChecks() {}

    static void notBlank(String what, String value) {
        if (value.isBlank()) {
            throw new IllegalArgumentException(what + " is blank, and must not be");
        }
    }

    static void tenant(String name) {
        if (!Tenant.name(name).equals(name)) {
            throw new IllegalArgumentException("a tenant has no name");
        }
    }

    static void atLeast(String what, long value, long least) {
        if (value < least) {
            throw new IllegalArgumentException(what + " is " + value + ", and must be " + least + " or more");
        }
    }
}
