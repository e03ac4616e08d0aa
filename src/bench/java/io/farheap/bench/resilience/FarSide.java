package io.farheap.bench.resilience;

import io.farheap.lifetime.CloseStack;
import io.farheap.resilience.contract.Health;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Far memory of one kind, on servers that others have started. */
interface FarSide extends AutoCloseable {

    FarMemoryClient open();

    /**
     * Clients of one thread that request at the same time, each one request, and that share a session where the kind
     * can. Whoever has opened them closes the stack, and not each of them.
     */
    default List<FarMemoryClient> openLanes(int count, CloseStack opened) {
        List<FarMemoryClient> lanes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            lanes.add(opened.add(open()));
        }
        return lanes;
    }

    /** Bytes of servers for each byte that can be used. */
    double memoryOverhead();

    /** Null where nobody keeps it. Any thread. */
    @Nullable
    Health health();

    @Override
    void close();
}
