package io.farheap.bench.resilience;

import io.farheap.lifetime.CloseStack;
import io.farheap.resilience.contract.Health;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Far memory of one kind, on servers that are running. */
interface FarSide extends AutoCloseable {

    FarMemoryClient open();

    /**
     * Opens clients of one thread that make requests at the same time, each one request, and that share a session if
     * the kind supports that. The caller closes the stack, and not each client.
     */
    default List<FarMemoryClient> openLanes(int count, CloseStack opened) {
        List<FarMemoryClient> lanes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            lanes.add(opened.add(open()));
        }
        return lanes;
    }

    /** Returns the bytes on servers for each usable byte. */
    double memoryOverhead();

    /** Returns the bytes of this process that it has beside its clients' buffers of a page. */
    default long localBytes() {
        return 0;
    }

    /** Returns null if the kind does not keep its health. Any thread. */
    @Nullable
    Health health();

    @Override
    void close();
}
