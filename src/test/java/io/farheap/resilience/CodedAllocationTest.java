package io.farheap.resilience;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import io.farheap.resilience.contract.CodedCompletion;
import io.farheap.resilience.contract.Resilience;
import io.farheap.testing.Effort;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests allocate nothing, in every mode. */
@Tag("optimised")
class CodedAllocationTest {

    private static final int ROUNDS = Effort.count(10_000);
    private static final int MEASUREMENTS = 8;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private int wrong;

    static List<Resilience> modes() {
        return List.of(
                Resilience.failureRecovery(4, 2),
                Resilience.copies(2),
                Resilience.ecOnly(4, 2),
                Resilience.corruptionDetection(4, 2),
                Resilience.corruptionCorrection(2, 3),
                Resilience.corruptionCorrection(4, 3));
    }

    @ParameterizedTest
    @MethodSource("modes")
    void noRequestAllocates(Resilience resilience) {
        try (CodedServers servers = new CodedServers(resilience.splits(), 1);
                CodedSpace space = servers.space(resilience, 4096);
                CodedSession session = space.openSession();
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(8192, 64);
            CodedCompletion completion = (token, status) -> wrong |= status;
            long least = Long.MAX_VALUE;
            for (int i = 0; i < MEASUREMENTS && least > 0; i++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int round = 0; round < ROUNDS; round++) {
                    session.write(0, memory, 0, 4096, completion, 1);
                    session.read(4096, memory, 4096, 4096, completion, 2);
                    session.write(4096 + 60, memory, 0, 64, completion, 3);
                    session.read(2000, memory, 4096, 64, completion, 4);
                    session.write(1000, memory, 0, 100, completion, 5);
                    session.read(1000, memory, 0, 100, completion, 6);
                    session.drain();
                }
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertEquals(0, wrong);
            assertEquals(0, least, "bytes in " + ROUNDS + " rounds");
        }
    }
}
