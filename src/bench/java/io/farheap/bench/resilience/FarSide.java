package io.farheap.bench.resilience;

import io.farheap.resilience.Health;
import org.jspecify.annotations.Nullable;

/** Far memory of one kind, on servers that others have started. */
interface FarSide extends AutoCloseable {

    FarClient open();

    /** Bytes of servers for each byte that can be used. */
    double memoryOverhead();

    /** Null where nobody keeps it. Any thread. */
    @Nullable
    Health health();

    @Override
    void close();
}
