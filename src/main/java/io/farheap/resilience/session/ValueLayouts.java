package io.farheap.resilience.session;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.ValueLayout;

/** The layouts with which memory is accessed. */
public final class ValueLayouts {

    static final ValueLayout.OfLong LONG = JAVA_LONG_UNALIGNED;
    public static final ValueLayout.OfByte BYTE = JAVA_BYTE;

    private ValueLayouts() {}
}
