package io.farheap.resilience;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.ValueLayout;

/** How memory is read. */
final class Layouts {

    static final ValueLayout.OfLong LONG = JAVA_LONG_UNALIGNED;
    static final ValueLayout.OfByte BYTE = JAVA_BYTE;

    private Layouts() {}
}
